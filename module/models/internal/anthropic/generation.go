package anthropic

import (
	"regexp"
	"strconv"

	"github.com/writ-go/writ/module/internal/lm"
)

// Generation describes how requests to one generation of Claude differ from others.
type Generation struct {
	adaptive bool // the model decides how much it thinks, guided by an effort; older models take a budget
	Sampling bool // it accepts temperature and top_p
}

// version matches 4.5 in claude-opus-4-5-20251101 and 3.7 in claude-3-7-sonnet-latest.
var version = regexp.MustCompile(`claude(?:-[a-z]+)?-(\d{1,2})(?:[-.](\d{1,2}))?(?:\D|$)`)

// GenerationOf reads the version in the model's name. A name without a version is treated as a current model.
func GenerationOf(model string) Generation {
	m := version.FindStringSubmatch(model)
	if m == nil {
		return Generation{adaptive: true}
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	v := 100*major + minor
	return Generation{adaptive: v >= 406, Sampling: v < 407}
}

const minBudget = 1024

// budgets maps efforts to tokens, for models that take a number of tokens.
var budgets = map[string]int{
	"minimal": minBudget, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 32_768, "max": 32_768,
}

// Think returns the request's "thinking" and effort, and how many tokens to allow for thinking. Some current models
// always think; for adaptive models, the effort "none" is therefore sent as "low".
func (g Generation) Think(p lm.Params) (thinking object, effort string, tokens int) {
	if !g.adaptive {
		tokens = p.ThinkingTokens
		if tokens == 0 {
			tokens = budgets[p.Effort]
		}
		if tokens == 0 || p.Effort == "none" {
			return nil, "", 0
		}
		tokens = max(tokens, minBudget)
		return object{"type": "enabled", "budget_tokens": tokens}, "", tokens
	}
	switch p.Effort {
	case "none":
		return nil, "low", 0
	case "minimal":
		p.Effort = "low"
	case "":
		if p.ThinkingTokens == 0 {
			return nil, "", 0
		}
	}
	return object{"type": "adaptive", "display": "summarized"}, p.Effort, p.ThinkingTokens
}

package gemini

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/writ-go/writ/module/internal/lm"
)

// version matches 2.5 in gemini-2.5-flash and 3 in gemini-3-pro-preview.
var version = regexp.MustCompile(`gemini-(\d{1,2})(?:\.(\d{1,2}))?(?:\D|$)`)

// versionOf returns 205 for gemini-2.5-flash. A name without a version is treated as a current model.
func versionOf(model string) int {
	m := version.FindStringSubmatch(model)
	if m == nil {
		return 300
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return 100*major + minor
}

const (
	minBudget    = 512 // the least number of thinking tokens that every Gemini 2.5 model accepts
	minBudgetPro = 128 // the least number that the Pro model accepts; the others also accept 0
)

// budgets maps efforts to tokens, for models that take a number of tokens.
var budgets = map[string]int{
	"minimal": minBudget, "low": 1024, "medium": 8192, "high": 24_576, "xhigh": 24_576, "max": 24_576,
}

// think returns the request's thinkingConfig, or nil. Models from Gemini 3 on take a level, or a number of tokens
// without a level, and always think: the effort "none" is therefore sent as the lowest level that all of them have.
func think(model string, p lm.Params) object {
	v := versionOf(model)
	switch {
	case p.Effort == "" && p.ThinkingTokens == 0, v < 205: // older models do not think
		return nil
	case p.Effort == "none" && v < 300:
		if strings.Contains(model, "pro") {
			return object{"thinkingBudget": minBudgetPro}
		}
		return object{"thinkingBudget": 0}
	case p.Effort == "none":
		return object{"thinkingLevel": "LOW"}
	case p.ThinkingTokens > 0:
		return object{"thinkingBudget": p.ThinkingTokens, "includeThoughts": true}
	case v < 300:
		budget, ok := budgets[p.Effort]
		if !ok {
			return nil
		}
		return object{"thinkingBudget": budget, "includeThoughts": true}
	case p.Effort == "xhigh", p.Effort == "max":
		p.Effort = "high"
	}
	return object{"thinkingLevel": strings.ToUpper(p.Effort), "includeThoughts": true}
}

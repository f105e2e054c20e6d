package event

import (
	"fmt"
	"math"

	"github.com/writ-go/writ/internal/display"
)

// Usage counts what providers charge for, as far as they report it.
type Usage struct {
	Calls          int `json:"calls"`                     // model calls; retries by models.Retry do not count
	Hits           int `json:"hits,omitempty"`            // calls that a cache answered, at no cost
	InputTokens    int `json:"input_tokens"`              // including cached tokens
	CachedTokens   int `json:"cached_tokens,omitempty"`   // the part of the input that the provider had cached
	OutputTokens   int `json:"output_tokens"`             // including thinking tokens
	ThinkingTokens int `json:"thinking_tokens,omitempty"` // the part of the output that is thinking
}

// String returns the usage on one line.
func (u Usage) String() string {
	calls := display.Plural(u.Calls, "call")
	text := fmt.Sprintf("%s of the model, %d tokens in, %d out", calls, u.InputTokens, u.OutputTokens)
	if u.Hits > 0 {
		text += fmt.Sprintf(", %s answered by a cache", display.Plural(u.Hits, "call"))
	}
	return text
}

// Add returns the sum of both usages. A count that would overflow is math.MaxInt.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Calls: plus(u.Calls, o.Calls), Hits: plus(u.Hits, o.Hits),
		InputTokens: plus(u.InputTokens, o.InputTokens), CachedTokens: plus(u.CachedTokens, o.CachedTokens),
		OutputTokens: plus(u.OutputTokens, o.OutputTokens), ThinkingTokens: plus(u.ThinkingTokens, o.ThinkingTokens),
	}
}

// plus returns a + b, but at most math.MaxInt. It ignores a negative b.
func plus(a, b int) int {
	if b = max(b, 0); a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// ModelUsage is each model's usage, by name. The name is "" if the provider does not report it.
type ModelUsage map[string]Usage

// Total returns the usage of all models together.
func (m ModelUsage) Total() (sum Usage) {
	for _, u := range m {
		sum = sum.Add(u)
	}
	return sum
}

// Merge adds o to m.
func (m *ModelUsage) Merge(o ModelUsage) {
	for model, u := range o {
		if u == (Usage{}) {
			continue
		}
		if *m == nil {
			*m = ModelUsage{}
		}
		(*m)[model] = (*m)[model].Add(u)
	}
}

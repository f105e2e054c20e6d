package module

import (
	"fmt"
	"math"
)

// Usage counts what models charge for, as far as providers report it.
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
	text := fmt.Sprintf("%s of the model, %d tokens in, %d out", plural(u.Calls, "call"), u.InputTokens, u.OutputTokens)
	if u.Hits > 0 {
		text += fmt.Sprintf(", %s answered by a cache", plural(u.Hits, "call"))
	}
	return text
}

// ModelUsage is usage by the name of the model. The name is "" if the provider does not report it.
type ModelUsage map[string]Usage

// Total returns the usage of all models together.
func (m ModelUsage) Total() (sum Usage) {
	for _, u := range m {
		sum.add(u)
	}
	return sum
}

func (m *ModelUsage) merge(o ModelUsage) {
	for model, u := range o {
		m.add(model, u)
	}
}

func (m *ModelUsage) add(model string, u Usage) {
	if u == (Usage{}) {
		return
	}
	if *m == nil {
		*m = ModelUsage{}
	}
	u.add((*m)[model])
	(*m)[model] = u
}

// add adds o. Counts that providers report cannot make it overflow.
func (u *Usage) add(o Usage) { u.each(o, plus) }

// sub subtracts o, down to zero.
func (u *Usage) sub(o Usage) { u.each(o, func(a, b int) int { return max(a-b, 0) }) }

func (u *Usage) each(o Usage, f func(a, b int) int) {
	u.Calls = f(u.Calls, o.Calls)
	u.Hits = f(u.Hits, o.Hits)
	u.InputTokens = f(u.InputTokens, o.InputTokens)
	u.CachedTokens = f(u.CachedTokens, o.CachedTokens)
	u.OutputTokens = f(u.OutputTokens, o.OutputTokens)
	u.ThinkingTokens = f(u.ThinkingTokens, o.ThinkingTokens)
}

// plus adds two counts. The sum is at most math.MaxInt.
func plus(a, b int) int {
	if b = max(b, 0); a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

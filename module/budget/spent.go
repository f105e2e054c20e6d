package budget

import (
	"cmp"
	"fmt"
	"math"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

// Price is the price of a model per million tokens. Reasoning costs as much as other output.
type Price struct {
	Input  float64
	Output float64

	// CachedInput is the price of input that the provider reads from its own cache, and
	// CacheWrite is the price of input that it writes there. Zero means the price of Input.
	CachedInput, CacheWrite float64
}

func (p Price) of(u lm.Usage) float64 {
	plain := max(u.Input-u.CachedInput-u.CacheWrite, 0)
	return (float64(plain)*p.Input + float64(u.CachedInput)*cmp.Or(p.CachedInput, p.Input) +
		float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input) + float64(u.Output)*p.Output) / 1e6
}

// most returns the highest price that a call may have.
func (p Price) most(input, output int) float64 {
	return (float64(input)*max(p.Input, p.CachedInput, p.CacheWrite) + float64(output)*p.Output) / 1e6
}

// Spent is what was used of a [Budget].
type Spent struct {
	Steps           int     `json:"steps,omitempty"`      // steps of modules that called a model
	Calls           int     `json:"calls,omitempty"`      // model calls, including failed ones
	ToolCalls       int     `json:"tool_calls,omitempty"` // calls that reached a tool
	Cached          int     `json:"cached,omitempty"`     // replies from a cache, which are free and not in Calls
	InputTokens     int     `json:"input_tokens,omitempty"`
	OutputTokens    int     `json:"output_tokens,omitempty"`
	ReasoningTokens int     `json:"reasoning_tokens,omitempty"` // the part of OutputTokens that was reasoning
	Cost            float64 `json:"cost,omitempty"`             // in the currency of the prices
	Estimated       int     `json:"estimated,omitempty"`        // calls whose provider reports no tokens
	Unpriced        int     `json:"unpriced,omitempty"`         // calls of models without a price; not in Cost
}

// String returns a summary on one line.
func (s Spent) String() string {
	text := fmt.Sprintf("%s, %d input and %d output tokens",
		display.Plural(s.Calls, "call"), s.InputTokens, s.OutputTokens)
	for _, part := range []struct {
		show   bool
		format string
		n      any
	}{
		{s.ToolCalls > 0, ", %s", display.Plural(s.ToolCalls, "tool call")},
		{s.Cost > 0, ", a cost of %.4g", s.Cost},
		{s.Cost > 0 && s.Unpriced > 0, " without %s that have no price", display.Plural(s.Unpriced, "call")},
		{s.Cached > 0, ", %s answered by a cache", display.Plural(s.Cached, "call")},
		{s.Estimated > 0, ", the tokens of %s estimated", display.Plural(s.Estimated, "call")},
	} {
		if part.show {
			text += fmt.Sprintf(part.format, part.n)
		}
	}
	return text
}

// zip combines the numbers of a and b.
func zip(a, b Spent, f func(a, b float64) float64) Spent {
	n := func(a, b int) int { return int(f(float64(a), float64(b))) }
	return Spent{
		Steps: n(a.Steps, b.Steps), Calls: n(a.Calls, b.Calls), ToolCalls: n(a.ToolCalls, b.ToolCalls),
		Cached: n(a.Cached, b.Cached), InputTokens: n(a.InputTokens, b.InputTokens),
		OutputTokens: n(a.OutputTokens, b.OutputTokens), ReasoningTokens: n(a.ReasoningTokens, b.ReasoningTokens),
		Cost: f(a.Cost, b.Cost), Estimated: n(a.Estimated, b.Estimated), Unpriced: n(a.Unpriced, b.Unpriced),
	}
}

func (s Spent) plus(o Spent) Spent { return zip(s, o, func(a, b float64) float64 { return a + b }) }

func (s Spent) minus(o Spent) Spent { return zip(s, o, func(a, b float64) float64 { return a - b }) }

// beyond returns what s has more than o.
func (s Spent) beyond(o Spent) Spent {
	return zip(s, o, func(a, b float64) float64 { return max(a-b, 0) })
}

func (s Spent) max(o Spent) Spent { return zip(s, o, math.Max) }

func (s Spent) tokens() int { return s.InputTokens + s.OutputTokens }

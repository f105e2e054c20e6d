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
	Steps           int     `json:"steps,omitempty"`      // requests of modules, however many calls each took
	Calls           int     `json:"calls,omitempty"`      // model calls, including failed ones
	ToolCalls       int     `json:"tool_calls,omitempty"` // calls that reached a tool
	Cached          int     `json:"cached,omitempty"`     // replies from a cache, which are free and not in Calls
	InputTokens     int     `json:"input_tokens,omitempty"`
	OutputTokens    int     `json:"output_tokens,omitempty"`
	ReasoningTokens int     `json:"reasoning_tokens,omitempty"` // the part of OutputTokens that was reasoning
	Cost            float64 `json:"cost,omitempty"`             // in the currency of the prices
	Estimated       int     `json:"estimated,omitempty"`        // calls whose tokens the provider did not report
	Unpriced        int     `json:"unpriced,omitempty"`         // calls of models without a price; not in Cost
}

// String returns a summary on one line.
func (s Spent) String() string {
	text := fmt.Sprintf("%s, %d input and %d output tokens",
		display.Plural(s.Calls, "call"), s.InputTokens, s.OutputTokens)
	if s.ToolCalls > 0 {
		text += ", " + display.Plural(s.ToolCalls, "tool call")
	}
	if s.Cost > 0 {
		text += fmt.Sprintf(", a cost of %.4g", s.Cost)
	}
	if s.Cost > 0 && s.Unpriced > 0 {
		text += fmt.Sprintf(" without %s that have no price", display.Plural(s.Unpriced, "call"))
	}
	if s.Cached > 0 {
		text += fmt.Sprintf(", %s answered by a cache", display.Plural(s.Cached, "call"))
	}
	if s.Estimated > 0 {
		text += fmt.Sprintf(", the tokens of %s estimated", display.Plural(s.Estimated, "call"))
	}
	return text
}

// zip combines the numbers of s and o.
func (s Spent) zip(o Spent, f func(a, b float64) float64) Spent {
	n := func(a, b int) int { return int(f(float64(a), float64(b))) }
	return Spent{n(s.Steps, o.Steps), n(s.Calls, o.Calls), n(s.ToolCalls, o.ToolCalls), n(s.Cached, o.Cached),
		n(s.InputTokens, o.InputTokens), n(s.OutputTokens, o.OutputTokens), n(s.ReasoningTokens, o.ReasoningTokens),
		f(s.Cost, o.Cost), n(s.Estimated, o.Estimated), n(s.Unpriced, o.Unpriced)}
}

func (s Spent) plus(o Spent) Spent { return s.zip(o, func(a, b float64) float64 { return a + b }) }

func (s Spent) minus(o Spent) Spent { return s.zip(o, func(a, b float64) float64 { return a - b }) }

func (s Spent) max(o Spent) Spent { return s.zip(o, math.Max) }

func (s Spent) tokens() int { return s.InputTokens + s.OutputTokens }

package lm

import "github.com/tmc/langchaingo/llms"

// Usage is what one call cost in tokens, as far as the provider says.
type Usage struct {
	Input       int // all of the prompt, whether cached or not
	Output      int // all that was generated, also what was only thought
	Reasoning   int // the part of Output that was only thought
	CachedInput int // the part of Input that the provider had in its cache
	CacheWrite  int // the part of Input that it put there, where that is charged
}

// UsageOf is what a response says that it cost: nothing if a cache gave it.
func UsageOf(response *llms.ContentResponse) Usage { return merge(response, nil).Usage }

// max takes the larger of each, for choices that repeat the usage.
func (u Usage) max(o Usage) Usage {
	return Usage{
		Input: max(u.Input, o.Input), Output: max(u.Output, o.Output), Reasoning: max(u.Reasoning, o.Reasoning),
		CachedInput: max(u.CachedInput, o.CachedInput), CacheWrite: max(u.CacheWrite, o.CacheWrite),
	}
}

// usageOf reads the token counts under the names that providers give them.
func usageOf(info map[string]any) Usage {
	u := Usage{
		Input:       count(info, "PromptTokens", "InputTokens", "input_tokens"),
		Output:      count(info, "CompletionTokens", "OutputTokens", "output_tokens"),
		Reasoning:   count(info, "ReasoningTokens", "ThinkingTokens"),
		CachedInput: count(info, "PromptCachedTokens", "CacheReadInputTokens"),
		CacheWrite:  count(info, "CacheCreationInputTokens"),
	}
	if _, ok := info["PromptTokens"]; !ok { // anthropic counts only what is new as input
		u.Input += u.CachedInput + u.CacheWrite
	}
	// Some servers leave thoughts out of what was generated, but not of the total.
	if hidden := count(info, "TotalTokens") - u.Input - u.Output; hidden > 0 && u.Input > 0 {
		u.Output += hidden
		u.Reasoning = max(u.Reasoning, hidden)
	}
	return u
}

// maxCount is more than any model reads or writes at once.
const maxCount = 1 << 30

func bounded(n float64) int {
	if !(n > 0) { // also what is no number
		return 0
	}
	return int(min(n, maxCount))
}

func count(info map[string]any, names ...string) int {
	for _, name := range names {
		switch n := info[name].(type) {
		case int:
			return bounded(float64(n))
		case int32:
			return bounded(float64(n))
		case int64:
			return bounded(float64(n))
		case float64:
			return bounded(n)
		}
	}
	return 0
}

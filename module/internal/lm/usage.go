package lm

import "github.com/tmc/langchaingo/llms"

// Usage is the number of tokens of one call, as far as the provider reports them.
type Usage struct {
	Input       int // the whole prompt, including its cached part
	Output      int // everything generated, including reasoning
	Reasoning   int // the part of Output that was reasoning
	CachedInput int // the part of Input read from the provider's cache
	CacheWrite  int // the part of Input written to that cache, if writing is charged
}

// UsageOf returns the usage in a response, or zero if a cache answered.
func UsageOf(response *llms.ContentResponse) Usage { return merge(response, nil).Usage }

// max returns the larger of each count, for choices that repeat the usage.
func (u Usage) max(o Usage) Usage {
	return Usage{
		Input: max(u.Input, o.Input), Output: max(u.Output, o.Output), Reasoning: max(u.Reasoning, o.Reasoning),
		CachedInput: max(u.CachedInput, o.CachedInput), CacheWrite: max(u.CacheWrite, o.CacheWrite),
	}
}

// usageOf reads the token counts under the providers' names.
func usageOf(info map[string]any) Usage {
	u := Usage{
		Input:       count(info, "PromptTokens", "InputTokens", "input_tokens"),
		Output:      count(info, "CompletionTokens", "OutputTokens", "output_tokens"),
		Reasoning:   count(info, "ReasoningTokens", "ThinkingTokens"),
		CachedInput: count(info, "PromptCachedTokens", "CacheReadInputTokens"),
		CacheWrite:  count(info, "CacheCreationInputTokens"),
	}
	if _, ok := info["PromptTokens"]; !ok { // anthropic's input count excludes the cache
		u.Input += u.CachedInput + u.CacheWrite
	}
	// Some servers count reasoning only in the total.
	if hidden := count(info, "TotalTokens") - u.Input - u.Output; hidden > 0 && u.Input > 0 {
		u.Output += hidden
		u.Reasoning = max(u.Reasoning, hidden)
	}
	return u
}

// maxCount limits implausible counts.
const maxCount = 1 << 30

func bounded(n float64) int {
	if !(n > 0) { // or NaN
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

package lm

import (
	"cmp"
	"iter"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// Reply is a model's reply.
type Reply struct {
	Text      string
	Reasoning string // reasoning that the model returned separately
	Truncated bool   // truncated by the token limit or the connection
	Cached    bool   // from a cache; Usage is zero
	Usage     Usage

	ToolCalls  []llms.ToolCall
	Message    *Message // the reply as the provider wrote it; nil if not needed
	Model      string   // the model that answered; "" if unknown
	ID         string   // the provider's id of the reply; "" if unknown
	StopReason string   // why the reply ended, in the provider's words
	Failed     string   // the errors of the attempts before

	refusal  string // the stop reason, if it is a refusal
	ended    bool   // the provider gave a stop reason or tool calls
	streamed int    // the bytes that were streamed, also of a reply that broke off
}

// hasContent reports whether the response has a reply, even if its text is empty.
func (r Reply) hasContent() bool { return r.Text != "" || r.Reasoning != "" || r.Truncated || r.ended }

// Whole reports whether no choice was truncated or refused.
func (r Reply) Whole() bool { return !r.Truncated && r.refusal == "" }

// Merge converts a response to one reply.
func Merge(response *llms.ContentResponse) Reply { return merge(response, nil) }

// merge joins the choices, since some providers return one per block of content and repeat
// the usage in each. If several alternatives were requested, the first is the reply.
func merge(response *llms.ContentResponse, options []llms.CallOption) Reply {
	var reply Reply
	o := Options(options)
	first := true
	for c := range choices(response) {
		reply.Usage = reply.Usage.max(usageOf(c.GenerationInfo))
		if !first && (o.N > 1 || o.CandidateCount > 1) {
			continue
		}
		first = false
		text, thought := splitReasoning(c)
		reply.Text, reply.Reasoning = joinLines(reply.Text, text), joinLines(reply.Reasoning, thought)
		reply.Truncated = reply.Truncated || truncated(c)
		if refused(c.StopReason) {
			reply.refusal = c.StopReason
		}
		reply.ended = reply.ended || len(c.ToolCalls) > 0 || c.FuncCall != nil || c.StopReason != ""
		reply.describe(c)
	}
	if reply.Cached {
		reply.Usage = Usage{}
	}
	return reply
}

// describe copies the metadata of a choice.
func (r *Reply) describe(c *llms.ContentChoice) {
	for _, call := range c.ToolCalls {
		if call.FunctionCall == nil { // the caller treats it as a call to an unknown tool
			call.FunctionCall = &llms.FunctionCall{}
		}
		r.ToolCalls = append(r.ToolCalls, call)
	}
	r.StopReason = cmp.Or(c.StopReason, r.StopReason)
	if hit, _ := c.GenerationInfo[CachedKey].(bool); hit {
		r.Cached = true
	}
	if m, ok := c.GenerationInfo[MessageKey].(*Message); ok {
		r.Message = m
	}
	if model, ok := c.GenerationInfo[ModelKey].(string); ok {
		r.Model = model
	}
	if id, ok := c.GenerationInfo[IDKey].(string); ok {
		r.ID = id
	}
	if failed, ok := c.GenerationInfo[FailedKey].(string); ok {
		r.Failed = failed
	}
}

// choices returns the choices that are not nil.
func choices(response *llms.ContentResponse) iter.Seq[*llms.ContentChoice] {
	return func(yield func(*llms.ContentChoice) bool) {
		if response == nil {
			return
		}
		for _, c := range response.Choices {
			if c != nil && !yield(c) {
				return
			}
		}
	}
}

// joinLines joins two strings with a line break, unless one is empty.
func joinLines(above, text string) string {
	if above == "" || text == "" {
		return above + text
	}
	return above + "\n" + text
}

// splitReasoning returns the text and the reasoning of a choice. openai's provider has the reasoning
// in a field, anthropic's in the info, and others leave it in the text.
func splitReasoning(c *llms.ContentChoice) (text, reasoning string) {
	if thought, answer, ok := splitThought(c.Content, truncated(c)); ok {
		return answer, cmp.Or(c.ReasoningContent, thought)
	}
	if strings.Contains(c.Content, "<thinking>") {
		return c.Content, c.ReasoningContent // the info repeats the reasoning even if it is not at the start
	}
	thought, _ := c.GenerationInfo["ThinkingContent"].(string)
	return c.Content, cmp.Or(c.ReasoningContent, thought)
}

// truncated reports whether the stop reason is the token limit: openai, mistral and bedrock say length; anthropic,
// cohere and nova max_tokens; googleai FinishReasonMaxTokens. ollama does not report it.
func truncated(c *llms.ContentChoice) bool {
	switch plain(c.StopReason) {
	case "length", "modellength", "maxtokens", "maxoutputtokens", "finishreasonmaxtokens", "modelcontextwindowexceeded":
		return true
	case "":
		return cutStream(c)
	}
	return false
}

// cutStream reports whether a stream from langchaingo's openai provider was truncated: a complete one has a stop reason
// and, on most servers, token counts.
func cutStream(c *llms.ContentChoice) bool {
	_, openai := c.GenerationInfo["CompletionAcceptedPredictionTokens"]
	return openai && c.Content != "" && count(c.GenerationInfo, "TotalTokens") == 0
}

// refused reports whether the stop reason is a refusal or a content filter.
func refused(reason string) bool {
	switch strings.TrimPrefix(plain(reason), "finishreason") { // googleai's prefix
	case "contentfilter", "contentfiltered", "refusal", "safety", "guardrailintervened", "errortoxic",
		"prohibitedcontent", "blocklist", "spii", "recitation", "language", "imagesafety":
		return true
	}
	return false
}

func plain(reason string) string { return strings.ToLower(strings.ReplaceAll(reason, "_", "")) }

package lm

import (
	"cmp"
	"iter"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// Reply is what a model said.
type Reply struct {
	Text      string
	Reasoning string // what it thought, of models that keep that apart
	Truncated bool   // cut at the model's limit of tokens, or on the way
	Cached    bool   // from a cache: it cost nothing, and Usage is zero
	Usage     Usage

	ToolCalls  []llms.ToolCall
	Message    *Message // as the provider wrote it; nil of providers that don't say
	Model      string   // the model that answered; "" if the provider does not say
	ID         string   // the provider's id of the reply; "" if it has none
	StopReason string   // why the reply ended, in the provider's words
	Failed     string   // the errors of the models that a fallback asked before; "" if there were none

	refusal string // the reason to stop, if it is one
	ended   bool   // for a reason the provider gave, or to have a tool called
}

// said reports whether there was a reply, even an empty one.
func (r Reply) said() bool { return r.Text != "" || r.Reasoning != "" || r.Truncated || r.ended }

// Whole reports whether no choice was cut off or refused.
func (r Reply) Whole() bool { return !r.Truncated && r.refusal == "" }

// Merge makes one reply of a response.
func Merge(response *llms.ContentResponse) Reply { return merge(response, nil) }

// merge joins the choices: some providers return one for each block of content
// and repeat the usage in every one. Where several were asked for, they are
// alternatives, and the first is the reply.
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
		text, thought := apart(c)
		reply.Text, reply.Reasoning = below(reply.Text, text), below(reply.Reasoning, thought)
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

// describe takes over what a choice says about the reply.
func (r *Reply) describe(c *llms.ContentChoice) {
	for _, call := range c.ToolCalls {
		if call.FunctionCall == nil { // a call of nothing, which is answered as such
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

// choices goes through those that are there.
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

// below puts a text under another. One of them may be empty.
func below(above, text string) string {
	if above == "" || text == "" {
		return above + text
	}
	return above + "\n" + text
}

// apart returns what a choice says and what it thinks. openai's provider has the
// thoughts in a field, anthropic's in the info, others leave them in the text.
func apart(c *llms.ContentChoice) (text, reasoning string) {
	if thought, answer, ok := splitThought(c.Content, truncated(c)); ok {
		return answer, cmp.Or(c.ReasoningContent, thought)
	}
	if strings.Contains(c.Content, "<thinking>") {
		return c.Content, c.ReasoningContent // the info has it too, but it is not at the head
	}
	thought, _ := c.GenerationInfo["ThinkingContent"].(string)
	return c.Content, cmp.Or(c.ReasoningContent, thought)
}

// truncated knows the names that providers give to the limit of tokens: openai,
// mistral and bedrock's say length, anthropic's, cohere's and nova's max_tokens,
// googleai FinishReasonMaxTokens. ollama never says.
func truncated(c *llms.ContentChoice) bool {
	switch plain(c.StopReason) {
	case "length", "modellength", "maxtokens", "maxoutputtokens", "finishreasonmaxtokens", "modelcontextwindowexceeded":
		return true
	case "":
		return cutStream(c)
	}
	return false
}

// cutStream reports a stream of openai's provider that ended before its end: a
// whole one has a reason to stop, and a usage unless the server has none.
func cutStream(c *llms.ContentChoice) bool {
	_, openai := c.GenerationInfo["CompletionAcceptedPredictionTokens"]
	return openai && c.Content != "" && count(c.GenerationInfo, "TotalTokens") == 0
}

// refused knows the names that providers give to a reply that was ended because
// of what it says, or of what was asked.
func refused(reason string) bool {
	switch plain(reason) {
	case "contentfilter", "contentfiltered", "refusal", "safety", "guardrailintervened", "errortoxic",
		"finishreasonsafety", "finishreasonprohibitedcontent", "finishreasonblocklist", "finishreasonspii",
		"finishreasonrecitation":
		return true
	}
	return false
}

func plain(reason string) string { return strings.ToLower(strings.ReplaceAll(reason, "_", "")) }

package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// chunk is a response of generateContent, or one piece of a streamed response.
type chunk struct {
	Candidates []struct {
		Index   int
		Content struct {
			Parts []json.RawMessage
		}
		FinishReason  string
		FinishMessage string
	}
	PromptFeedback struct {
		BlockReason        string
		BlockReasonMessage string
	}
	UsageMetadata json.RawMessage
	ModelVersion  string
	ResponseID    string
}

// part is a part of a content, as far as it is interpreted.
type part struct {
	Text             *string
	Thought          bool
	ThoughtSignature string
	FunctionCall     *struct {
		ID, Name string
		Args     json.RawMessage
	}
}

// blank reports whether the API would reject the part if it was sent back.
func (p *part) blank() bool {
	return p.Text != nil && *p.Text == "" && p.ThoughtSignature == "" && p.FunctionCall == nil
}

// usage is the usage so far; each chunk repeats it.
type usage struct {
	Prompt     int `json:"promptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
}

// reply assembles a reply from its chunks. It has one candidate.
type reply struct {
	provider  string
	answer    *wire.Answer
	options   llms.CallOptions
	parts     []json.RawMessage
	merging   []byte // the text of the last part, while pieces can be added to it; nil if they cannot
	thought   bool   // the last part is a thought
	begun     bool
	reason    string // why the reply ended
	message   string // details of the reason
	usage     usage
	model, id string
	size      int // bytes of the reply so far
}

// maxParts is the maximum number of parts in a reply.
const maxParts = 10_000

// add adds a chunk, and returns the size of the reply so far.
func (r *reply) add(ctx context.Context, data []byte) (int, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return r.size, wire.Malformedf("%w", err)
	}
	r.model, r.id = cmp.Or(c.ModelVersion, r.model), cmp.Or(c.ResponseID, r.id)
	if c.UsageMetadata != nil {
		if err := json.Unmarshal(c.UsageMetadata, &r.usage); err != nil {
			return r.size, wire.Malformedf("%w", err)
		}
	}
	if block := c.PromptFeedback; block.BlockReason != "" {
		err := fmt.Errorf("%s blocked the prompt (%s); change the prompt", r.provider,
			strings.TrimSuffix(block.BlockReason+": "+block.BlockReasonMessage, ": "))
		return r.size, &lm.Error{Kind: lm.KindRefused, MaybeCharged: true, Err: err}
	}
	for _, piece := range c.Candidates {
		if piece.Index != 0 {
			continue
		}
		for _, raw := range piece.Content.Parts {
			if r.reason != "" {
				return r.size, wire.Malformedf("the reply continues after it ended")
			}
			if err := r.grow(ctx, raw); err != nil {
				return r.size, err
			}
		}
		if r.reason != "" && piece.FinishReason != "" && piece.FinishReason != r.reason {
			return r.size, wire.Malformedf("the reply ended with %q and then with %q", r.reason, piece.FinishReason)
		}
		r.begun = true
		r.reason, r.message = cmp.Or(piece.FinishReason, r.reason), cmp.Or(piece.FinishMessage, r.message)
	}
	return r.size, nil
}

// grow adds a part, and passes its text on to the caller. Pieces of text are merged, except that a signature stays on
// the part with which it was received.
func (r *reply) grow(ctx context.Context, raw json.RawMessage) error {
	var p part
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &p); err != nil {
		return wire.Malformedf("%w", err)
	}
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return wire.Malformedf("a part is not an object")
	}
	delete(fields, "text")
	delete(fields, "thought")
	plain := p.Text != nil && len(fields) == 0
	if !plain || r.merging == nil || r.thought != p.Thought {
		r.flush()
		r.thought = p.Thought
	}
	switch {
	case len(r.parts) >= maxParts:
		return wire.Malformedf("a reply of more than %d parts", maxParts)
	case plain:
		r.merging = append(r.merging, *p.Text...)
		r.size += len(*p.Text)
	default:
		r.parts = append(r.parts, slices.Clone(raw))
		r.size += len(raw)
	}
	switch {
	case p.Text == nil:
		return nil
	case p.Thought:
		return wire.Tell(ctx, r.options, *p.Text, "")
	}
	return wire.Tell(ctx, r.options, "", *p.Text)
}

// flush ends the part of merged text.
func (r *reply) flush() {
	if r.merging == nil {
		return
	}
	p := object{"text": string(r.merging)}
	if r.thought {
		p["thought"] = true
	}
	raw, _ := json.Marshal(p)
	r.parts, r.merging = append(r.parts, raw), nil
}

// failed are the reasons of replies that are not usable but may succeed the next time.
var failed = []string{
	"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER",
	"FINISH_REASON_UNSPECIFIED",
}

// response converts the reply for the caller.
func (r *reply) response() (*llms.ContentResponse, error) {
	switch {
	case r.reason == "" && wire.Streams(r.options):
		return nil, r.answer.Cut()
	case !r.begun:
		return nil, r.answer.Missing("candidates")
	case slices.Contains(failed, r.reason):
		return nil, r.answer.Strange("a reply that ended with %s; try again",
			strings.TrimSuffix(r.reason+": "+r.message, ": "))
	}
	r.flush()
	var text, thoughts strings.Builder
	choice := &llms.ContentChoice{StopReason: r.reason}
	for _, raw := range r.parts {
		var p part
		_ = json.Unmarshal(raw, &p) // grow has done so
		switch {
		case p.FunctionCall != nil:
			// Vertex AI and older models do not send ids.
			id := cmp.Or(p.FunctionCall.ID, fmt.Sprintf("call_%s_%d", r.id, len(choice.ToolCalls)+1))
			f := llms.FunctionCall{Name: p.FunctionCall.Name, Arguments: cmp.Or(string(p.FunctionCall.Args), "{}")}
			choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: id, Type: "function", FunctionCall: &f})
		case p.Text != nil && p.Thought:
			thoughts.WriteString(*p.Text)
		case p.Text != nil:
			text.WriteString(*p.Text)
		}
	}
	choice.Content, choice.ReasoningContent = text.String(), thoughts.String()
	u := r.usage
	choice.GenerationInfo = map[string]any{
		"PromptTokens":       u.Prompt,
		"CompletionTokens":   u.Candidates + u.Thoughts,
		"ReasoningTokens":    u.Thoughts,
		"PromptCachedTokens": u.Cached,
		lm.ModelKey:          r.model,
		lm.IDKey:             r.id,
	}
	if len(r.parts) > 0 {
		raw, err := json.Marshal(r.parts)
		if err != nil {
			return nil, r.answer.Malformed(nil, err)
		}
		choice.GenerationInfo[lm.MessageKey] = &lm.Message{
			TextContent: llms.TextContent{Text: choice.Content}, Provider: r.provider, Raw: raw}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

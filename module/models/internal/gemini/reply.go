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
	FunctionCall     *functionCall
}

type functionCall struct {
	ID, Name string
	Args     json.RawMessage
}

// blank reports whether the API would reject the part if it was sent back.
func (p *part) blank() bool {
	return p.Text != nil && *p.Text == "" && p.ThoughtSignature == "" && p.FunctionCall == nil
}

// id returns the id of a reply's nth call. Vertex AI and older models do not send ids.
func (f *functionCall) id(n int) string { return cmp.Or(f.ID, fmt.Sprintf("call_%d", n)) }

// usage is the usage so far; each chunk repeats it.
type usage struct {
	Prompt     int `json:"promptTokenCount"`
	ToolPrompt int `json:"toolUsePromptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
}

// reply assembles a reply from its chunks.
type reply struct {
	provider   string
	answer     *wire.Answer
	options    llms.CallOptions
	candidates []*candidate
	usage      usage
	model, id  string
	size       int // bytes of the reply so far
}

type candidate struct {
	parts   []json.RawMessage
	merging *strings.Builder // the text of the last part, if pieces can be added to it
	thought bool             // the last part is a thought
	reason  string
	message string // details of the reason
}

// Limits of a reply.
const (
	maxCandidates = 16
	maxParts      = 10_000
)

// add adds a chunk.
func (r *reply) add(ctx context.Context, c *chunk) error {
	r.model, r.id = cmp.Or(c.ModelVersion, r.model), cmp.Or(c.ResponseID, r.id)
	if c.UsageMetadata != nil {
		if err := json.Unmarshal(c.UsageMetadata, &r.usage); err != nil {
			return wire.Malformedf("%w", err)
		}
	}
	if block := c.PromptFeedback; block.BlockReason != "" {
		err := fmt.Errorf("%s blocked the prompt (%s); change the prompt", r.provider,
			strings.TrimSuffix(block.BlockReason+": "+block.BlockReasonMessage, ": "))
		return &lm.Error{Kind: lm.KindRefused, MaybeCharged: true, Err: err}
	}
	for _, piece := range c.Candidates {
		switch n := len(r.candidates); {
		case piece.Index == n && n < maxCandidates:
			r.candidates = append(r.candidates, &candidate{})
		case piece.Index < 0 || piece.Index >= n:
			return wire.Malformedf("candidate %d follows %d candidates", piece.Index, n)
		}
		to := r.candidates[piece.Index]
		if len(piece.Content.Parts) > 0 && to.reason != "" {
			return wire.Malformedf("candidate %d continues after it ended", piece.Index)
		}
		if piece.FinishReason != "" && to.reason != "" && piece.FinishReason != to.reason {
			return wire.Malformedf("candidate %d ended with %q and then with %q",
				piece.Index, to.reason, piece.FinishReason)
		}
		for _, raw := range piece.Content.Parts {
			if err := r.grow(ctx, to, raw, piece.Index == 0); err != nil {
				return err
			}
		}
		to.reason, to.message = cmp.Or(piece.FinishReason, to.reason), cmp.Or(piece.FinishMessage, to.message)
	}
	return nil
}

// grow adds a part to a candidate, and passes its text on to the caller if it belongs to the first candidate. Pieces of
// text are merged, except that a signature stays on the part with which it was received.
func (r *reply) grow(ctx context.Context, to *candidate, raw json.RawMessage, streamed bool) error {
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
	if !plain || to.merging == nil || to.thought != p.Thought {
		to.flush()
		if len(to.parts) >= maxParts {
			return wire.Malformedf("a reply of more than %d parts", maxParts)
		}
		to.thought = p.Thought
		if plain {
			to.merging = &strings.Builder{}
		} else {
			to.parts = append(to.parts, slices.Clone(raw))
		}
	}
	if plain {
		to.merging.WriteString(*p.Text)
		r.size += len(*p.Text)
	} else {
		r.size += len(raw)
	}
	switch {
	case p.Text == nil, !streamed:
		return nil
	case p.Thought:
		return wire.Tell(ctx, r.options, *p.Text, "")
	}
	return wire.Tell(ctx, r.options, "", *p.Text)
}

// flush ends the part of merged text.
func (c *candidate) flush() {
	if c.merging == nil {
		return
	}
	p := object{"text": c.merging.String()}
	if c.thought {
		p["thought"] = true
	}
	raw, _ := json.Marshal(p)
	c.parts, c.merging = append(c.parts, raw), nil
}

// ended reports whether every candidate has ended.
func (r *reply) ended() bool {
	return len(r.candidates) > 0 &&
		!slices.ContainsFunc(r.candidates, func(c *candidate) bool { return c.reason == "" })
}

// failed are the reasons of replies that are not usable but may succeed the next time.
var failed = []string{
	"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER",
	"FINISH_REASON_UNSPECIFIED",
}

// response converts the reply for the caller.
func (r *reply) response() (*llms.ContentResponse, error) {
	if len(r.candidates) == 0 {
		return nil, r.answer.Missing("candidates")
	}
	response := &llms.ContentResponse{}
	for _, c := range r.candidates {
		c.flush()
		if slices.Contains(failed, c.reason) {
			return nil, r.answer.Strange("a reply that ended with %s; try again",
				strings.TrimSuffix(c.reason+": "+c.message, ": "))
		}
		choice, err := r.choice(c)
		if err != nil {
			return nil, err
		}
		response.Choices = append(response.Choices, choice)
	}
	return response, nil
}

func (r *reply) choice(c *candidate) (*llms.ContentChoice, error) {
	var text, thoughts strings.Builder
	choice := &llms.ContentChoice{StopReason: c.reason}
	for _, raw := range c.parts {
		var p part
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, r.answer.Malformed(raw, err)
		}
		switch {
		case p.FunctionCall != nil:
			id := p.FunctionCall.id(len(choice.ToolCalls) + 1)
			arguments := cmp.Or(string(p.FunctionCall.Args), "{}")
			choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: id, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: p.FunctionCall.Name, Arguments: arguments}})
		case p.Text != nil && p.Thought:
			thoughts.WriteString(*p.Text)
		case p.Text != nil:
			text.WriteString(*p.Text)
		}
	}
	choice.Content, choice.ReasoningContent = text.String(), thoughts.String()
	u := r.usage
	choice.GenerationInfo = map[string]any{
		"PromptTokens":       u.Prompt + u.ToolPrompt,
		"CompletionTokens":   u.Candidates + u.Thoughts,
		"ReasoningTokens":    u.Thoughts,
		"PromptCachedTokens": u.Cached,
		lm.ModelKey:          r.model,
		lm.IDKey:             r.id,
	}
	if len(c.parts) > 0 {
		raw, err := json.Marshal(c.parts)
		if err != nil {
			return nil, r.answer.Malformed(nil, err)
		}
		choice.GenerationInfo[lm.MessageKey] = &lm.Message{
			TextContent: llms.TextContent{Text: choice.Content}, Provider: r.provider, Raw: raw}
	}
	return choice, nil
}

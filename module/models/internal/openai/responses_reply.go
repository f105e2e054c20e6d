package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// response is a response of the Responses API.
type response struct {
	ID, Model, Status string
	Output            json.RawMessage         // a list of items, kept as received
	Incomplete        struct{ Reason string } `json:"incomplete_details"`
	Usage             *struct {
		Input   int `json:"input_tokens"`
		Output  int `json:"output_tokens"`
		Total   int `json:"total_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
			Write  int `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
}

// response converts the response to langchaingo's form.
func (r *response) response(provider string, answer *wire.Answer) (*llms.ContentResponse, error) {
	choice := &llms.ContentChoice{StopReason: cmp.Or(r.Status, "completed"), GenerationInfo: r.info()}
	switch choice.StopReason {
	case "completed":
	case "incomplete":
		choice.StopReason = cmp.Or(r.Incomplete.Reason, "max_output_tokens")
	default:
		return nil, answer.Strange("a reply with the status %q; try again", r.Status)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(r.Output, &items); err != nil || items == nil {
		return nil, answer.Missing("output")
	}
	var text, thoughts []string
	for _, raw := range items {
		item, err := decodeItem(raw)
		if err != nil {
			return nil, answer.Malformed(raw, err)
		}
		said, refused := item.text()
		switch {
		case item.Type == "function_call":
			choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: item.CallID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: item.Name, Arguments: arguments(item.Arguments)}})
		case item.Type == "reasoning":
			for _, part := range append(item.Summary, item.Content...) {
				thoughts = append(thoughts, part.Text)
			}
		case item.Phase == commentary:
			thoughts = append(thoughts, said)
		default:
			text = append(text, said)
		}
		if refused {
			choice.StopReason = "refusal"
		}
	}
	choice.Content, choice.ReasoningContent = strings.Join(text, ""), strings.Join(thoughts, paragraph)
	if len(items) > 0 {
		choice.GenerationInfo[lm.MessageKey] = &lm.Message{
			TextContent: llms.TextContent{Text: choice.Content}, Provider: provider, Raw: r.Output}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

const (
	commentary = "commentary" // the phase of a message that is not yet the answer
	paragraph  = "\n\n"       // between thoughts
)

func (r *response) info() map[string]any {
	info := map[string]any{lm.ModelKey: r.Model, lm.IDKey: r.ID}
	if u := r.Usage; u != nil {
		info["PromptTokens"] = u.Input
		info["CompletionTokens"] = u.Output
		info["TotalTokens"] = u.Total
		info["ReasoningTokens"] = u.OutputDetails.Reasoning
		info["PromptCachedTokens"] = u.Details.Cached
		info["CacheCreationInputTokens"] = u.Details.Write
	}
	return info
}

// responseEvent is any event of a stream.
type responseEvent struct {
	Type    string
	Output  int `json:"output_index"`
	Summary int `json:"summary_index"`
	Content int `json:"content_index"`
	Delta   json.RawMessage
	Item    struct{ Type, Phase string }
	Whole   json.RawMessage `json:"response"`
}

// stream reads a streamed response and passes its text and its thoughts on. The last event has the whole response.
func (m *Responses) stream(
	ctx context.Context, answer *wire.Answer, call llms.CallOptions,
) (*llms.ContentResponse, error) {
	answer.Objects = wire.MaxElements // events repeat the tools of the request
	t := telling{call: call, comments: map[int]bool{}}
	for event, err := range answer.Events(ctx) {
		if err != nil {
			return nil, err
		}
		var e responseEvent
		if err := json.Unmarshal(event.Data, &e); err != nil {
			return nil, answer.Malformed(event.Data, err)
		}
		switch e.Type {
		case "response.output_item.added":
			if e.Item.Phase == commentary && len(t.comments) < maxItems {
				t.comments[e.Output] = true
			}
		case "error":
			return nil, answer.Failure(fmt.Appendf(nil, `{"error":%s}`, event.Data))
		case "response.failed", "response.completed", "response.incomplete":
			return m.last(ctx, answer, &t, e.Whole)
		default:
			if err := t.add(ctx, e); err != nil {
				return nil, err
			}
			answer.Size = t.size
		}
	}
	return nil, answer.Cut()
}

// last reads the response in the last event of a stream. Its text must continue what was streamed.
func (m *Responses) last(
	ctx context.Context, answer *wire.Answer, t *telling, whole json.RawMessage,
) (*llms.ContentResponse, error) {
	var r response
	if err := answer.Failure(whole); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(whole, &r); err != nil {
		return nil, answer.Malformed(whole, err)
	}
	response, err := r.response(m.client.Provider, answer)
	if err != nil {
		return nil, err
	}
	choice := response.Choices[0]
	rest, ok := strings.CutPrefix(choice.Content, t.text.String())
	switch {
	case choice.StopReason == "refusal":
		return response, nil
	case !ok:
		return nil, answer.Strange("a reply that contradicts its streamed pieces; try again")
	}
	return response, wire.Tell(ctx, t.call, "", rest)
}

// telling passes the pieces of a stream on.
type telling struct {
	call     llms.CallOptions
	comments map[int]bool // the indexes of messages that are commentary
	text     bytes.Buffer // what was passed on
	size     int
	thought  [3]int // the item and the parts to which the last thought belongs
}

// add passes a piece on.
func (t *telling) add(ctx context.Context, e responseEvent) error {
	var delta string
	if json.Unmarshal(e.Delta, &delta) != nil {
		return nil // no piece, or not of a text
	}
	t.size += len(delta)
	said := e.Type == "response.output_text.delta"
	switch {
	case said && !t.comments[e.Output]:
		t.text.WriteString(delta)
		return wire.Tell(ctx, t.call, "", delta)
	case said, e.Type == "response.reasoning_summary_text.delta", e.Type == "response.reasoning_text.delta":
		part := [3]int{e.Output + 1, e.Summary, e.Content}
		if t.thought != part && t.thought != [3]int{} {
			delta = paragraph + delta
		}
		t.thought = part
		return wire.Tell(ctx, t.call, delta, "")
	}
	return nil
}

package openai

import (
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
	Output            json.RawMessage // a list of items, kept as received
	Usage             *responseUsage
	Incomplete        struct{ Reason string } `json:"incomplete_details"`
}

// responseUsage is a [usage], whose fields have other names here.
type responseUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Total  int `json:"total_tokens"`
	Hit    int `json:"-"`
	Prompt struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Completion struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// outputItem has the decoded fields of an item that the model wrote.
type outputItem struct {
	Type, Phase, Name string
	Arguments         json.RawMessage
	CallID            string `json:"call_id"`
	Encrypted         string `json:"encrypted_content"`
	Summary, Content  []struct{ Text, Refusal string }
}

const (
	commentary = "commentary" // the phase of a message that is not yet the answer
	paragraph  = "\n\n"       // between thoughts
)

// decodeItem decodes an item. Of items that are not a message, reasoning or a call of a function, it reads only the
// type, because their fields may be of other types.
func decodeItem(raw json.RawMessage) (item outputItem, err error) {
	var kind struct{ Type string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return item, err
	}
	switch item.Type = kind.Type; item.Type {
	case "message", "reasoning", "function_call":
		err = json.Unmarshal(raw, &item)
	}
	return item, err
}

// response converts the response to langchaingo's form.
func (r *response) response(provider string, answer *wire.Answer) (*llms.ContentResponse, error) {
	whole := completion{ID: r.ID, Model: r.Model, Usage: (*usage)(r.Usage)}
	choice := &llms.ContentChoice{StopReason: cmp.Or(r.Status, "completed"), GenerationInfo: whole.info()}
	if r.Status == "incomplete" {
		choice.StopReason = cmp.Or(r.Incomplete.Reason, "max_output_tokens")
	} else if choice.StopReason != "completed" {
		return nil, answer.Strange("a reply with the status %q; try again", r.Status)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(r.Output, &items); err != nil || items == nil {
		return nil, answer.Missing("output")
	}
	var thoughts []string
	for _, raw := range items {
		item, err := decodeItem(raw)
		if err != nil {
			return nil, answer.Malformed(raw, err)
		}
		if item.Type == "function_call" {
			choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: item.CallID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: item.Name, Arguments: arguments(item.Arguments)}})
		}
		for _, part := range append(item.Summary, item.Content...) {
			if part.Refusal != "" {
				choice.StopReason = "refusal"
			}
			if item.Type == "reasoning" || item.Phase == commentary {
				thoughts = append(thoughts, part.Text)
			} else {
				choice.Content += part.Text + part.Refusal
			}
		}
	}
	choice.ReasoningContent = strings.Join(thoughts, paragraph)
	choice.GenerationInfo[lm.MessageKey] = &lm.Message{
		TextContent: llms.TextContent{Text: choice.Content}, Provider: provider, Raw: r.Output,
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// responseEvent is any event of a stream.
type responseEvent struct {
	Type  string
	Index int `json:"output_index"`
	Delta text
	Item  struct{ Phase string }
	Whole json.RawMessage `json:"response"`
}

// telling passes the text and the thoughts of a stream on to the caller.
type telling struct {
	call     llms.CallOptions
	text     strings.Builder // what was passed on
	comments map[int]bool    // the indexes of messages that are commentary
	thinks   bool            // a thought was passed on
	gap      bool            // another thought has begun since then
}

// add passes the text of an event on.
func (t *telling) add(ctx context.Context, e *responseEvent) error {
	said := e.Type == "response.output_text.delta"
	switch delta := e.Delta.said; {
	case strings.HasSuffix(e.Type, ".added"):
		t.gap = t.thinks
		if e.Item.Phase == commentary && len(t.comments) < maxItems {
			t.comments[e.Index] = true
		}
	case said && !t.comments[e.Index]:
		t.text.WriteString(delta)
		return wire.Tell(ctx, t.call, "", delta)
	case said, e.Type == "response.reasoning_summary_text.delta", e.Type == "response.reasoning_text.delta":
		if t.gap {
			delta = paragraph + delta
		}
		t.thinks, t.gap = true, false
		return wire.Tell(ctx, t.call, delta, "")
	}
	return nil
}

// stream reads a streamed response. The last event has the whole response.
func (m *Responses) stream(
	ctx context.Context, answer *wire.Answer, call llms.CallOptions,
) (*llms.ContentResponse, error) {
	answer.Echoes = true
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
		case "response.failed", "response.completed", "response.incomplete":
			return m.last(ctx, answer, &t, e.Whole)
		case "error":
			return nil, answer.Failure(fmt.Appendf(nil, `{"error":%s}`, event.Data))
		}
		if err := t.add(ctx, &e); err != nil {
			return nil, err
		}
		answer.Size = t.text.Len()
	}
	return nil, answer.Cut()
}

// last reads the response in the last event of a stream. Its text must not contradict what was streamed.
func (m *Responses) last(
	ctx context.Context, answer *wire.Answer, t *telling, whole json.RawMessage,
) (*llms.ContentResponse, error) {
	if err := answer.Failure(whole); err != nil {
		return nil, err
	}
	var r response
	if err := json.Unmarshal(whole, &r); err != nil {
		return nil, answer.Malformed(whole, err)
	}
	response, err := r.response(m.client.Provider, answer)
	if err != nil || response.Choices[0].StopReason == "refusal" {
		return response, err
	}
	rest, ok := strings.CutPrefix(response.Choices[0].Content, t.text.String())
	if !ok {
		return nil, answer.Strange("a reply that contradicts its streamed pieces; try again")
	}
	return response, wire.Tell(ctx, t.call, "", rest)
}

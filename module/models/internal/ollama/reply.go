package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// reply is a response from Ollama, or one line of a streamed response.
type reply struct {
	Model      string  `json:"model"`
	Message    message `json:"message"`
	Done       bool    `json:"done"`
	DoneReason string  `json:"done_reason"`
	Read       int     `json:"prompt_eval_count"`
	Written    int     `json:"eval_count"`
}

// send makes the request and reads the reply.
func (m *Model) send(
	ctx context.Context, r *request, schema json.RawMessage, o llms.CallOptions,
) (*llms.ContentResponse, error) {
	answer, err := m.client.Post(ctx, "/api/chat", r.body(schema))
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	s := &stream{options: o}
	if wire.Streams(o) {
		err = s.read(ctx, answer)
	} else if err = answer.Decode(ctx, &s.whole); err == nil && !s.whole.Done {
		err = answer.Missing(`"done": true`)
	}
	if err == nil {
		err = r.truncated(s.whole.Read)
	}
	if err != nil {
		return nil, err
	}
	return s.whole.response(r.calls)
}

// stream assembles a reply from its lines.
type stream struct {
	whole             reply
	content, thinking strings.Builder
	size              int // bytes of the reply so far
	options           llms.CallOptions
}

func (s *stream) read(ctx context.Context, answer *wire.Answer) error {
	for line, err := range answer.Lines(ctx) {
		if err == nil {
			err = s.add(ctx, line.Data)
			answer.Size = s.size
		}
		if m, ok := errors.AsType[*wire.Malformed](err); ok {
			return answer.Malformed(line.Data, m)
		}
		if err != nil || s.whole.Done {
			return err
		}
	}
	return answer.Cut()
}

// maxCalls is the maximum number of tool calls in a reply, as for all models.
const maxCalls = 128

// add adds one line and passes its text and thoughts on to the caller.
func (s *stream) add(ctx context.Context, line []byte) error {
	var r reply
	if err := json.Unmarshal(line, &r); err != nil {
		return wire.Malformedf("%w", err)
	}
	s.size += len(r.Message.Content) + len(r.Message.Thinking) + len(line)*min(len(r.Message.ToolCalls), 1)
	calls := append(s.whole.Message.ToolCalls, r.Message.ToolCalls...)
	if len(calls) > maxCalls {
		return wire.Malformedf("more than %d tool calls", maxCalls)
	}
	s.content.WriteString(r.Message.Content)
	s.thinking.WriteString(r.Message.Thinking)
	text, thought := r.Message.Content, r.Message.Thinking
	r.Message.ToolCalls = calls
	if r.Done {
		r.Message.Role, r.Message.Content, r.Message.Thinking = "assistant", s.content.String(), s.thinking.String()
	}
	s.whole = r
	return wire.Tell(ctx, s.options, thought, text)
}

// response converts the reply for the caller. Old versions of Ollama send tool calls without ids. It numbers such
// calls, starting after the given number of earlier calls.
func (r *reply) response(calls int) (*llms.ContentResponse, error) {
	choice := &llms.ContentChoice{
		Content: r.Message.Content, ReasoningContent: r.Message.Thinking, StopReason: r.DoneReason,
	}
	for i := range r.Message.ToolCalls {
		c := &r.Message.ToolCalls[i]
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", calls+i+1)
		}
		if len(c.Function.Arguments) == 0 {
			c.Function.Arguments = json.RawMessage("{}")
		}
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: c.ID, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: c.Function.Name, Arguments: string(c.Function.Arguments)}})
	}
	raw, err := json.Marshal(r.Message)
	if err != nil {
		return nil, err
	}
	choice.GenerationInfo = map[string]any{
		"PromptTokens": r.Read, "CompletionTokens": r.Written,
		lm.ModelKey:   r.Model,
		lm.MessageKey: &lm.Message{TextContent: llms.TextContent{Text: choice.Content}, Provider: provider, Raw: raw},
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models"
)

// request is a request to a model as JSON. Streaming functions are left out, because they only receive the reply.
type request struct {
	Messages    []message        `json:"messages"`
	Options     llms.CallOptions `json:"options"`
	Temperature *float64         `json:"temperature,omitempty"` // nil if it is not set; the same for TopP
	TopP        *float64         `json:"top_p,omitempty"`
	Params      models.Params    `json:"params"`
}

type message struct {
	Role  llms.ChatMessageType `json:"role"`
	Parts []part               `json:"parts"`
}

// part is a part of a message. One field is set.
type part struct {
	Text     *string                `json:"text,omitempty"`
	Message  *models.Message        `json:"message,omitempty"`
	Binary   *llms.BinaryContent    `json:"binary,omitempty"`
	Image    *llms.ImageURLContent  `json:"image,omitempty"`
	Call     *toolCall              `json:"call,omitempty"`
	Response *llms.ToolCallResponse `json:"response,omitempty"`
}

// toolCall replaces [llms.ToolCall], which loses its function when it is read from JSON.
type toolCall struct {
	ID       string             `json:"id"`
	Type     string             `json:"type"`
	Function *llms.FunctionCall `json:"function,omitempty"`
}

func callOf(c llms.ToolCall) *toolCall { return &toolCall{c.ID, c.Type, c.FunctionCall} }

func (c *toolCall) call() llms.ToolCall {
	return llms.ToolCall{ID: c.ID, Type: c.Type, FunctionCall: c.Function}
}

// requestOf returns a request, or false if it has a part that cannot travel.
func requestOf(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*request, bool) {
	o := llms.CallOptions{Temperature: math.NaN(), TopP: math.NaN()} // what is not set stays NaN
	for _, option := range options {
		option(&o)
	}
	r := &request{Params: models.ParamsOf(ctx)}
	for set, p := range map[*float64]**float64{&o.Temperature: &r.Temperature, &o.TopP: &r.TopP} {
		if x := *set; !math.IsNaN(x) {
			*p = &x
		}
		*set = 0
	}
	r.Options = o
	for _, m := range messages {
		list := make([]part, len(m.Parts))
		for i, p := range m.Parts {
			switch p := p.(type) {
			case llms.TextContent:
				list[i].Text = &p.Text
			case models.Message:
				list[i].Message = &p
			case llms.BinaryContent:
				list[i].Binary = &p
			case llms.ImageURLContent:
				list[i].Image = &p
			case llms.ToolCall:
				list[i].Call = callOf(p)
			case llms.ToolCallResponse:
				list[i].Response = &p
			default:
				return nil, false
			}
		}
		r.Messages = append(r.Messages, message{m.Role, list})
	}
	return r, true
}

// send sends the request to a model.
func (r *request) send(ctx context.Context, m llms.Model) (*llms.ContentResponse, error) {
	messages := make([]llms.MessageContent, len(r.Messages))
	for i, m := range r.Messages {
		messages[i].Role = m.Role
		for _, p := range m.Parts {
			messages[i].Parts = append(messages[i].Parts, p.content())
		}
	}
	return m.GenerateContent(models.WithParams(ctx, r.Params), messages, func(o *llms.CallOptions) {
		temperature, topP := o.Temperature, o.TopP
		*o = r.Options
		o.Temperature, o.TopP = temperature, topP
		if r.Temperature != nil {
			o.Temperature = *r.Temperature
		}
		if r.TopP != nil {
			o.TopP = *r.TopP
		}
	})
}

func (p part) content() llms.ContentPart {
	switch {
	case p.Message != nil:
		return *p.Message
	case p.Binary != nil:
		return *p.Binary
	case p.Image != nil:
		return *p.Image
	case p.Call != nil:
		return p.Call.call()
	case p.Response != nil:
		return *p.Response
	case p.Text != nil:
		return llms.TextPart(*p.Text)
	}
	return llms.TextPart("")
}

// reply is a model's response, or its error, as JSON.
type reply struct {
	Choices []choice `json:"choices,omitempty"`
	Error   *failure `json:"error,omitempty"`
}

type choice struct {
	Text       string             `json:"text,omitempty"`
	Reasoning  string             `json:"reasoning,omitempty"`
	StopReason string             `json:"stop_reason,omitempty"`
	ToolCalls  []*toolCall        `json:"tool_calls,omitempty"`
	FuncCall   *llms.FunctionCall `json:"function_call,omitempty"`
	Message    *models.Message    `json:"message,omitempty"`
	Info       map[string]any     `json:"info,omitempty"`
}

// failure is a [models.Error].
type failure struct {
	Kind         models.Kind   `json:"kind"`
	Status       int           `json:"status,omitempty"`
	RetryAfter   time.Duration `json:"retry_after,omitempty"`
	MaybeCharged bool          `json:"maybe_charged,omitempty"`
	Text         string        `json:"text"`
}

// messageKey is the key under which a reply's GenerationInfo has the message as its provider wrote it.
const messageKey = "writ:message"

// replyOf returns a reply with the plain values of a response's GenerationInfo, such as usage.
func replyOf(r *llms.ContentResponse, err error) reply {
	var all reply
	if err != nil {
		e, ok := errors.AsType[*models.Error](err)
		if !ok {
			e = &models.Error{Err: err}
		}
		text := cmp.Or(e.Err, err).Error()
		all.Error = &failure{e.Kind, e.Status, e.RetryAfter, e.MaybeCharged, text}
	}
	for i := 0; r != nil && i < len(r.Choices); i++ {
		c := r.Choices[i]
		if c == nil {
			continue
		}
		kept := choice{Text: c.Content, Reasoning: c.ReasoningContent, StopReason: c.StopReason, FuncCall: c.FuncCall,
			Info: map[string]any{}}
		kept.Message, _ = c.GenerationInfo[messageKey].(*models.Message)
		for name, v := range c.GenerationInfo {
			switch v.(type) {
			case string, bool, int, int32, int64, float64:
				kept.Info[name] = v
			}
		}
		for _, call := range c.ToolCalls {
			kept.ToolCalls = append(kept.ToolCalls, callOf(call))
		}
		all.Choices = append(all.Choices, kept)
	}
	return all
}

// response returns the response and the error of a reply.
func (r reply) response() (*llms.ContentResponse, error) {
	answer := &llms.ContentResponse{}
	for _, c := range r.Choices {
		given := &llms.ContentChoice{Content: c.Text, ReasoningContent: c.Reasoning, StopReason: c.StopReason,
			FuncCall: c.FuncCall, GenerationInfo: c.Info}
		for _, call := range c.ToolCalls {
			given.ToolCalls = append(given.ToolCalls, call.call())
		}
		if c.Message != nil {
			given.GenerationInfo[messageKey] = c.Message
		}
		answer.Choices = append(answer.Choices, given)
	}
	if e := r.Error; e != nil {
		return answer, &models.Error{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter,
			MaybeCharged: e.MaybeCharged, Err: errors.New(e.Text)}
	}
	return answer, nil
}

// UnmarshalJSON reads whole numbers as ints, as providers write counts.
func (c *choice) UnmarshalJSON(text []byte) error {
	type plain choice
	c.Info = map[string]any{}
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	for name, value := range c.Info {
		if n, ok := value.(float64); ok && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			c.Info[name] = int(n)
		}
	}
	return nil
}

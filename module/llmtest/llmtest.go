// Package llmtest provides a language model for tests. It returns scripted replies and records the requests.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//
//		"github.com/tmc/langchaingo/llms"
//		"github.com/writ-go/writ/module/llmtest"
//	)
//
//	func main() {
//		model := llmtest.New("first", "second")
//		reply, err := llms.GenerateFromSinglePrompt(context.Background(), model, "Hello?")
//		fmt.Println(reply, err, model.Requests()[0].Text())
//	}
package llmtest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

// Model is an [llms.Model] that follows a script. It is safe for concurrent use and respects each call's context.
type Model struct {
	mu       sync.Mutex
	answer   func(ctx context.Context, r Request) (Reply, error)
	requests []Request
}

var _ llms.Model = (*Model)(nil)

// With returns a model that has the same script, records its requests here, and reports capabilities, which are a
// models.Capabilities.
func (m *Model) With(c lm.Capabilities) llms.Model {
	generate := func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		return m.generate(ctx, c.Model, messages, options)
	}
	return lm.CapableFunc{Func: generate, States: func() lm.Capabilities { return c }}
}

// Request is one call to the model.
type Request struct {
	N        int // the call's number, from 1
	Messages []llms.MessageContent
	Options  llms.CallOptions
	Params   lm.Params // a models.Params, from the call's context
}

// Reply is a reply from the model. Its zero value is an empty reply.
type Reply struct {
	Text         string
	Chunks       []string // the pieces in which Text is streamed. If empty, Text is not streamed.
	Reasoning    string
	StopReason   string // default: "tool_calls" if there are ToolCalls, otherwise "stop"
	InputTokens  int    // default: a quarter of the request's bytes
	OutputTokens int    // default: a quarter of Text's bytes

	ToolCalls []llms.ToolCall
	Message   *lm.Message // a *models.Message: the reply in the protocol of a provider
	Model     string      // the model that answered; default: the one of the call options or of With, or "scripted"
	ID        string      // the ID of the reply
}

// New returns a model that gives the replies in order, and then an error that shows the beginning and the end of the
// request for which there is no reply.
func New(replies ...string) *Model {
	return Func(func(_ context.Context, r Request) (Reply, error) {
		if r.N > len(replies) {
			return Reply{}, fmt.Errorf("llmtest: request %d has no reply: the script contains %d, one for each "+
				"request; add a reply to this request:\n%s", r.N, len(replies), excerpt(r.Text()))
		}
		return Reply{Text: replies[r.N-1]}, nil
	})
}

// Func returns a model that calls a function for each reply. The function is called
// concurrently if the model is. If it waits, it must return when ctx is done. If ctx is
// done when it returns, the model returns ctx's error.
func Func(answer func(ctx context.Context, r Request) (Reply, error)) *Model {
	return &Model{answer: answer}
}

// Requests returns the requests so far, in the order of the calls.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// GenerateContent implements [llms.Model].
func (m *Model) GenerateContent(ctx context.Context, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	return m.generate(ctx, "", messages, options)
}

func (m *Model) generate(ctx context.Context, name string, messages []llms.MessageContent,
	options []llms.CallOption) (*llms.ContentResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	request := m.record(ctx, messages, options)
	reply, err := m.answer(ctx, request)
	if err != nil {
		return nil, err
	}
	if err := reply.stream(ctx, request.Options); err != nil {
		return nil, err
	}
	reply.Model = cmp.Or(reply.Model, request.Options.Model, name, "scripted")
	return reply.response(messages), nil
}

// stream passes the reply to the streaming functions of the options.
func (r Reply) stream(ctx context.Context, o llms.CallOptions) error {
	if on := o.StreamingReasoningFunc; on != nil && len(r.Chunks) > 0 && r.Reasoning != "" && ctx.Err() == nil {
		if err := on(ctx, []byte(r.Reasoning), nil); err != nil {
			return err
		}
	}
	for _, chunk := range r.Chunks {
		if o.StreamingFunc == nil || ctx.Err() != nil {
			break
		}
		if err := o.StreamingFunc(ctx, []byte(chunk)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Call implements [llms.Model].
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

func (m *Model) record(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := Request{N: len(m.requests) + 1, Messages: slices.Clone(messages), Options: lm.Options(options),
		Params: lm.ParamsOf(ctx)}
	for i := range r.Messages {
		r.Messages[i].Parts = slices.Clone(r.Messages[i].Parts)
	}
	m.requests = append(m.requests, r)
	return r
}

func (r Reply) response(messages []llms.MessageContent) *llms.ContentResponse {
	reason := cmp.Or(r.StopReason, "stop")
	if r.StopReason == "" && len(r.ToolCalls) > 0 {
		reason = "tool_calls"
	}
	info := map[string]any{
		"PromptTokens":     cmp.Or(r.InputTokens, len(Request{Messages: messages}.Text())/4),
		"CompletionTokens": cmp.Or(r.OutputTokens, len(r.Text)/4),
		lm.ModelKey:        r.Model,
	}
	if r.Message != nil {
		info[lm.MessageKey] = r.Message
	}
	if r.ID != "" {
		info[lm.IDKey] = r.ID
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: r.Text, ReasoningContent: r.Reasoning, StopReason: reason, ToolCalls: slices.Clone(r.ToolCalls),
		GenerationInfo: info,
	}}}
}

// Text returns the whole request as text: every message under its role.
func (r Request) Text() string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "--- %s ---\n", m.Role)
		for _, part := range m.Parts {
			fmt.Fprintln(&b, part)
		}
	}
	return b.String()
}

// Last returns the last message's text, without its role.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	var parts []string
	for _, part := range r.Messages[len(r.Messages)-1].Parts {
		parts = append(parts, fmt.Sprint(part))
	}
	return strings.Join(parts, "\n")
}

// excerpt returns the beginning and the end of text.
func excerpt(text string) string {
	const head, tail = 100, 300 // bytes
	if len(text) > head+tail {
		text = strings.ToValidUTF8(text[:head], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-tail:], "")
	}
	return display.Text(text)
}

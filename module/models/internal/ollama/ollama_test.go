package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/ollama"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// serve returns a model whose requests a stub answers.
func serve(t *testing.T, o *stub.Options, replies ...stub.Reply) (*ollama.Model, *stub.Server) {
	t.Helper()
	s := stub.Ollama(o, replies...)
	return connect(t, s, nil), s
}

func connect(t *testing.T, h http.Handler, o *wire.Options) *ollama.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	if o == nil {
		o = &wire.Options{}
	}
	o.BaseURL = server.URL
	m, err := ollama.New("qwen3", o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
}

func message(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: role, Parts: parts}
}

// streaming returns options that stream, and the streamed text and thoughts.
func streaming() (options []llms.CallOption, text, thoughts *bytes.Buffer) {
	text, thoughts = &bytes.Buffer{}, &bytes.Buffer{}
	return []llms.CallOption{
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			text.Write(chunk)
			return nil
		}),
		llms.WithStreamingReasoningFunc(func(_ context.Context, thought, _ []byte) error {
			thoughts.Write(thought)
			return nil
		}),
	}, text, thoughts
}

func call(id, name, arguments string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: arguments}}
}

func weather() llms.CallOption {
	return llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "weather", Description: "The weather in a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
	}}})
}

// same checks that two values have the same JSON.
func same(t *testing.T, got, want any) {
	t.Helper()
	if g, w := indented(t, got), indented(t, want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	_ = json.Unmarshal(raw, &plain)
	raw, _ = json.MarshalIndent(plain, "", "\t")
	return string(raw)
}

func TestReply(t *testing.T) {
	t.Parallel()
	choice := func(text, thought, reason, raw string, calls ...llms.ToolCall) *llms.ContentChoice {
		return &llms.ContentChoice{Content: text, ReasoningContent: thought, StopReason: reason, ToolCalls: calls,
			GenerationInfo: map[string]any{
				"PromptTokens": 100, "CompletionTokens": 20, lm.ModelKey: "qwen3",
				lm.MessageKey: &lm.Message{
					TextContent: llms.TextContent{Text: text}, Provider: "ollama", Raw: json.RawMessage(raw)},
			}}
	}
	for name, test := range map[string]struct {
		reply stub.Reply
		want  *llms.ContentChoice
	}{
		"thoughts": {
			stub.Reply{Thinking: "Let me see: Bhutan.", Text: "Thimphu."},
			choice("Thimphu.", "Let me see: Bhutan.", "stop",
				`{"role":"assistant","content":"Thimphu.","thinking":"Let me see: Bhutan."}`),
		},
		"tool calls": {
			stub.Reply{ToolCalls: []stub.ToolCall{
				{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`}, {Name: "now", Arguments: `{}`}}},
			choice("", "", "stop", `{"role":"assistant","content":"","tool_calls":[
				{"id":"t1","function":{"index":0,"name":"weather","arguments":{"city":"Oslo"}}},
				{"id":"call_2","function":{"index":1,"name":"now","arguments":{}}}]}`,
				call("t1", "weather", `{"city":"Oslo"}`), call("call_2", "now", `{}`)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options, text, thoughts := streaming()
			for _, options := range [][]llms.CallOption{nil, options} {
				m, _ := serve(t, nil, test.reply)
				got, err := m.GenerateContent(t.Context(), ask("?"), options...)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, llms.ContentResponse{Choices: []*llms.ContentChoice{test.want}})
			}
			if text.String() != test.want.Content || thoughts.String() != test.want.ReasoningContent {
				t.Errorf("streamed %q and %q", text, thoughts)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	m, s := serve(t, nil, stub.Reply{Text: "Hello."})
	_, err := m.GenerateContent(t.Context(), []llms.MessageContent{
		message(llms.ChatMessageTypeSystem, llms.TextPart("Be brief.")),
		message(llms.ChatMessageTypeHuman, llms.TextPart("Look."),
			llms.BinaryPart("image/png", []byte("png")), llms.BinaryPart("text/csv", []byte("a,b"))),
		message(llms.ChatMessageTypeAI, lm.Message{TextContent: llms.TextPart("I call."), Provider: "openai"},
			call("t1", "weather", `{"city":"Oslo"}`), call("t2", "weather", `{"city":`)),
		message(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: "t1", Name: "weather", Content: "rain"},
			llms.ToolCallResponse{ToolCallID: "t2", Name: "weather", Content: "sun"}),
		message(llms.ChatMessageTypeHuman, llms.TextPart("Well?"), llms.TextPart("Well?")),
	}, weather(), llms.WithStopWords([]string{"END"}), llms.WithMaxTokens(50), llms.WithModel("gemma3"),
		llms.WithJSONMode(), llms.WithTemperature(0), llms.WithTopP(0.5), llms.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Requests()[0].Body, json.RawMessage(`{
		"model": "gemma3", "stream": false, "truncate": false, "shift": false, "format": "json",
		"options": {"num_ctx": 4096, "num_predict": 50, "seed": 7, "stop": ["END"], "temperature": 0, "top_p": 0.5},
		"tools": [{"type": "function", "function": {
			"name": "weather", "description": "The weather in a city.",
			"parameters": {"type": "object", "properties": {"city": {"type": "string"}}}
		}}],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": "Look.\nattachment 2:\na,b", "images": ["cG5n"]},
			{"role": "assistant", "content": "I call.", "tool_calls": [
				{"id": "t1", "function": {"index": 0, "name": "weather", "arguments": {"city": "Oslo"}}},
				{"id": "t2", "function": {"index": 0, "name": "weather", "arguments": {}}}
			]},
			{"role": "tool", "tool_name": "weather", "tool_call_id": "t1", "content": "rain"},
			{"role": "tool", "tool_name": "weather", "tool_call_id": "t2", "content": "sun"},
			{"role": "user", "content": "Well?\nWell?"}
		]
	}`))
}

// TestTurns checks that replies are sent back unchanged, even if the conversation was saved in
// between, and that every call has its own ID.
func TestTurns(t *testing.T) {
	t.Parallel()
	m, s := serve(t, nil,
		stub.Reply{Thinking: "I need <it>.", ToolCalls: []stub.ToolCall{{Name: "weather", Arguments: `{"city":"Oslo"}`}}},
		stub.Reply{ToolCalls: []stub.ToolCall{{Name: "weather", Arguments: `{"city":"Moss"}`}}},
		stub.Reply{Text: "Rain."})
	conversation := ask("Where does it rain?")
	for range 2 {
		response, err := m.GenerateContent(t.Context(), conversation, weather())
		if err != nil {
			t.Fatal(err)
		}
		saved, err := json.Marshal(response.Choices[0].GenerationInfo[lm.MessageKey])
		if err != nil {
			t.Fatal(err)
		}
		var reply lm.Message
		if err := json.Unmarshal(saved, &reply); err != nil {
			t.Fatal(err)
		}
		c := response.Choices[0].ToolCalls[0]
		conversation = append(conversation, message(llms.ChatMessageTypeAI, reply, c), message(llms.ChatMessageTypeTool,
			llms.ToolCallResponse{ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: "rain"}))
	}
	if _, err := m.GenerateContent(t.Context(), conversation, weather()); err != nil {
		t.Fatal(err)
	}
	same(t, s.Requests()[2].Body["messages"], json.RawMessage(`[
		{"role": "user", "content": "Where does it rain?"},
		{"role": "assistant", "content": "", "thinking": "I need <it>.", "tool_calls": [
			{"id": "call_1", "function": {"index": 0, "name": "weather", "arguments": {"city": "Oslo"}}}]},
		{"role": "tool", "tool_name": "weather", "tool_call_id": "call_1", "content": "rain"},
		{"role": "assistant", "content": "", "tool_calls": [
			{"id": "call_2", "function": {"index": 0, "name": "weather", "arguments": {"city": "Moss"}}}]},
		{"role": "tool", "tool_name": "weather", "tool_call_id": "call_2", "content": "rain"}
	]`))
}

func TestThink(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		params lm.Params
		want   string // the value of "think"
	}{
		"nothing asked": {lm.Params{}, `null`},
		"none":          {lm.Params{Effort: "none"}, `false`},
		"minimal":       {lm.Params{Effort: "minimal"}, `"low"`},
		"high":          {lm.Params{Effort: "high", ThinkingTokens: 1}, `"high"`},
		"tokens":        {lm.Params{ThinkingTokens: 1}, `true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := serve(t, nil, stub.Reply{Text: "Hello."})
			if _, err := m.GenerateContent(lm.WithParams(t.Context(), test.params), ask("?")); err != nil {
				t.Fatal(err)
			}
			requests := s.Requests()
			same(t, requests[len(requests)-1].Body["think"], json.RawMessage(test.want))
		})
	}
}

func TestExtra(t *testing.T) {
	t.Parallel()
	s := stub.Ollama(&stub.Options{Key: "a key"}, stub.Reply{Text: "Hello."})
	m := connect(t, s, &wire.Options{Key: "a key", Context: 8000, MaxTokens: 5,
		Extra: map[string]any{"keep_alive": "1h", "shift": nil, "options": map[string]any{"min_p": 0.1}}})
	if _, err := m.Call(t.Context(), "?"); err != nil {
		t.Fatal(err)
	}
	same(t, s.Requests()[0].Body, json.RawMessage(`{
		"model": "qwen3", "stream": false, "truncate": false, "keep_alive": "1h",
		"options": {"num_ctx": 8000, "num_predict": 5, "min_p": 0.1},
		"messages": [{"role": "user", "content": "?"}]
	}`))
}

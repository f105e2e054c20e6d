package anthropic_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/wire"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	s := stub.Anthropic(nil, stub.Reply{Text: "Hello."})
	m := connect(t, s, nil)
	ctx := lm.WithParams(t.Context(), lm.Params{CacheSystem: true})
	_, err := m.GenerateContent(ctx, []llms.MessageContent{
		message(llms.ChatMessageTypeSystem, llms.TextPart("Be brief."), llms.TextPart("Be right.")),
		message(llms.ChatMessageTypeHuman, llms.TextPart("Look."),
			llms.BinaryPart("image/png", []byte("png")), llms.BinaryPart("application/pdf", []byte("pdf")),
			llms.BinaryPart("text/csv; charset=utf-8", []byte("a,b")), llms.ImageURLPart("https://example.com/a.jpg"),
			llms.ImageURLPart("https://example.com/a.PDF?x=1")),
		message(llms.ChatMessageTypeAI,
			lm.Message{TextContent: llms.TextPart("I call."), Provider: "openai", Raw: json.RawMessage(`{}`)},
			call("t1", "weather", `{"city":"Oslo"}`), call("t2", "weather", `{"city":`)),
		message(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: "t1", Name: "weather", Content: "rain"}),
		message(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: "t2", Name: "weather"}),
		message(llms.ChatMessageTypeHuman, llms.TextPart("And now?"), llms.TextPart("")),
		message(llms.ChatMessageTypeAI, llms.TextPart("")),
		message(llms.ChatMessageTypeHuman, llms.TextPart("Well?")),
	}, weather(), llms.WithToolChoice("auto"), llms.WithStopWords([]string{"END"}), llms.WithMaxTokens(50),
		llms.WithTemperature(0), llms.WithTopP(0.5), llms.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Requests()[0].Body, json.RawMessage(wantRequest))
}

const wantRequest = `{
	"model": "claude-haiku-4-5", "max_tokens": 50, "stop_sequences": ["END"], "temperature": 0,
	"system": [
		{"type": "text", "text": "Be brief."},
		{"type": "text", "text": "Be right.", "cache_control": {"type": "ephemeral"}}
	],
	"tool_choice": {"type": "auto"},
	"tools": [{
		"name": "weather", "description": "The weather in a city.", "cache_control": {"type": "ephemeral"},
		"input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}
	}],
	"messages": [
		{"role": "user", "content": [
			{"type": "text", "text": "Look."},
			{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
			{"type": "document", "title": "attachment 2",
				"source": {"type": "base64", "media_type": "application/pdf", "data": "cGRm"}},
			{"type": "document", "title": "attachment 3",
				"source": {"type": "text", "media_type": "text/plain", "data": "a,b"}},
			{"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}},
			{"type": "document", "title": "attachment 5",
				"source": {"type": "url", "url": "https://example.com/a.PDF?x=1"}}
		]},
		{"role": "assistant", "content": [
			{"type": "text", "text": "I call."},
			{"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}},
			{"type": "tool_use", "id": "t2", "name": "weather", "input": {}}
		]},
		{"role": "user", "content": [
			{"type": "tool_result", "tool_use_id": "t1", "content": "rain"},
			{"type": "tool_result", "tool_use_id": "t2", "content": ""},
			{"type": "text", "text": "And now?"},
			{"type": "text", "text": "Well?"}
		]}
	]
}`

func TestToolChoice(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		choice any
		want   string
	}{
		"none given": {nil, `null`},
		"auto":       {"auto", `{"type": "auto"}`},
		"none":       {"none", `{"type": "none"}`},
		"required":   {"required", `{"type": "any"}`},
		"one": {llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "weather"}},
			`{"type": "tool", "name": "weather"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := serve(t, nil, stub.Reply{Text: "Hello."})
			if _, err := m.GenerateContent(t.Context(), ask("?"), weather(), llms.WithToolChoice(test.choice)); err != nil {
				t.Fatal(err)
			}
			same(t, s.Requests()[0].Body["tool_choice"], json.RawMessage(test.want))
		})
	}
}

// TestGenerations checks what depends on the generation of the model.
func TestGenerations(t *testing.T) {
	t.Parallel()
	cool := llms.WithTemperature(0.5)
	for name, test := range map[string]struct {
		model   string
		params  lm.Params
		options []llms.CallOption
		want    string // without the model and the messages
	}{
		"current":          {"claude-sonnet-5", lm.Params{}, nil, `{"max_tokens": 16000}`},
		"current and cool": {"claude-sonnet-5-5", lm.Params{}, []llms.CallOption{cool}, `{"max_tokens": 16000}`},
		"adaptive and cool": {"claude-opus-4-6", lm.Params{}, []llms.CallOption{cool},
			`{"max_tokens": 16000, "temperature": 0.5}`},
		"top p": {budgeted, lm.Params{}, []llms.CallOption{llms.WithTopP(0.5)},
			`{"max_tokens": 16000, "top_p": 0.5}`},
		"without a version":  {"claude-mythos-preview", lm.Params{}, nil, `{"max_tokens": 16000}`},
		"Claude 4":           {"claude-opus-4-20250514", lm.Params{}, nil, `{"max_tokens": 16000}`},
		"of another service": {"anthropic/claude-opus-4.8", lm.Params{}, []llms.CallOption{cool}, `{"max_tokens": 16000}`},
		"budget": {budgeted, lm.Params{ThinkingTokens: 4000}, []llms.CallOption{cool},
			`{"max_tokens": 20000, "thinking": {"type": "enabled", "budget_tokens": 4000}}`},
		"least budget": {budgeted, lm.Params{ThinkingTokens: 1}, nil,
			`{"max_tokens": 17024, "thinking": {"type": "enabled", "budget_tokens": 1024}}`},
		"budget for an effort": {budgeted, lm.Params{Effort: "medium"}, nil,
			`{"max_tokens": 24192, "thinking": {"type": "enabled", "budget_tokens": 8192}}`},
		"no effort": {budgeted, lm.Params{Effort: "none", ThinkingTokens: 4000}, nil, `{"max_tokens": 16000}`},
		"adaptive effort": {"claude-opus-4-6", lm.Params{Effort: "max"}, []llms.CallOption{cool},
			`{"max_tokens": 16000, "thinking": {"type": "adaptive", "display": "summarized"},
				"output_config": {"effort": "max"}}`},
		"adaptive budget": {"claude-opus-5", lm.Params{ThinkingTokens: 4000}, nil,
			`{"max_tokens": 20000, "thinking": {"type": "adaptive", "display": "summarized"}}`},
		"minimal adaptive effort": {"claude-opus-5", lm.Params{Effort: "minimal"}, nil,
			`{"max_tokens": 16000, "thinking": {"type": "adaptive", "display": "summarized"},
				"output_config": {"effort": "low"}}`},
		"no adaptive effort": {"claude-opus-5", lm.Params{Effort: "none"}, nil,
			`{"max_tokens": 16000, "output_config": {"effort": "low"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stub.Anthropic(nil, stub.Reply{Text: "Hello."})
			server := httptest.NewServer(s)
			defer server.Close()
			m, err := anthropic.New(test.model, &wire.Options{Key: "test-key", BaseURL: server.URL + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.GenerateContent(lm.WithParams(t.Context(), test.params), ask("?"), test.options...); err != nil {
				t.Fatal(err)
			}
			body := s.Requests()[0].Body
			delete(body, "model")
			delete(body, "messages")
			same(t, body, json.RawMessage(test.want))
		})
	}
}

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		message llms.MessageContent
		want    string
	}{
		"binary": {message(llms.ChatMessageTypeHuman, llms.BinaryPart("audio/mpeg", []byte{0xff})),
			`the model: attachment 1 is of type "audio/mpeg", which Claude does not read; send an image, a PDF or text`},
		"system": {message(llms.ChatMessageTypeSystem, llms.BinaryPart("image/png", nil)),
			"the model: a system message may have only text; move attachments to a human message"},
		"raw": {message(llms.ChatMessageTypeAI, lm.Message{Provider: "anthropic", Raw: json.RawMessage("{}")}),
			"the model: the earlier reply in the conversation is not an array of content blocks: " +
				"json: cannot unmarshal object into Go value of type []json.RawMessage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s := serve(t, nil)
			_, err := m.GenerateContent(t.Context(), []llms.MessageContent{test.message})
			checkError(t, err, lm.Error{Kind: lm.KindInvalid}, test.want)
			if len(s.Requests()) > 0 {
				t.Error("a request was made")
			}
		})
	}
}

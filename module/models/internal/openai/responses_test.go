package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// serveResponses returns a model whose requests a stub of the Responses API answers.
func serveResponses(t *testing.T, model string, o wire.Options, server *stub.Server) *Responses {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	o.Dialect, o.BaseURL, o.Client = cmp.Or(o.Dialect, "openai-responses"), s.URL, s.Client()
	o.Key = "test-key"
	m, err := NewResponses(model, &o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// replied generates one choice and returns it.
func replied(t *testing.T, m llms.Model, messages []llms.MessageContent,
	options ...llms.CallOption) *llms.ContentChoice {
	t.Helper()
	response, err := m.GenerateContent(t.Context(), messages, options...)
	if err != nil {
		t.Fatal(err)
	}
	return response.Choices[0]
}

// TestResponsesReply compares replies, streamed and not streamed.
func TestResponsesReply(t *testing.T) {
	t.Parallel()
	look := llms.ToolCall{ID: "call_1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "look",
		Arguments: `{"city":"Zürich","days":[1,2,3]}`}}
	tests := []struct {
		name  string
		reply stub.Reply
		want  llms.ContentChoice
		raw   string
		told  string
	}{
		{"text", stub.Reply{Text: "Hello, <world>."}, llms.ContentChoice{Content: "Hello, <world>.",
			StopReason: "completed"},
			`[{"id":"msg_1","type":"message","role":"assistant","status":"completed",` +
				`"content":[{"type":"output_text","text":"Hello, <world>.","annotations":[]}]}]`, "Hello, |<world>|."},
		{"reasoning and a call", stub.Reply{Thinking: "Well, now.", ToolCalls: []stub.ToolCall{
			{Name: "look", Arguments: look.FunctionCall.Arguments}}},
			llms.ContentChoice{ReasoningContent: "Well, now.", StopReason: "completed",
				ToolCalls: []llms.ToolCall{look}},
			`[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Well, now."}],` +
				`"encrypted_content":"DWloTWxIECTBwCQeEIqMmAq0N2hYw0dyEkrUNhnXm7I="},{"id":"fc_1_0-rs_1",` +
				`"type":"function_call",` +
				`"call_id":"call_1","name":"look","arguments":"{\"city\":\"Zürich\",\"days\":[1,2,3]}",` +
				`"status":"completed"}]`,
			"(Well, n)|(ow.)"},
		{"no arguments", stub.Reply{ToolCalls: []stub.ToolCall{{ID: "a", Name: "now"}}},
			llms.ContentChoice{StopReason: "completed", ToolCalls: []llms.ToolCall{{ID: "a", Type: "function",
				FunctionCall: &llms.FunctionCall{Name: "now", Arguments: "{}"}}}},
			`[{"id":"fc_1_0","type":"function_call","call_id":"a","name":"now","arguments":"",` +
				`"status":"completed"}]`, ""},
		{"truncated", stub.Reply{Text: "It is", Truncate: true},
			llms.ContentChoice{Content: "It is", StopReason: "max_output_tokens"}, `[{"id":"msg_1","type":"message",` +
				`"role":"assistant","status":"completed","content":[{"type":"output_text","text":"It is",` +
				`"annotations":[]}]}]`,
			"It is"},
		{"refusal", stub.Reply{Refusal: "I cannot help."},
			llms.ContentChoice{Content: "I cannot help.", StopReason: "refusal"}, `[{"id":"msg_1","type":"message",` +
				`"role":"assistant","status":"completed","content":[{"type":"refusal","refusal":"I cannot ` +
				`help."}]}]`, ""},
	}
	for _, test := range tests {
		for _, stream := range []bool{false, true} {
			t.Run(test.name+map[bool]string{true: ", streamed"}[stream], func(t *testing.T) {
				t.Parallel()
				var told []string
				var options []llms.CallOption
				if stream {
					options = streamed(&told)
				}
				scripted := test.reply
				scripted.CachedTokens, scripted.ReasoningTokens = 64, 5
				got := *replied(t, serveResponses(t, "gpt-5.1", wire.Options{}, stub.Responses(nil, scripted)),
					question, options...)
				message, _ := got.GenerationInfo[lm.MessageKey].(*lm.Message)
				same(t, "raw", decoded(t, `{"raw":`+string(message.Raw)+`}`), decoded(t, `{"raw":`+test.raw+`}`))
				same(t, "provider and text", []string{message.Provider, message.Text},
					[]string{"openai-responses", test.want.Content})
				delete(got.GenerationInfo, lm.MessageKey)
				same(t, "info", got.GenerationInfo, map[string]any{
					"PromptTokens": 100, "CompletionTokens": 20, "TotalTokens": 120, "ReasoningTokens": 5,
					"PromptCachedTokens": 64, "CacheCreationInputTokens": 0, lm.ModelKey: "gpt-5.1", lm.IDKey: "resp_1",
				})
				got.GenerationInfo = nil
				same(t, "choice", got, test.want)
				if stream {
					same(t, "streamed", strings.Join(told, "|"), test.told)
				}
			})
		}
	}
}

// TestResponsesTurns sends replies back, with the reasoning that came before each. The stub refuses a conversation
// without it.
func TestResponsesTurns(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		server := stub.Responses(nil,
			stub.Reply{Thinking: "Hm.", Text: "I look.", ToolCalls: []stub.ToolCall{{Name: "f"}, {Name: "g",
				Arguments: `{"x":1}`}}},
			stub.Reply{Thinking: "So.", Text: "Done."}, stub.Reply{Text: "Bye."})
		m := serveResponses(t, "gpt-5.1", wire.Options{}, server)
		var told []string
		var options []llms.CallOption
		if stream {
			options = streamed(&told)
		}
		messages := append([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Be", "brief.")},
			question...)
		first := replied(t, m, messages, options...)
		messages = append(messages, turn(first), llms.MessageContent{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: "call_1", Name: "f", Content: "1"},
				llms.ToolCallResponse{ToolCallID: "call_2", Name: "g", Content: "2"},
			}})
		second := replied(t, m, messages, options...)
		messages = append(messages, turn(second), llms.TextParts(llms.ChatMessageTypeHuman, "Thanks."))
		same(t, "last", replied(t, m, messages, options...).Content, "Bye.")
		body := sent(t, server)
		same(t, "stored", body["store"], false)
		var kinds []string
		for _, item := range body["input"].([]any) {
			fields := item.(map[string]any)
			kinds = append(kinds, fmt.Sprint(cmp.Or(fields["type"], fields["role"])))
		}
		same(t, "items", strings.Join(kinds, " "), "system user reasoning message function_call function_call "+
			"function_call_output function_call_output reasoning message user")
		if server.Requests()[2].N != 3 {
			t.Errorf("%d requests", len(server.Requests()))
		}
	}
}

// Models without reasoning refuse to encrypt it, which is found out once. Reasoning from another account is left out.
func TestResponsesWithoutReasoning(t *testing.T) {
	t.Parallel()
	ada := stub.Reply{Text: `{"a":"Ada"}`}
	server := stub.Responses(nil, ada, ada, ada)
	m := serveResponses(t, "gpt-4.1", wire.Options{}, server)
	schema := `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	loose := `{"type":"object","properties":{"a":{"type":"string"}}}`
	for _, s := range []string{schema, schema, loose} {
		ctx := lm.WithParams(t.Context(), lm.Params{Schema: json.RawMessage(s)})
		if text, err := m.Call(ctx, "Name?"); err != nil || text != ada.Text {
			t.Errorf("%s, %v", text, err)
		}
	}
	line := ""
	for _, r := range server.Requests() {
		line += map[bool]string{true: "reasoning", false: "plain"}[r.Body["include"] != nil] +
			map[bool]string{true: "+schema ", false: " "}[r.Body["text"] != nil]
	}
	same(t, "requests", line, "reasoning+schema plain+schema plain+schema plain+schema plain ")

	server = stub.Responses(nil, ada, ada)
	m = serveResponses(t, "gpt-5.1", wire.Options{}, server)
	said := lm.Message{TextContent: llms.TextPart("Hi."), Provider: "openai-responses", Raw: json.RawMessage(
		`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"of another account"},` +
			`{"type":"message","id":"msg_1-rs_1","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}]`)}
	talk := append(slices.Clone(question), llms.MessageContent{Role: llms.ChatMessageTypeAI,
		Parts: []llms.ContentPart{said}})
	same(t, "reply", replied(t, m, talk).Content, ada.Text)
	same(t, "reply", replied(t, m, question).Content, ada.Text)
	line = ""
	for _, r := range server.Requests() {
		line += map[bool]string{true: "reasoning ", false: "plain "}[r.Body["include"] != nil]
	}
	same(t, "requests", line, "reasoning plain reasoning ")
}

// TestReturned checks which items of a reply are sent back.
func TestReturned(t *testing.T) {
	t.Parallel()
	const (
		empty   = `{"type":"reasoning","id":"rs_0","summary":[]}`
		open    = `{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}`
		sealed  = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"x"}`
		message = `{"type":"message","id":"msg_1","phase":"commentary","role":"assistant","content":[],` +
			`"status":"completed"}`
		lost   = `{"content":[],"phase":"commentary","role":"assistant","status":"completed","type":"message"}`
		search = `{"type":"web_search_call","id":"ws_1","arguments":{},"content":{}}`
	)
	list := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	for _, test := range []struct {
		in    string
		plain bool
		want  string
	}{
		{list(sealed, message), false, list(sealed, message)},
		{list(sealed, message), true, list(lost)},
		{list(open, message), false, list(open, message)},
		{list(empty, message, sealed, message), false, list(lost, sealed, message)},
		{list(sealed, sealed, message), false, list(sealed, message)},
		{list(message, sealed), false, list(message)},
		{list(sealed, search, message), false, list(sealed, search, message)},
		{list(), false, "null"},
		{`{}`, false, "the earlier reply in the conversation is not a list of items; remove it"},
		{`[1]`, false, "item 1 of the earlier reply in the conversation is malformed: " +
			"json: cannot unmarshal number into Go value of type struct { Type string }"},
	} {
		items, err := returned(json.RawMessage(test.in), test.plain)
		got := shown(items)
		if err != nil {
			got = err.Error()
		}
		same(t, test.in, got, test.want)
	}
}

func TestResponsesInput(t *testing.T) {
	t.Parallel()
	m, err := NewResponses("m", &wire.Options{Dialect: "openai-responses", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	chat := lm.Message{TextContent: llms.TextPart("Hm."), Provider: "openai", Raw: json.RawMessage(`{}`)}
	message := func(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: role, Parts: parts}
	}
	call := llms.ToolCall{ID: "a", FunctionCall: &llms.FunctionCall{Name: "f"}}
	for _, test := range []struct {
		name string
		in   llms.MessageContent
		want string // JSON, or an error
	}{
		{"media", message("human", llms.TextPart("See:"), llms.BinaryPart("image/png", []byte("p")),
			llms.ImageURLWithDetailPart("https://x.example/i", "low"), llms.BinaryPart("application/pdf", []byte("f"))),
			`[{"content":[{"text":"See:","type":"input_text"},` +
				`{"detail":"auto","image_url":"data:image/png;base64,cA==","type":"input_image"},` +
				`{"detail":"low","image_url":"https://x.example/i","type":"input_image"},` +
				`{"file_data":"data:application/pdf;base64,Zg==","filename":"attachment-4.pdf","type":"input_file"}],` +
				`"role":"user"}]`},
		{"audio", message("human", llms.BinaryPart("audio/mpeg", []byte("a"))),
			"the model: message 1 (human): OpenAI's Responses API does not take audio; use chat completions"},
		{"of chat completions", message("ai", chat, call), `[{"content":"Hm.","role":"assistant"},` +
			`{"arguments":"{}","call_id":"a","name":"f","type":"function_call"}]`},
		{"only a call", message("ai", call), `[{"arguments":"{}","call_id":"a","name":"f","type":"function_call"}]`},
		{"of nobody", message("ai", lm.Message{TextContent: llms.TextPart("Hm."), Raw: json.RawMessage(`{}`)}),
			`[{"content":"Hm.","role":"assistant"}]`},
		{"results", message("tool", llms.ToolCallResponse{ToolCallID: "a", Content: "1"},
			llms.ToolCallResponse{ToolCallID: "b", Content: ""}),
			`[{"call_id":"a","output":"1","type":"function_call_output"},` +
				`{"call_id":"b","output":"","type":"function_call_output"}]`},
		{"a reply as a question", message("human", lm.Message{Provider: "openai-responses",
			Raw: json.RawMessage(`[]`)}),
			"the model: message 1 (human): a part of type lm.Message is not allowed in this message; move it to " +
				"a message " +
				"with the role for that type"},
		{"misplaced", message("tool", llms.TextPart("x")), "the model: message 1 (tool): a part of type " +
			"llms.TextContent " +
			"is not allowed in this message; move it to a message with the role for that type"},
	} {
		got, err := m.input([]llms.MessageContent{test.in}, false)
		if text := shown(got); err == nil && text != test.want || err != nil && err.Error() != test.want {
			t.Errorf("%s: %s, %v\nwant %s", test.name, text, err, test.want)
		}
	}
}

func TestResponsesRequest(t *testing.T) {
	t.Parallel()
	tools := []llms.Tool{
		{Type: "function", Function: &llms.FunctionDefinition{Name: "f", Description: "does"}},
		{Type: "function", Function: &llms.FunctionDefinition{Name: "g", Strict: true, Parameters: json.RawMessage(
			`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)}},
	}
	for _, test := range []struct {
		name    string
		options wire.Options
		params  lm.Params
		call    []llms.CallOption
		want    string // JSON, or an error
	}{
		{"plain", wire.Options{}, lm.Params{}, nil, `{}`},
		{"all", wire.Options{MaxTokens: 50}, lm.Params{Effort: "high", ThinkingTokens: 9, CacheSystem: true},
			[]llms.CallOption{
				llms.WithMaxTokens(70), llms.WithTemperature(0), llms.WithTopP(0.5), llms.WithTools(tools),
				llms.WithToolChoice(llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "f"}}),
				llms.WithJSONMode(), llms.WithModel("gpt-5.2"), llms.WithSeed(3),
			}, `{"model":"gpt-5.2","max_output_tokens":70,"temperature":0,"top_p":0.5,"reasoning":{"effort":"high"},
			"tools":[{"type":"function","name":"f","description":"does","strict":false,"parameters":{"type":"object"}},
				{"type":"function","name":"g","description":"","strict":true,
				"parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false}}],
			"tool_choice":{"type":"function","name":"f"},"text":{"format":{"type":"json_object"}}}`},
		{"extra", wire.Options{MaxTokens: 50, Extra: map[string]any{"reasoning": map[string]any{"summary": "auto"}}},
			lm.Params{Effort: "low"}, []llms.CallOption{llms.WithTools(tools[:1]), llms.WithToolChoice("required")},
			`{"max_output_tokens":50,"reasoning":{"effort":"low","summary":"auto"},"tool_choice":"required",
			"tools":[{"type":"function","name":"f","description":"does","strict":false,
				"parameters":{"type":"object"}}]}`},
		{"stop words", wire.Options{}, lm.Params{}, []llms.CallOption{llms.WithStopWords([]string{"x"})},
			`the model: OpenAI's Responses API has no "stop"; leave it out, or use chat completions`},
		{"choices", wire.Options{}, lm.Params{}, []llms.CallOption{llms.WithN(2)},
			`the model: OpenAI's Responses API has no "n"; leave it out, or use chat completions`},
		{"a nameless tool", wire.Options{}, lm.Params{}, []llms.CallOption{llms.WithTools(make([]llms.Tool, 1))},
			"the model: tool 1 has no function with a name; set Tool.Function"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := stub.Responses(nil, stub.Reply{Text: "ok"})
			m := serveResponses(t, "gpt-5.1", test.options, server)
			_, err := m.GenerateContent(lm.WithParams(t.Context(), test.params), question, test.call...)
			if err != nil {
				same(t, "error", err.Error(), test.want)
				return
			}
			want := decoded(t, test.want)
			want["input"] = []any{map[string]any{"role": "user", "content": "Hi."}}
			want["store"], want["include"] = false, []any{"reasoning.encrypted_content"}
			if want["model"] == nil {
				want["model"] = "gpt-5.1"
			}
			same(t, "request", sent(t, server), want)
		})
	}
}

package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// serve returns a model whose requests a stub answers.
func serve(t *testing.T, o *wire.Options, server *stub.Server) *Model {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	with := wire.Options{}
	if o != nil {
		with = *o
	}
	if with.Key == "" {
		with.Key = "test-key"
	}
	with.Dialect, with.BaseURL, with.Client = cmp.Or(with.Dialect, "openai"), s.URL, s.Client()
	m, err := New("gpt-5.1", &with)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// streamed returns options that append each chunk to told.
func streamed(told *[]string) []llms.CallOption {
	return []llms.CallOption{
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			*told = append(*told, string(chunk))
			return nil
		}),
		llms.WithStreamingReasoningFunc(func(_ context.Context, thought, chunk []byte) error {
			*told = append(*told, "("+string(thought)+")"+string(chunk))
			return nil
		}),
	}
}

var question = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hi.")}

// reply generates one choice and returns it.
func reply(t *testing.T, m *Model, messages []llms.MessageContent, options ...llms.CallOption) *llms.ContentChoice {
	t.Helper()
	response, err := m.GenerateContent(t.Context(), messages, options...)
	if err != nil {
		t.Fatal(err)
	}
	if len(response.Choices) != 1 {
		t.Fatalf("%d choices", len(response.Choices))
	}
	return response.Choices[0]
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%v\nwant\n%v", what, shown(got), shown(want))
	}
}

func shown(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// sent returns the body of the last request.
func sent(t *testing.T, server *stub.Server) map[string]any {
	t.Helper()
	requests := server.Requests()
	return requests[len(requests)-1].Body
}

// decoded decodes a JSON object.
func decoded(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestReply compares replies, streamed and not streamed.
func TestReply(t *testing.T) {
	t.Parallel()
	weather := stub.ToolCall{ID: "call_1", Name: "weather", Arguments: `{"city":"Zürich","days":[1,2,3]}`}
	clock := stub.ToolCall{ID: "call_2", Name: "clock", Arguments: `{"zone":"Europe/Zurich"}`}
	none := stub.ToolCall{ID: "call_3", Name: "now"}
	call := func(id, name, arguments string) llms.ToolCall {
		return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name,
			Arguments: arguments}}
	}
	tests := []struct {
		name  string
		reply stub.Reply
		want  llms.ContentChoice
		raw   string
		told  string
	}{
		{"text", stub.Reply{Text: "Hello, <world> & äöü."}, llms.ContentChoice{Content: "Hello, <world> & äöü.",
			StopReason: "stop"},
			`{"role":"assistant","content":"Hello, <world> & äöü."}`, "Hello, |<world>| & äöü."},
		{"empty", stub.Reply{}, llms.ContentChoice{StopReason: "stop"}, `{"role":"assistant","content":""}`, ""},
		{"thinking", stub.Reply{Thinking: "Well, now.", Text: "Yes."},
			llms.ContentChoice{Content: "Yes.", ReasoningContent: "Well, now.", StopReason: "stop"},
			`{"role":"assistant","content":"Yes.","reasoning_content":"Well, now."}`, "(Well, n)|(ow.)|Yes."},
		{"several tool calls", stub.Reply{Text: "Let me see.", ToolCalls: []stub.ToolCall{weather, clock, none}},
			llms.ContentChoice{Content: "Let me see.", StopReason: "tool_calls", ToolCalls: []llms.ToolCall{
				call("call_1", "weather", weather.Arguments), call("call_2", "clock", clock.Arguments), call("call_3",
					"now", "{}")}},
			`{"role":"assistant","content":"Let me see.","tool_calls":[
			{"id":"call_1","type":"function",
			 "function":{"name":"weather","arguments":"{\"city\":\"Zürich\",\"days\":[1,2,3]}"}},
			{"id":"call_2","type":"function","function":{"name":"clock","arguments":"{\"zone\":\"Europe/Zurich\"}"}},
			{"id":"call_3","type":"function","function":{"name":"now","arguments":""}}]}`, "Let me |see."},
		{"thought signature", stub.Reply{ToolCalls: []stub.ToolCall{{ID: "a", Name: "f", Arguments: "{}",
			Extra: map[string]any{"extra_content": map[string]any{"google": map[string]any{"thought_signature": "Es=="}}}}}},
			llms.ContentChoice{StopReason: "tool_calls", ToolCalls: []llms.ToolCall{call("a", "f", "{}")}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",
			"extra_content":{"google":{"thought_signature":"Es=="}},"function":{"name":"f","arguments":"{}"}}]}`, ""},
		{"refusal", stub.Reply{Refusal: "I cannot help."}, llms.ContentChoice{Content: "I cannot help.",
			StopReason: "refusal"},
			`{"role":"assistant","content":null,"refusal":"I cannot help."}`, ""},
	}
	for _, test := range tests {
		for _, stream := range []bool{false, true} {
			t.Run(test.name+map[bool]string{true: ", streamed"}[stream], func(t *testing.T) {
				t.Parallel()
				var told []string
				var options []llms.CallOption
				scripted := test.reply
				scripted.CachedTokens, scripted.ReasoningTokens = 64, 5
				if stream {
					options = streamed(&told)
				}
				got := *reply(t, serve(t, nil, stub.OpenAI(nil, scripted)), question, options...)
				message, _ := got.GenerationInfo[lm.MessageKey].(*lm.Message)
				raw := decoded(t, string(message.Raw))
				if raw["refusal"] == nil {
					delete(raw, "refusal")
				}
				delete(raw, "annotations")
				same(t, "raw message", raw, decoded(t, test.raw))
				same(t, "provider", message.Provider, "openai")
				same(t, "text of the message", message.Text, test.want.Content)
				delete(got.GenerationInfo, lm.MessageKey)
				same(t, "info", got.GenerationInfo, map[string]any{
					"PromptTokens": 100, "CompletionTokens": 20, "TotalTokens": 120, "ReasoningTokens": 5,
					"PromptCachedTokens": 64, "CacheCreationInputTokens": 0, lm.ModelKey: "gpt-5.1",
					lm.IDKey: "chatcmpl-1",
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

// TestAsk checks what package lm returns for replies that are not answers.
func TestAsk(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, stub.OpenAI(nil, stub.Reply{Refusal: "I cannot help."}, stub.Reply{Text: "It is",
		Truncate: true, CachedTokens: 7}))
	_, err := lm.Ask(t.Context(), m, lm.Call{}, question)
	if e, ok := errors.AsType[*lm.Error](err); !ok || e.Kind != lm.KindRefused {
		t.Errorf("error %v", err)
	}
	r, err := lm.Ask(t.Context(), m, lm.Call{}, question)
	if err != nil || !r.Truncated {
		t.Errorf("reply %+v, %v", r, err)
	}
	same(t, "usage", r.Usage, lm.Usage{Input: 100, Output: 20, CachedInput: 7})
	same(t, "model", r.Model, "gpt-5.1")
}

// TestTurns sends replies back, with the results of the tools that they called.
func TestTurns(t *testing.T) {
	t.Parallel()
	signed := stub.ToolCall{ID: "a", Name: "f", Arguments: "{}", Extra: map[string]any{"extra_content": "signature"}}
	for _, stream := range []bool{false, true} {
		server := stub.OpenAI(&stub.Options{Fields: []string{"reasoning_content", "max_tokens"}},
			stub.Reply{Thinking: "Hm.", ToolCalls: []stub.ToolCall{signed, {ID: "b", Name: "g", Arguments: `{"x":1}`}}},
			stub.Reply{Thinking: "So.", Text: "Done."}, stub.Reply{Text: "Bye."})
		m := serve(t, &wire.Options{Dialect: "deepseek"}, server)
		var told []string
		var options []llms.CallOption
		if stream {
			options = streamed(&told)
		}
		messages := append([]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Be", "brief.")},
			question...)
		first := reply(t, m, messages, options...)
		messages = append(messages, turn(first), llms.MessageContent{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: "a", Name: "f", Content: "1"},
				llms.ToolCallResponse{ToolCallID: "b", Name: "g", Content: "2"},
			}})
		second := reply(t, m, messages, options...)
		messages = append(messages, turn(second), llms.TextParts(llms.ChatMessageTypeHuman, "Thanks."))
		same(t, "last", reply(t, m, messages, options...).Content, "Bye.")
		list := sent(t, server)["messages"].([]any)
		for _, item := range list {
			for name, value := range item.(map[string]any) {
				if value == nil || name == "annotations" {
					delete(item.(map[string]any), name)
				}
			}
		}
		same(t, "messages", map[string]any{"messages": list}, decoded(t, `{"messages":[
			{"role":"system","content":"Be\nbrief."}, {"role":"user","content":"Hi."},
			{"role":"assistant","reasoning_content":"Hm.","tool_calls":[
				{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":"signature"},
				{"id":"b","type":"function","function":{"name":"g","arguments":"{\"x\":1}"}}]},
			{"role":"tool","tool_call_id":"a","content":"1"}, {"role":"tool","tool_call_id":"b","content":"2"},
			{"role":"assistant","reasoning_content":"So.","content":"Done."}, {"role":"user","content":"Thanks."}]}`))
	}
}

// turn returns the message that repeats a reply in the next turn.
func turn(c *llms.ContentChoice) llms.MessageContent {
	parts := []llms.ContentPart{*c.GenerationInfo[lm.MessageKey].(*lm.Message)}
	for _, call := range c.ToolCalls {
		parts = append(parts, call)
	}
	return llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	m, err := New("m", &wire.Options{Dialect: "openai", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	other := lm.Message{TextContent: llms.TextPart("Hm."), Provider: "anthropic", Raw: json.RawMessage(`[]`)}
	message := func(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: role, Parts: parts}
	}
	tests := []struct {
		name string
		in   llms.MessageContent
		want string // JSON, or an error
	}{
		{"media", message("human", llms.TextPart("See:"), llms.BinaryPart("image/png", []byte("p")),
			llms.ImageURLWithDetailPart("https://x.example/i", "low"), llms.BinaryPart("audio/mpeg", []byte("a")),
			llms.BinaryPart("audio/x-wav", []byte("a")),
			llms.BinaryPart("application/pdf", []byte("f")), llms.BinaryPart("text/csv; charset=utf-8", []byte("a,b"))),
			`[{"content":[{"text":"See:","type":"text"},{"image_url":{"url":"data:image/png;base64,cA=="},` +
				`"type":"image_url"},` +
				`{"image_url":{"detail":"low","url":"https://x.example/i"},"type":"image_url"},` +
				`{"input_audio":{"data":"YQ==","format":"mp3"},"type":"input_audio"},` +
				`{"input_audio":{"data":"YQ==","format":"wav"},"type":"input_audio"},` +
				`{"file":{"file_data":"data:application/pdf;base64,Zg==","filename":"attachment-6.pdf"},` +
				`"type":"file"},` +
				`{"text":"attachment 7:\na,b","type":"text"}],"role":"user"}]`},
		{"of another provider", message("ai", other, llms.ToolCall{ID: "a",
			FunctionCall: &llms.FunctionCall{Name: "f", Arguments: "{}"}}),
			`[{"content":"Hm.","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},` +
				`"id":"a","type":"function"}]}]`},
		{"only calls", message("ai", llms.ToolCall{ID: "a", FunctionCall: &llms.FunctionCall{Name: "f"}}),
			`[{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"","name":"f"},"id":"a",` +
				`"type":"function"}]}]`},
		{"role", message("function", llms.TextPart("x")),
			"the model: message 1 (function): the role is not supported; use system, human, ai or tool"},
		{"misplaced", message("tool", llms.TextPart("x")),
			"the model: message 1 (tool): a part of type llms.TextContent is not allowed in this message; move it to a " +
				"message with the role for that type"},
		{"no function", message("ai", llms.ToolCall{ID: "a"}),
			`the model: message 1 (ai): the tool call "a" has no function; set ToolCall.FunctionCall`},
	}
	for _, test := range tests {
		got, err := m.messages([]llms.MessageContent{test.in})
		if text := shown(got); err == nil && text != test.want || err != nil && err.Error() != test.want {
			t.Errorf("%s: %s, %v\nwant %s", test.name, text, err, test.want)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	tool := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
		Name: "f", Description: "does", Parameters: json.RawMessage(`{"type":"object"}`)}}
	schema := json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},` +
		`"required":["b","a"],"additionalProperties":false}`)
	tests := []struct {
		name    string
		options wire.Options
		params  lm.Params
		call    []llms.CallOption
		want    string
	}{
		{"plain", wire.Options{}, lm.Params{}, nil, `{}`},
		{"all", wire.Options{MaxTokens: 5}, lm.Params{Effort: "high", ThinkingTokens: 9, CacheSystem: true},
			[]llms.CallOption{
				llms.WithMaxTokens(7), llms.WithStopWords([]string{"x"}), llms.WithSeed(3), llms.WithTemperature(0),
				llms.WithTopP(0.5),
				llms.WithTools([]llms.Tool{tool}), llms.WithToolChoice(llms.ToolChoice{Type: "function",
					Function: &llms.FunctionReference{Name: "f"}}), llms.WithJSONMode(), llms.WithFrequencyPenalty(1),
				llms.WithPresencePenalty(2), llms.WithN(2), llms.WithMetadata(map[string]any{"x": 1}),
				llms.WithModel("gpt-5.2"),
			}, `{"model":"gpt-5.2","max_completion_tokens":7,"stop":["x"],"seed":3,"temperature":0,"top_p":0.5,
			"reasoning_effort":"high",
			"tools":[{"type":"function","function":{"name":"f","description":"does","parameters":{"type":"object"}}}],
			"tool_choice":{"type":"function","function":{"name":"f"}},"response_format":{"type":"json_object"},
			"frequency_penalty":1,"presence_penalty":2,"n":2}`},
		{"schema", wire.Options{MaxTokens: 5}, lm.Params{Schema: schema}, []llms.CallOption{llms.WithJSONMode()},
			`{"max_completion_tokens":5,"response_format":{"type":"json_schema","json_schema":{"name":"answer",` +
				`"strict":true,"schema":` +
				string(schema) + `}}}`},
		{"extra", wire.Options{Extra: map[string]any{"verbosity": "low", "seed": nil}}, lm.Params{},
			[]llms.CallOption{llms.WithSeed(3)},
			`{"verbosity":"low"}`},
		{"tool choice without tools", wire.Options{}, lm.Params{}, []llms.CallOption{llms.WithToolChoice("auto")}, `{}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := stub.OpenAI(&stub.Options{Unconstrained: true}, stub.Reply{Text: "ok"})
			m := serve(t, &test.options, server)
			if _, err := m.GenerateContent(lm.WithParams(t.Context(), test.params), question,
				test.call...); err != nil {
				t.Fatal(err)
			}
			want := decoded(t, test.want)
			want["messages"] = []any{map[string]any{"role": "user", "content": "Hi."}}
			if want["model"] == nil {
				want["model"] = "gpt-5.1"
			}
			same(t, "request", sent(t, server), want)
			if raw := string(server.Requests()[0].Raw); test.params.Schema != nil && !strings.Contains(raw,
				string(schema)) {
				t.Errorf("the order of the properties changed: %s", raw)
			}
		})
	}
}

package ollama_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest/stub"
	"github.com/writ-go/writ/module/models/ollama"
)

// serve returns a model that a stub answers.
func serve(t *testing.T, o *stub.Options, replies ...stub.Reply) (*ollama.Model, *stub.Server) {
	t.Helper()
	s := stub.Ollama(o, replies...)
	return connect(t, s, nil), s
}

func connect(t *testing.T, h http.Handler, o *ollama.Options) *ollama.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	if o == nil {
		o = &ollama.Options{}
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

// streaming returns options that stream, and where the chunks go.
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

// checkError checks the error but for what it wraps, and its text.
func checkError(t *testing.T, err error, want lm.Error, text string) {
	t.Helper()
	e, ok := errors.AsType[*lm.Error](err)
	if !ok {
		t.Fatalf("not an *lm.Error: %v", err)
	}
	got := *e
	got.Err = nil
	if got != want {
		t.Errorf("the error is %+v, not %+v", got, want)
	}
	if err.Error() != text {
		t.Errorf("the text is\n%s\nnot\n%s", err, text)
	}
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
		"text": {
			stub.Reply{Text: "Thimphu <b>is</b> the capital."},
			choice("Thimphu <b>is</b> the capital.", "", "stop", `{"role":"assistant","content":"Thimphu <b>is</b> the capital."}`),
		},
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
		"truncated": {
			stub.Reply{Text: "Once upon", Truncate: true},
			choice("Once upon", "", "length", `{"role":"assistant","content":"Once upon"}`),
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
		message(llms.ChatMessageTypeHuman, llms.TextPart("Look."), llms.BinaryPart("image/png", []byte("png"))),
		message(llms.ChatMessageTypeAI, lm.Message{TextContent: llms.TextPart("I call."), Provider: "openai"},
			call("t1", "weather", `{"city":"Oslo"}`), call("t2", "weather", `{"city":`)),
		message(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: "t1", Name: "weather", Content: "rain"},
			llms.ToolCallResponse{ToolCallID: "t2", Name: "weather", Content: "sun"}),
		message(llms.ChatMessageTypeHuman, llms.TextPart("Well?"), llms.TextPart("Well?")),
	}, weather(), llms.WithStopWords([]string{"END"}), llms.WithMaxTokens(50),
		llms.WithTemperature(0), llms.WithTopP(0.5), llms.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	same(t, s.Requests()[0].Body, json.RawMessage(`{
		"model": "qwen3", "stream": false, "truncate": false, "shift": false,
		"options": {"num_ctx": 4096, "num_predict": 50, "seed": 7, "stop": ["END"], "temperature": 0, "top_p": 0.5},
		"tools": [{"type": "function", "function": {
			"name": "weather", "description": "The weather in a city.",
			"parameters": {"type": "object", "properties": {"city": {"type": "string"}}}
		}}],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": "Look.", "images": ["cG5n"]},
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

// TestTurns checks that replies go back as they came, also after the conversation was saved,
// and that every call has its own id.
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

const personSchema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],
	"additionalProperties":false}`

func TestSchema(t *testing.T) {
	t.Parallel()
	ctx := lm.WithParams(t.Context(), lm.Params{Schema: json.RawMessage(personSchema)})
	generate := func(m *ollama.Model) string {
		response, err := m.GenerateContent(ctx, ask("?"))
		if err != nil {
			t.Fatal(err)
		}
		return response.Choices[0].Content
	}

	m, s := serve(t, nil, stub.Reply{Text: `{"name":"Ada"}`})
	if got := generate(m); got != `{"name":"Ada"}` {
		t.Errorf("the reply is %s", got)
	}
	same(t, s.Requests()[0].Body["format"], json.RawMessage(personSchema))

	m, _ = serve(t, &stub.Options{Unconstrained: true}, stub.Reply{Text: "It is Ada."})
	if got := generate(m); got != "It is Ada." {
		t.Errorf("a reply that does not follow the schema is returned as it is, not as %s", got)
	}

	m, s = serve(t, &stub.Options{NoSchema: true}, stub.Reply{Text: "Ada"}, stub.Reply{Text: "Bob"})
	if got := generate(m) + generate(m); got != "AdaBob" {
		t.Errorf("the replies are %s", got)
	}
	var sent []bool
	for _, r := range s.Requests() {
		sent = append(sent, r.Body["format"] != nil)
	}
	same(t, sent, []bool{true, false, false}) // with a schema, without, and remembered

	m, _ = serve(t, &stub.Options{NoSchema: true}, stub.Reply{Status: 500})
	_, err := m.GenerateContent(ctx, ask("?"))
	if e, ok := errors.AsType[*lm.Error](err); !ok || e.Status != 400 {
		t.Errorf("the first error does not stand: %v", err)
	}
}

func TestThink(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		params lm.Params
		want   string // "think"
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

func TestErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	for name, test := range map[string]struct {
		stream bool
		reply  stub.Reply
		want   lm.Error
		text   string
	}{
		"400": {false, stub.Reply{Status: 400}, lm.Error{Kind: lm.Invalid, Status: 400},
			`the model: ollama answered 400 Bad Request: Bad Request; check the model and the options of the request`},
		"401": {false, stub.Reply{Status: 401}, lm.Error{Kind: lm.Auth, Status: 401},
			`the model's provider refuses access: ollama answered 401 Unauthorized: Unauthorized; check the key in OLLAMA_API_KEY`},
		"429": {false, stub.Reply{Status: 429}, lm.Error{Kind: lm.RateLimited, Status: 429},
			`the model's rate limit is reached: ollama answered 429 Too Many Requests: Too Many Requests; ask later or less often`},
		"429 with a time": {false, stub.Reply{Status: 429, Header: http.Header{"Retry-After": {"7"}}},
			lm.Error{Kind: lm.RateLimited, Status: 429, RetryAfter: 7 * time.Second},
			`the model's rate limit is reached, for 7s: ollama answered 429 Too Many Requests: Too Many Requests; ask later or less often`},
		"500": {false, stub.Reply{Status: 500}, lm.Error{Kind: lm.Transient, Status: 500},
			`the model: ollama answered 500 Internal Server Error: Internal Server Error; try again`},
		"503": {false, stub.Reply{Status: 503, Body: `{"error":"server busy, please try again.  maximum pending requests exceeded"}`},
			lm.Error{Kind: lm.Transient, Status: 503},
			`the model: ollama answered 503 Service Unavailable: server busy, please try again.  maximum pending requests exceeded; try again`},
		"HTML": {false, stub.Reply{Status: 502, Body: "<html><title>Bad gateway</title>x</html>"},
			lm.Error{Kind: lm.Transient, Status: 502, MaybeCharged: true},
			`the model: ollama answered 502 Bad Gateway: an HTML page with the title "Bad gateway"; try again`},
		"HTML with 200": {false, stub.Reply{Status: 200, Body: "<html>"}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: ollama sent an HTML page; check Options.BaseURL`},
		"no content": {false, stub.Reply{Status: 200, Body: `{}`}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: ollama sent a reply without "done": true; try again`},
		"cut": {false, stub.Reply{Text: long, Cut: 300}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: the reply broke off: unexpected EOF`},
		"cut stream": {true, stub.Reply{Text: long, Cut: 300}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: the reply broke off: unexpected EOF`},
		"stream ends": {true, stub.Reply{Status: 200, Body: "{}\n"}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: ollama ended the stream before the reply was complete; try again`},
		"strange stream": {true, stub.Reply{Status: 200, Body: "[]\n"}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: ollama sent a reply that is not what its protocol says (cannot read the line: json: cannot unmarshal array into Go value of type ollama.reply): []`},
		"error in stream": {true, stub.Reply{Text: "Hello", Error: "internal server error"}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: ollama answered with an error: internal server error; try again`},
		"model cannot act": {false, stub.Reply{Status: 400, Body: `{"error":"registry.ollama.ai/library/qwen3 does not support tools"}`}, lm.Error{Kind: lm.Invalid, Status: 400},
			`the model: the model "qwen3" cannot call tools; use one that can, from ollama.com/search?c=tools`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := serve(t, nil, test.reply)
			var options []llms.CallOption
			if test.stream {
				options, _, _ = streaming()
			}
			_, err := m.GenerateContent(t.Context(), ask("?"), options...)
			checkError(t, err, test.want, test.text)
		})
	}
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, &stub.Options{Models: []string{"gemma3"}})
	_, err := m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.Invalid, Status: 404},
		`the model: ollama does not have the model "qwen3"; get it with "ollama pull qwen3"`)

	server := httptest.NewServer(nil)
	server.Close()
	m, err = ollama.New("qwen3", &ollama.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.Transient}, "the model: ollama is not running at "+server.URL+
		`; start it with "ollama serve", or set OLLAMA_HOST or Options.BaseURL`)
}

func TestCancel(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, nil, stub.Reply{Text: strings.Repeat("long ", 1000)})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := m.GenerateContent(ctx, ask("?"), llms.WithStreamingFunc(func(context.Context, []byte) error {
		cancel()
		return nil
	}))
	checkError(t, err, lm.Error{Kind: lm.Cancelled, MaybeCharged: true}, "context canceled")
}

func TestCallbackError(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, nil, stub.Reply{Text: "Hello."})
	stop := errors.New("enough")
	_, err := m.GenerateContent(t.Context(), ask("?"), llms.WithStreamingFunc(func(context.Context, []byte) error {
		return stop
	}))
	if !errors.Is(err, stop) {
		t.Errorf("the error is %v", err)
	}
}

func TestExtra(t *testing.T) {
	t.Parallel()
	s := stub.Ollama(&stub.Options{Key: "a key"}, stub.Reply{Text: "Hello."})
	m := connect(t, s, &ollama.Options{Key: "a key", Context: 8000, MaxTokens: 5,
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

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		part llms.ContentPart
		want string
	}{
		"PDF": {llms.BinaryPart("application/pdf", nil),
			`the model: an attachment is of type "application/pdf"; ollama takes only images`},
		"URL": {llms.ImageURLPart("https://example.com/a.png"),
			"the model: an attachment is a URL; ollama takes images only as data, so fetch it and pass the bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := serve(t, nil)
			_, err := m.GenerateContent(t.Context(), []llms.MessageContent{message(llms.ChatMessageTypeHuman, test.part)})
			checkError(t, err, lm.Error{Kind: lm.Invalid}, test.want)
		})
	}
}

package anthropic_test

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
	"github.com/writ-go/writ/module/models/anthropic"
)

const budgeted = "claude-haiku-4-5" // takes a budget for thinking

// serve returns a model that a stub answers.
func serve(t *testing.T, o *stub.Options, replies ...stub.Reply) (*anthropic.Model, *stub.Server) {
	t.Helper()
	s := stub.Anthropic(o, replies...)
	return connect(t, s, nil), s
}

func connect(t *testing.T, h http.Handler, o *anthropic.Options) *anthropic.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	if o == nil {
		o = &anthropic.Options{}
	}
	o.Key, o.BaseURL = "test-key", server.URL
	m, err := anthropic.New(budgeted, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
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

func TestReply(t *testing.T) {
	t.Parallel()
	info := func(raw, text string) map[string]any {
		return map[string]any{
			"PromptTokens": 100, "CompletionTokens": 20, "ReasoningTokens": 5, "PromptCachedTokens": 60, "CacheCreationInputTokens": 0,
			lm.ModelKey: budgeted, lm.IDKey: "msg_1",
			lm.MessageKey: &lm.Message{TextContent: llms.TextContent{Text: text}, Provider: "anthropic", Raw: json.RawMessage(raw)},
		}
	}
	for name, test := range map[string]struct {
		reply stub.Reply
		want  llms.ContentChoice
	}{
		"text": {
			stub.Reply{Text: "Thimphu <b>is</b> the capital."},
			llms.ContentChoice{Content: "Thimphu <b>is</b> the capital.", StopReason: "end_turn",
				GenerationInfo: info(`[{"text":"Thimphu <b>is</b> the capital.","type":"text"}]`, "Thimphu <b>is</b> the capital.")},
		},
		"thoughts": {
			stub.Reply{Thinking: "Let me see: Bhutan.", Redacted: "xyz", Text: "Thimphu."},
			llms.ContentChoice{Content: "Thimphu.", ReasoningContent: "Let me see: Bhutan.", StopReason: "end_turn",
				GenerationInfo: info(`[{"signature":"IodpmW0qpe6WYdsvQhAtYTwU4KHH6pUfV3NtiWN+ZjI=","thinking":"Let me see: Bhutan.","type":"thinking"},`+
					`{"data":"xyz.Ngi8oeROpsTSaOttsCJgJpiSwLQrhrvx53pvoWw8koI=","type":"redacted_thinking"},{"text":"Thimphu.","type":"text"}]`, "Thimphu.")},
		},
		"tool calls": {
			stub.Reply{Text: "I look.", ToolCalls: []stub.ToolCall{
				{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`}, {ID: "t2", Name: "weather", Arguments: `{"city":"Bergen"}`},
				{ID: "t3", Name: "now", Arguments: `{}`},
			}},
			llms.ContentChoice{Content: "I look.", StopReason: "tool_use",
				ToolCalls: []llms.ToolCall{
					call("t1", "weather", `{"city":"Oslo"}`), call("t2", "weather", `{"city":"Bergen"}`), call("t3", "now", `{}`),
				},
				GenerationInfo: info(`[{"text":"I look.","type":"text"},{"id":"t1","input":{"city":"Oslo"},"name":"weather","type":"tool_use"},`+
					`{"id":"t2","input":{"city":"Bergen"},"name":"weather","type":"tool_use"},`+
					`{"id":"t3","input":{},"name":"now","type":"tool_use"}]`, "I look.")},
		},
		"truncated": {
			stub.Reply{Text: "Once upon", Truncate: true},
			llms.ContentChoice{Content: "Once upon", StopReason: "max_tokens",
				GenerationInfo: info(`[{"text":"Once upon","type":"text"}]`, "Once upon")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.reply.CachedTokens, test.reply.ReasoningTokens = 60, 5
			options, text, thoughts := streaming()
			for _, options := range [][]llms.CallOption{nil, options} {
				m, _ := serve(t, nil, test.reply)
				got, err := m.GenerateContent(t.Context(), ask("?"), options...)
				if err != nil {
					t.Fatal(err)
				}
				same(t, got, llms.ContentResponse{Choices: []*llms.ContentChoice{&test.want}})
			}
			if text.String() != test.want.Content || thoughts.String() != test.want.ReasoningContent {
				t.Errorf("streamed %q and %q", text, thoughts)
			}
		})
	}
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

func TestRefusal(t *testing.T) {
	t.Parallel()
	options, _, _ := streaming()
	for _, options := range [][]llms.CallOption{nil, options} {
		m, _ := serve(t, nil, stub.Reply{Refusal: "I will not."})
		response, err := lm.Generate(t.Context(), m, ask("?"), options...)
		e, ok := errors.AsType[*lm.Error](err)
		if !ok || e.Kind != lm.Refused || response.Choices[0].Content != "I will not." {
			t.Errorf("response %v, error %v", response, err)
		}
	}
}

// TestTurns checks that thoughts go back as they came, also after the conversation was saved.
func TestTurns(t *testing.T) {
	t.Parallel()
	options, _, _ := streaming()
	for _, options := range [][]llms.CallOption{nil, options} {
		m, _ := serve(t, nil,
			stub.Reply{Thinking: "I need <both> cities & so on.", Redacted: "secret", ToolCalls: []stub.ToolCall{
				{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`}, {ID: "t2", Name: "weather", Arguments: `{"city":"Bergen"}`}}},
			stub.Reply{Thinking: "One more.", ToolCalls: []stub.ToolCall{{ID: "t3", Name: "weather", Arguments: `{"city":"Moss"}`}}},
			stub.Reply{Text: "Rain."})
		ctx := lm.WithParams(t.Context(), lm.Params{ThinkingTokens: 2000})
		conversation := ask("Where does it rain?")
		for turn := range 3 {
			response, err := m.GenerateContent(ctx, conversation, append(options, weather())...)
			if err != nil {
				t.Fatal(turn, err)
			}
			choice := response.Choices[0]
			if turn == 2 {
				if choice.Content != "Rain." {
					t.Errorf("the answer is %q", choice.Content)
				}
				break
			}
			saved, err := json.Marshal(choice.GenerationInfo[lm.MessageKey])
			if err != nil {
				t.Fatal(err)
			}
			var reply lm.Message
			if err := json.Unmarshal(saved, &reply); err != nil {
				t.Fatal(err)
			}
			parts := []llms.ContentPart{reply}
			var results []llms.MessageContent
			for _, c := range choice.ToolCalls {
				parts = append(parts, c)
				results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
					llms.ToolCallResponse{ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: "rain"}}})
			}
			conversation = append(conversation, llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: parts})
			conversation = append(conversation, results...)
		}
	}
}

const personSchema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`

func TestSchema(t *testing.T) {
	t.Parallel()
	ctx := lm.WithParams(t.Context(), lm.Params{Schema: json.RawMessage(personSchema), Effort: "low"})
	generate := func(m *anthropic.Model) string {
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
	want := map[string]any{"format": map[string]any{"type": "json_schema", "schema": json.RawMessage(personSchema)}}
	same(t, s.Requests()[0].Body["output_config"], want)

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
		sent = append(sent, r.Body["output_config"] != nil)
	}
	same(t, sent, []bool{true, false, false}) // with a schema, without, and remembered

	m, _ = serve(t, &stub.Options{NoSchema: true}, stub.Reply{Status: 500})
	_, err := m.GenerateContent(ctx, ask("?"))
	if e, ok := errors.AsType[*lm.Error](err); !ok || e.Status != 400 {
		t.Errorf("the first error does not stand: %v", err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	wait := http.Header{"Retry-After": {"7"}}
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string
	}{
		"400": {stub.Reply{Status: 400}, lm.Error{Kind: lm.Invalid, Status: 400},
			`the model: anthropic answered 400 Bad Request: Bad Request; check the model and the options of the request`},
		"402": {stub.Reply{Status: 402}, lm.Error{Kind: lm.Auth, Status: 402},
			`the model's provider refuses access: anthropic answered 402 Payment Required: Payment Required; check the credit and the limits of the account`},
		"403": {stub.Reply{Status: 403}, lm.Error{Kind: lm.Auth, Status: 403},
			`the model's provider refuses access: anthropic answered 403 Forbidden: Forbidden; check what the key in ANTHROPIC_API_KEY may do`},
		"413": {stub.Reply{Status: 413}, lm.Error{Kind: lm.ContextTooLong, Status: 413},
			`the question is too long for the model: anthropic answered 413 Request Entity Too Large: Request Entity Too Large; shorten the prompt or use a model with a larger context`},
		"429": {stub.Reply{Status: 429}, lm.Error{Kind: lm.RateLimited, Status: 429},
			`the model's rate limit is reached: anthropic answered 429 Too Many Requests: Too Many Requests; ask later or less often`},
		"429 with a time": {stub.Reply{Status: 429, Header: wait},
			lm.Error{Kind: lm.RateLimited, Status: 429, RetryAfter: 7 * time.Second},
			`the model's rate limit is reached, for 7s: anthropic answered 429 Too Many Requests: Too Many Requests; ask later or less often`},
		"500": {stub.Reply{Status: 500}, lm.Error{Kind: lm.Transient, Status: 500},
			`the model: anthropic answered 500 Internal Server Error: Internal Server Error; try again`},
		"529": {stub.Reply{Status: 529}, lm.Error{Kind: lm.Transient, Status: 529},
			`the model: anthropic answered 529: Overloaded; try again`},
		"HTML": {stub.Reply{Status: 502, Body: "<html><title>Bad gateway</title>x</html>"},
			lm.Error{Kind: lm.Transient, Status: 502, MaybeCharged: true},
			`the model: anthropic answered 502 Bad Gateway: an HTML page with the title "Bad gateway"; try again`},
		"too long": {stub.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`},
			lm.Error{Kind: lm.ContextTooLong, Status: 400},
			`the question is too long for the model: anthropic answered 400 Bad Request: prompt is too long: 200001 tokens > 200000 maximum; shorten the prompt or use a model with a larger context`},
		"HTML with 200": {stub.Reply{Status: 200, Body: "<html>"}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: anthropic sent an HTML page; check Options.BaseURL`},
		"no content": {stub.Reply{Status: 200, Body: `{"id":"msg_1"}`}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: anthropic sent a reply without content; try again`},
		"strange": {stub.Reply{Status: 200, Body: `{"content":"Hello"}`}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: anthropic sent a reply that is not what its protocol says (json: cannot unmarshal string into Go value of type []anthropic.received): "Hello"`},
		"cut": {stub.Reply{Text: strings.Repeat("long ", 100), Cut: 300}, lm.Error{Kind: lm.Transient, MaybeCharged: true},
			`the model: the reply broke off: unexpected EOF`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := serve(t, nil, test.reply)
			_, err := m.GenerateContent(t.Context(), ask("?"))
			checkError(t, err, test.want, test.text)
		})
	}
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

func TestUnknown(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, &stub.Options{Models: []string{"claude-sonnet-5"}})
	_, err := m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.Invalid, Status: 404},
		"the model: anthropic answered 404 Not Found: model: claude-haiku-4-5; check the name of the model and Options.BaseURL")

	m, _ = serve(t, &stub.Options{Key: "another-key"})
	_, err = m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.Auth, Status: 401},
		"the model's provider refuses access: anthropic answered 401 Unauthorized: invalid x-api-key; check the key in ANTHROPIC_API_KEY")
}

func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	charged := lm.Error{Kind: lm.Transient, MaybeCharged: true}
	events := func(data ...string) stub.Reply {
		return stub.Reply{Status: 200, Body: "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"}
	}
	start := `{"type":"message_start","message":{"id":"m","content":[]}}`
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string
	}{
		"cut": {stub.Reply{Text: strings.Repeat("long ", 100), Cut: 900}, charged,
			`the model: the reply broke off: unexpected EOF`},
		"overloaded": {stub.Reply{Text: "Hello", Error: "overloaded_error"}, charged,
			`the model: anthropic answered with an error: overloaded_error; try again`},
		"no end": {events(start, `{"type":"ping"}`), charged,
			`the model: anthropic ended the stream before the reply was complete; try again`},
		"HTML": {stub.Reply{Status: 200, Body: "<html>"}, charged,
			`the model: anthropic ended the stream before the reply was complete; try again`},
		"not JSON": {events(start, `{"type":`), charged,
			`the model: anthropic sent a reply that is not what its protocol says (unexpected end of JSON input): {"type":`},
		"no block": {events(start, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`), charged,
			`the model: anthropic sent a reply that is not what its protocol says (content block 0 has not begun): {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`},
		"block twice": {events(start, `{"type":"content_block_start","index":1,"content_block":{}}`), charged,
			`the model: anthropic sent a reply that is not what its protocol says (content block 1 follows 0 others): {"type":"content_block_start","index":1,"content_block":{}}`},
		"bad block": {events(start, `{"type":"content_block_start","index":0,"content_block":{"type":1}}`, `{"type":"message_stop"}`),
			charged,
			`the model: anthropic sent a reply that is not what its protocol says (json: cannot unmarshal number into Go struct field received.Type of type string): [{"type":1}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := serve(t, nil, test.reply)
			options, _, _ := streaming()
			_, err := m.GenerateContent(t.Context(), ask("?"), options...)
			checkError(t, err, test.want, test.text)
		})
	}
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
	_, err := m.GenerateContent(t.Context(), ask("?"), llms.WithStreamingFunc(func(context.Context, []byte) error { return stop }))
	if !errors.Is(err, stop) {
		t.Errorf("the error is %v", err)
	}
}

func TestExtra(t *testing.T) {
	t.Parallel()
	s := stub.Anthropic(nil, stub.Reply{Text: "Hello."})
	m := connect(t, s, &anthropic.Options{MaxTokens: 5, Extra: map[string]any{"service_tier": "auto", "max_tokens": 9}})
	if _, err := m.Call(t.Context(), "?"); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": budgeted, "max_tokens": 9.0, "service_tier": "auto",
		"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "?"}}}},
	}
	same(t, s.Requests()[0].Body, want)
}

func TestNew(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	_, err := anthropic.New(budgeted, nil)
	checkError(t, err, lm.Error{Kind: lm.Auth},
		"the model's provider refuses access: ANTHROPIC_API_KEY is not set; set it or pass Options.Key")
	_, err = anthropic.New("", &anthropic.Options{Key: "k"})
	checkError(t, err, lm.Error{Kind: lm.Invalid},
		`the model: the name of the model is empty; pass one such as "claude-sonnet-5"`)
	_, err = anthropic.New(budgeted, &anthropic.Options{Key: "k", BaseURL: "api.anthropic.com"})
	checkError(t, err, lm.Error{Kind: lm.Invalid},
		"the model: the base URL is not valid; pass one such as https://api.example.com/v1, without a query")
	t.Setenv("ANTHROPIC_API_KEY", "k")
	m, err := anthropic.New(budgeted, nil)
	if err != nil || m.Capabilities() != (lm.Capabilities{Schema: true, Tools: true, Thinking: true, Caching: true, Vision: true}) {
		t.Error(err)
	}
}

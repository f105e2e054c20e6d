package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/gemini"
	"github.com/writ-go/writ/module/models/internal/wire"
)

const current, older = "gemini-3-pro-preview", "gemini-2.5-flash"

// connect returns a model of the Gemini API whose requests h answers.
func connect(t *testing.T, model string, h http.Handler, o *wire.Options) *gemini.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	if o == nil {
		o = &wire.Options{}
	}
	o.Key, o.BaseURL = "test-key", server.URL
	m, err := gemini.New(model, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func human(text string) llms.MessageContent { return llms.TextParts(llms.ChatMessageTypeHuman, text) }

func message(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: role, Parts: parts}
}

func call(id, name, arguments string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: arguments}}
}

func result(id, name, content string) llms.MessageContent {
	return message(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: id, Name: name, Content: content})
}

func weather() llms.CallOption {
	return llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "weather", Description: "The weather in a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","pattern":"^[A-Z]"}}}`),
	}}})
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

func decoded(t *testing.T, raw any) any {
	t.Helper()
	data, ok := raw.(string)
	if !ok {
		encoded, err := json.Marshal(raw)
		if err != nil {
			t.Fatal(err)
		}
		data = string(encoded)
	}
	var v any
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := decoded(t, got), decoded(t, want); !reflect.DeepEqual(g, w) {
		a, _ := json.Marshal(g)
		b, _ := json.Marshal(w)
		t.Errorf("%s:\n%s\nwant\n%s", what, a, b)
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	s := stub.Gemini(nil, stub.Reply{Text: "Hello."})
	m := connect(t, current, s, &wire.Options{MaxTokens: 70})
	_, err := m.GenerateContent(t.Context(), []llms.MessageContent{
		message(llms.ChatMessageTypeSystem, llms.TextPart("Be brief."), llms.TextPart("Be right.")),
		message(llms.ChatMessageTypeHuman, llms.TextPart("Look."),
			llms.BinaryPart("image/png", []byte("png")), llms.BinaryPart("application/json; charset=utf-8", []byte("{}")),
			llms.ImageURLPart("https://example.com/a.PNG?x=1")),
		message(llms.ChatMessageTypeAI,
			lm.Message{TextContent: llms.TextPart("I call."), Provider: "openai", Raw: json.RawMessage(`{}`)},
			call("t1", "weather", `{"city":"Oslo"}`), call("t2", "weather", `{"city":`)),
		result("t1", "weather", "rain"), result("t2", "", ""),
		message(llms.ChatMessageTypeHuman, llms.TextPart("And now?"), llms.TextPart("")),
		human("Well?"),
	}, weather(), llms.WithToolChoice("required"), llms.WithStopWords([]string{"END"}), llms.WithTemperature(0),
		llms.WithTopP(0.5), llms.WithTopK(3), llms.WithSeed(7))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "request", string(s.Requests()[0].Raw), `{
		"systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be right."}]},
		"contents": [
			{"role": "user", "parts": [
				{"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": "cG5n"}},
				{"text": "attachment 2:\n{}"},
				{"fileData": {"fileUri": "https://example.com/a.PNG?x=1", "mimeType": "image/png"}}
			]},
			{"role": "model", "parts": [
				{"text": "I call."},
				{"functionCall": {"name": "weather", "args": {"city": "Oslo"}},
					"thoughtSignature": "skip_thought_signature_validator"},
				{"functionCall": {"name": "weather", "args": {}}}
			]},
			{"role": "user", "parts": [
				{"functionResponse": {"name": "weather", "response": {"output": "rain"}}},
				{"functionResponse": {"name": "weather", "response": {"output": ""}}}
			]},
			{"role": "user", "parts": [{"text": "And now?"}, {"text": "Well?"}]}
		],
		"tools": [{"functionDeclarations": [{"name": "weather", "description": "The weather in a city.",
			"parametersJsonSchema": {"type": "object", "properties": {"city": {"type": "string", "pattern": "^[A-Z]"}}}
		}]}],
		"toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
		"generationConfig": {"maxOutputTokens": 70, "seed": 7, "temperature": 0, "topP": 0.5, "topK": 3,
			"stopSequences": ["END"]}
	}`)
}

// A request needs contents, so a system message alone is sent as one.
func TestSystemOnly(t *testing.T) {
	t.Parallel()
	s := stub.Gemini(nil, stub.Reply{Text: "Hello."})
	_, err := connect(t, current, s, nil).GenerateContent(t.Context(),
		[]llms.MessageContent{message(llms.ChatMessageTypeSystem, llms.TextPart("Say hello."))})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "request", string(s.Requests()[0].Raw), `{"contents": [{"role": "user", "parts": [{"text": "Say hello."}]}]}`)
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	m := connect(t, current, stub.Gemini(nil), &wire.Options{Extra: map[string]any{"cachedContent": "cachedContents/a"}})
	for want, test := range map[string]struct {
		message llms.MessageContent
		option  llms.CallOption
	}{
		`attachment 1 is of type "application/zip"`: {
			message(llms.ChatMessageTypeHuman, llms.BinaryPart("application/zip", []byte{0xff})), nil},
		"may have only text": {message(llms.ChatMessageTypeSystem, llms.BinaryPart("image/png", []byte("x"))), nil},
		"CachedContent":      {message(llms.ChatMessageTypeHuman, llms.CachedContent{}), nil},
		"has no function":    {human("?"), llms.WithTools([]llms.Tool{{}})},
		"no other tools":     {human("?"), weather()},
	} {
		_, err := m.GenerateContent(t.Context(), []llms.MessageContent{test.message}, test.option)
		e, ok := errors.AsType[*lm.Error](err)
		if !ok || e.Kind != lm.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Cached content is named by an extra member. It has the system instruction and the tools, so those of a call are sent
// as a message, and not at all.
func TestCachedContent(t *testing.T) {
	t.Parallel()
	s := stub.Gemini(nil, stub.Reply{Text: "Yes.", CachedTokens: 90})
	m := connect(t, current, s, &wire.Options{Extra: map[string]any{"cachedContent": "cachedContents/a"}})
	if m.Capabilities().Tools {
		t.Error("it states that it can call tools")
	}
	reply, err := lm.Ask(t.Context(), m, lm.Call{}, []llms.MessageContent{
		message(llms.ChatMessageTypeSystem, llms.TextPart("Be brief.")), human("Why?")})
	if err != nil || reply.Usage.CachedInput != 90 {
		t.Fatalf("got %+v, %v", reply, err)
	}
	same(t, "request", string(s.Requests()[0].Raw), `{"cachedContent": "cachedContents/a", "contents": [
		{"role": "user", "parts": [{"text": "Be brief."}]}, {"role": "user", "parts": [{"text": "Why?"}]}]}`)
}

// Each generation of models has its own way to say how much it thinks.
func TestThinking(t *testing.T) {
	t.Parallel()
	const pro, flash, lite = "gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.0-flash"
	for _, test := range []struct {
		model  string
		params lm.Params
		want   string // the thinkingConfig
	}{
		{current, lm.Params{}, `null`},
		{current, lm.Params{Effort: "none"}, `{"thinkingLevel":"LOW"}`},
		{current, lm.Params{Effort: "minimal"}, `{"thinkingLevel":"MINIMAL","includeThoughts":true}`},
		{"gemini-flash-latest", lm.Params{Effort: "max"}, `{"thinkingLevel":"HIGH","includeThoughts":true}`},
		{"gemini-3.5-flash", lm.Params{Effort: "high", ThinkingTokens: 9}, `{"thinkingBudget":9,"includeThoughts":true}`},
		{flash, lm.Params{Effort: "none"}, `{"thinkingBudget":0}`},
		{pro, lm.Params{Effort: "none"}, `{"thinkingBudget":128}`},
		{pro, lm.Params{Effort: "low"}, `{"thinkingBudget":1024,"includeThoughts":true}`},
		{pro, lm.Params{Effort: "strange"}, `null`},
		{lite, lm.Params{Effort: "high", ThinkingTokens: 9}, `null`},
	} {
		s := stub.Gemini(nil, stub.Reply{Text: "a"})
		ctx := lm.WithParams(t.Context(), test.params)
		if _, err := connect(t, test.model, s, nil).GenerateContent(ctx, []llms.MessageContent{human("?")}); err != nil {
			t.Errorf("%s, %+v: %v", test.model, test.params, err)
			continue
		}
		config, _ := s.Requests()[0].Body["generationConfig"].(map[string]any)
		same(t, test.model+" "+test.params.Effort, config["thinkingConfig"], test.want)
	}
}

// replies are what a stub says, and the parts that are sent back.
var replies = map[string]struct {
	reply stub.Reply
	parts string
}{
	"thoughts": {stub.Reply{Thinking: "Let me see: Bhutan.", Text: "Thimphu."}, `[
		{"text": "Let me see: Bhutan.", "thought": true},
		{"text": "Thimphu.", "thoughtSignature": "99pv5Xi0aMmjYsACcR8I0BPtzPpXKs4B0J+v/k9W4Cg="}]`},
	"calls": {stub.Reply{Text: "I look.", ToolCalls: []stub.ToolCall{
		{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`}, {Name: "now", Arguments: `{}`}}}, `[
		{"text": "I look."},
		{"functionCall": {"id": "t1", "name": "weather", "args": {"city": "Oslo"}},
			"thoughtSignature": "D81NANWNyAlx6LjRdqvXVlnHq3AREEzBIqJvEA4a/W8="},
		{"functionCall": {"name": "now", "args": {}}}]`},
}

func TestReply(t *testing.T) {
	t.Parallel()
	for name, test := range replies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := test.reply
			r.CachedTokens, r.ReasoningTokens = 60, 5
			options, text, thoughts := streaming()
			for i, options := range [][]llms.CallOption{nil, options} {
				m := connect(t, current, stub.Gemini(nil, r), nil)
				got, err := lm.Ask(t.Context(), m, lm.Call{}, []llms.MessageContent{human("?")}, options...)
				if err != nil {
					t.Fatal(err)
				}
				usage := lm.Usage{Input: 100, Output: 20, Reasoning: 5, CachedInput: 60}
				if got.Text != r.Text || got.Reasoning != r.Thinking || got.Usage != usage || got.StopReason != "STOP" ||
					got.Model != current || got.ID != "resp_1" {
					t.Errorf("got %+v", got)
				}
				for i, c := range got.ToolCalls {
					id := []string{"t1", "call_resp_1_2"}[i]
					if want := r.ToolCalls[i]; c.ID != id ||
						*c.FunctionCall != (llms.FunctionCall{Name: want.Name, Arguments: want.Arguments}) {
						t.Errorf("got %+v", c)
					}
				}
				want := test.parts
				if i == 1 { // a stream has the signature in a part of its own
					want = strings.Replace(want, `"text": "Thimphu.", `, `"text": "Thimphu."}, {"text": "", `, 1)
				}
				same(t, "message", string(got.Message.Raw), want)
			}
			if text.String() != r.Text || thoughts.String() != r.Thinking {
				t.Errorf("streamed %q and %q", text, thoughts)
			}
		})
	}
}

// A reply is sent back as it was received, with its signatures, which the stub compares. Calls without an id get
// responses without one.
func TestTurns(t *testing.T) {
	t.Parallel()
	options, _, _ := streaming()
	for name, options := range map[string][]llms.CallOption{"plain": nil, "streamed": options} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stub.Gemini(nil, replies["calls"].reply, replies["thoughts"].reply, stub.Reply{Text: "Bye."})
			m := connect(t, current, s, nil)
			messages := []llms.MessageContent{human("Weather?")}
			turn := func(more ...llms.MessageContent) {
				got, err := lm.Ask(t.Context(), m, lm.Call{}, messages, append(options, weather())...)
				if err != nil {
					t.Fatal(err)
				}
				said := message(llms.ChatMessageTypeAI, *got.Message)
				for _, c := range got.ToolCalls {
					said.Parts = append(said.Parts, c)
				}
				messages = append(append(messages, said), more...)
			}
			turn(result("t1", "weather", "rain"), result("call_resp_1_2", "now", "12:00"))
			turn(human("And?"))
			turn()
			contents, _ := s.Requests()[2].Body["contents"].([]any)
			same(t, "the calls", contents[1], `{"role": "model", "parts": `+replies["calls"].parts+`}`)
			same(t, "the results", contents[2], `{"role": "user", "parts": [
				{"functionResponse": {"id": "t1", "name": "weather", "response": {"output": "rain"}}},
				{"functionResponse": {"name": "now", "response": {"output": "12:00"}}}]}`)
		})
	}
}

// A call that an older model wrote without a signature gets the one that Google documents, and nothing else changes. A
// reply of the other service, whose signatures are of no use, becomes text and calls.
func TestForeignCalls(t *testing.T) {
	t.Parallel()
	said := func(provider, raw string) llms.MessageContent {
		return message(llms.ChatMessageTypeAI,
			lm.Message{TextContent: llms.TextPart("So."), Provider: provider, Raw: json.RawMessage(raw)},
			call("call_1", "now", `{"n":12345678901234567890}`))
	}
	const unsigned = `{"functionCall":{"name":"now","args":{"n":12345678901234567890}}}`
	const skipped = `"thoughtSignature":"skip_thought_signature_validator"`
	for name, test := range map[string]struct {
		model string
		said  llms.MessageContent
		want  string
	}{
		"older model": {current, said("gemini", `[{"text":"So."},{"text":""},`+unsigned+`]`),
			`[{"text":"So."},{"functionCall":{"name":"now","args":{"n":12345678901234567890}},` + skipped + `}]`},
		"to older model": {older, said("gemini", `[`+unsigned+`]`), `[` + unsigned + `]`},
		"other service": {current, said("vertex", `[{"functionCall":{"name":"now"},"thoughtSignature":"x"}]`),
			`[{"text":"So."},{"functionCall":{"args":{"n":12345678901234567890},"name":"now"},` + skipped + `}]`},
		"other protocol": {older, said("gemini", `{"role":"assistant"}`),
			`[{"text":"So."},{"functionCall":{"args":{"n":12345678901234567890},"name":"now"}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stub.Gemini(nil, stub.Reply{Text: "Noon."})
			_, err := connect(t, test.model, s, nil).GenerateContent(t.Context(),
				[]llms.MessageContent{human("?"), test.said, result("call_1", "now", "12:00")})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(s.Requests()[0].Raw, []byte(`"parts":`+test.want+`,"role":"model"`)) &&
				!bytes.Contains(s.Requests()[0].Raw, []byte(`"role":"model","parts":`+test.want)) {
				t.Errorf("sent %s, want %s", s.Requests()[0].Raw, test.want)
			}
		})
	}
}

// A schema outside of the subset is refused once, and then no longer sent. Without it, the reply's form is up to the
// prompt.
func TestSchema(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ schema, sent string }{
		"inside":  {`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`, "yes yes "},
		"outside": {`{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`, "yes no no "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stub.Gemini(nil, stub.Reply{Text: `{"a":"x"}`}, stub.Reply{Text: `{"a":"x"}`})
			m := connect(t, current, s, nil)
			ctx := lm.WithParams(t.Context(), lm.Params{Schema: json.RawMessage(test.schema), Effort: "low"})
			for range 2 {
				if text, err := m.Call(ctx, "?"); text != `{"a":"x"}` {
					t.Errorf("got %q, %v", text, err)
				}
			}
			sent := ""
			for _, r := range s.Requests() {
				config, _ := r.Body["generationConfig"].(map[string]any)
				sent += map[bool]string{true: "yes ", false: "no "}[config["responseJsonSchema"] != nil]
				if config["thinkingConfig"] == nil {
					t.Errorf("sent %v", config)
				}
			}
			if sent != test.sent {
				t.Errorf("sent the schema: %s, want %s", sent, test.sent)
			}
		})
	}
}

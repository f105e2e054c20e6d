package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// checkError compares an error and its complete text.
func checkError(t *testing.T, err error, want lm.Error, text string) {
	t.Helper()
	e, ok := errors.AsType[*lm.Error](err)
	if !ok {
		t.Fatalf("error %v is not an *Error", err)
	}
	same(t, "error", lm.Error{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter, MaybeCharged: e.MaybeCharged},
		want)
	same(t, "text", e.Error(), text)
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	broken := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	raw := func(body string) stub.Reply { return stub.Reply{Status: 200, Body: body} }
	tests := []struct {
		name    string
		reply   stub.Reply
		options wire.Options
		stream  bool
		want    lm.Error
		text    string
	}{
		{"400", stub.Reply{Text: "x"}, wire.Options{Extra: map[string]any{"max_tokenz": 1}}, false,
			lm.Error{Kind: lm.KindInvalid, Status: 400},
			"the model: openai answered 400 Bad Request: - at '': additional properties 'max_tokenz' not allowed; " +
				"check the model and the options of the request"},
		{"401", stub.Reply{}, wire.Options{Key: "sk-wrong"}, false, lm.Error{Kind: lm.KindAuth, Status: 401},
			"the model's provider refuses access: openai answered 401 Unauthorized: Incorrect API key provided: " +
				"[key]. " +
				"You can find your API key at https://platform.openai.com/account/api-keys.; check the key in " +
				"OPENAI_API_KEY"},
		{"404 model", stub.Reply{}, wire.Options{Extra: map[string]any{"model": "gpt-0"}}, false,
			lm.Error{Kind: lm.KindInvalid, Status: 404},
			"the model: openai answered 404 Not Found: The model `gpt-0` does not exist or you do not have access " +
				"to it.; " +
				"check the name of the model and the base URL"},
		{"429", stub.Reply{Status: 429}, wire.Options{}, true, lm.Error{Kind: lm.KindRateLimited, Status: 429},
			"the model's rate limit is reached: openai answered 429 Too Many Requests: Too Many Requests; ask " +
				"later or less often"},
		{"429 with Retry-After", stub.Reply{Status: 429, Header: http.Header{"Retry-After": {"2"}}}, wire.Options{}, false,
			lm.Error{Kind: lm.KindRateLimited, Status: 429, RetryAfter: 2 * time.Second},
			"the model's rate limit is reached for 2s: openai answered 429 Too Many Requests: Too Many Requests; " +
				"ask later or less often"},
		{"500", stub.Reply{Status: 500}, wire.Options{}, false, lm.Error{Kind: lm.KindTransient, Status: 500},
			"the model: openai answered 500 Internal Server Error: Internal Server Error; try again"},
		{"HTML", raw("<html><title>Welcome</title>"), wire.Options{}, false, broken,
			`the model: openai sent an HTML page with the title "Welcome"; check the base URL`},
		{"HTML for a stream", raw("<html><title>Welcome</title>"), wire.Options{}, true, broken,
			`the model: openai sent an HTML page with the title "Welcome"; check the base URL`},
		{"no choices", raw(`{"choices":[]}`), wire.Options{}, false, broken,
			"the model: openai sent a reply without choices; try again"},
		{"no choices in a stream", raw("data: {\"choices\":[]}\n\ndata: [DONE]\n\n"), wire.Options{}, true, broken,
			"the model: openai sent a reply without choices; try again"},
		{"no message", raw(`{"choices":[{"message":null}]}`), wire.Options{}, false, broken,
			"the model: openai sent a reply without a message; try again"},
		{"broken reply", raw(`{"choices":[{"message":{"content":"It"},"finish_reason":"insufficient_system_resource"}]}`),
			wire.Options{}, false, broken,
			`the model: openai sent a part of a reply, which ended with "insufficient_system_resource"; try again`},
		{"broken stream", raw("data: {\"choices\":[{\"delta\":{\"content\":\"It\"},\"finish_reason\":\"error\"}]}\n\n"),
			wire.Options{}, true, broken, `the model: openai sent a part of a reply, which ended with "error"; try again`},
		{"another message", raw(`{"choices":[{"message":[]}]}`), wire.Options{}, false, broken,
			"the model: openai sent a reply that is not what its protocol says " +
				"(json: cannot unmarshal array into Go value of type openai.message): []"},
		{"an error in a stream", raw("data: {\"error\":{\"message\":\"The server is overloaded.\"," +
			"\"code\":502}}\n\n"), wire.Options{}, true,
			lm.Error{Kind: lm.KindTransient, Status: 502, MaybeCharged: true},
			"the model: openai answered with an error: The server is overloaded.; try again"},
		{"cut", stub.Reply{Text: "Hello.", Cut: 50}, wire.Options{}, false, broken,
			"the model: the reply broke off: unexpected EOF"},
		{"cut stream", stub.Reply{Text: "Hello, world.", Cut: 300}, wire.Options{}, true, broken,
			"the model: the reply broke off: unexpected EOF"},
		{"stream without an end", raw("data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"), wire.Options{}, true,
			broken,
			"the model: openai ended the stream before the reply was complete; try again"},
		{"index out of range", raw("data: {\"choices\":[{\"index\":1000,\"delta\":{}}]}\n\n"), wire.Options{}, true, broken,
			"the model: openai sent a reply that is not what its protocol says (the index of the choice is out of " +
				"range): " +
				`{"choices":[{"index":1000,"delta":{}}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var told []string
			var options []llms.CallOption
			if test.stream {
				options = streamed(&told)
			}
			m := serve(t, &test.options, stub.OpenAI(&stub.Options{Models: []string{"gpt-5.1"}}, test.reply))
			_, err := m.GenerateContent(t.Context(), question, options...)
			checkError(t, err, test.want, test.text)
		})
	}
}

func TestNew(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("MISTRAL_API_KEY", "from the environment")
	tests := []struct {
		model   string
		options *wire.Options
		want    string
	}{
		{"m", nil, "the model's provider refuses access: OPENAI_API_KEY is not set; set it or pass a key"},
		{"m", &wire.Options{Dialect: "mistral"}, ""},
		{"m", &wire.Options{Dialect: "vllm"}, ""},
		{"", &wire.Options{Key: "k"}, "the model: the model has no name; pass one that openai knows"},
		{"m", &wire.Options{Dialect: "grok"}, `the model: the dialect "grok" does not exist; choose one of deepseek, ` +
			`gemini, groq, lmstudio, ` +
			"mistral, openai, openrouter, together, vllm, xai"},
		{"m", &wire.Options{Key: "k", BaseURL: "localhost:8000"}, "the model: the base URL is not valid; " +
			"pass one such as https://api.example.com/v1, with its scheme and without a query"},
	}
	for _, test := range tests {
		text := ""
		_, err := New(test.model, test.options)
		if err != nil {
			text = err.Error()
		}
		if text != test.want {
			t.Errorf("New(%q, %+v): %s\nwant %s", test.model, test.options, text, test.want)
		}
	}
}

// TestCancel cancels a call in the middle of its stream.
func TestCancel(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, stub.OpenAI(nil, stub.Reply{Text: strings.Repeat("word ", 1000)}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told []string
	_, err := m.GenerateContent(ctx, question, llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		told = append(told, string(chunk))
		cancel()
		return nil
	}))
	checkError(t, err, lm.Error{Kind: lm.KindCancelled, MaybeCharged: true}, "context canceled")
	same(t, "streamed", told, []string{"word wo"})
}

// TestStop ends a stream with an error of the streaming function.
func TestStop(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, stub.OpenAI(nil, stub.Reply{Thinking: "Hm.", Text: "Hello."}, stub.Reply{Thinking: "Hm."}))
	enough := errors.New("enough")
	stop := func(context.Context, []byte) error { return enough }
	if _, err := m.GenerateContent(t.Context(), question, llms.WithStreamingFunc(stop)); err != enough {
		t.Errorf("error %v", err)
	}
	think := func(context.Context, []byte, []byte) error { return enough }
	if _, err := m.GenerateContent(t.Context(), question, llms.WithStreamingReasoningFunc(think)); err != enough {
		t.Errorf("error %v", err)
	}
}

// TestSchema sends schemas to providers that enforce, refuse or ignore them.
func TestSchema(t *testing.T) {
	t.Parallel()
	good := `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	loose := `{"type":"object","properties":{"a":{"type":"string"}}}`
	number := `{"type":"object","properties":{"a":{"type":"number","minimum":1}},"required":["a"],` +
		`"additionalProperties":false}`
	hi := stub.Reply{Text: `{"a":"hi"}`}
	tests := []struct {
		name, schema string
		options      stub.Options
		dialect      string
		reply        stub.Reply
		want         string // the results of two calls, then whether each request had the schema
	}{
		{"accepted", good, stub.Options{}, "", hi, `{"a":"hi"} {"a":"hi"}: true true`},
		{"not supported by the model", good, stub.Options{NoSchema: true}, "", hi,
			`{"a":"hi"} {"a":"hi"}: true false false`},
		{"not strict", loose, stub.Options{}, "", hi, `{"a":"hi"} {"a":"hi"}: true false false`},
		{"with a limit", number, stub.Options{}, "", stub.Reply{Text: `{"a":0}`}, `{"a":0} {"a":0}: true false false`},
		{"not followed", good, stub.Options{Unconstrained: true}, "", stub.Reply{Text: "no"}, `no no: true true`},
		{"dialect without schemas", good, stub.Options{Fields: []string{"max_tokens"}}, "deepseek", hi,
			`{"a":"hi"} {"a":"hi"}: false false`},
		{"refused permanently", loose, stub.Options{}, "", stub.Reply{Status: 500},
			strings.TrimSpace(strings.Repeat("openai answered 400 Bad Request: Invalid schema: - at '': 'allOf' failed - "+
				"at '': missing property 'additionalProperties'; check the model and the options of the request ", 2)) +
				": true false true false"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := stub.OpenAI(&test.options, test.reply, test.reply)
			m := serve(t, &wire.Options{Dialect: test.dialect}, server)
			ctx := lm.WithParams(t.Context(), lm.Params{Schema: json.RawMessage(test.schema)})
			var got []string
			for range 2 {
				text, err := m.Call(ctx, "Hi.")
				if e, ok := errors.AsType[*lm.Error](err); ok {
					text = e.Err.Error()
				}
				got = append(got, text)
			}
			line := strings.Join(got, " ") + ":"
			for _, r := range server.Requests() {
				line += map[bool]string{true: " true", false: " false"}[r.Body["response_format"] != nil]
			}
			same(t, "calls", line, test.want)
		})
	}
}

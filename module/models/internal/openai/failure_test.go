package openai

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
		name   string
		reply  stub.Reply
		stream bool
		want   lm.Error
		text   string
	}{
		{"no choices", raw(`{"choices":[]}`), false, broken,
			"the model: openai sent a reply without choices; try again"},
		{"no choices in a stream", raw("data: {\"choices\":[]}\n\ndata: [DONE]\n\n"), true, broken,
			"the model: openai sent a reply without choices; try again"},
		{"no message", raw(`{"choices":[{"message":null}]}`), false, broken,
			"the model: openai sent a reply without a message; try again"},
		{"broken reply", raw(`{"choices":[{"message":{"content":"It"},"finish_reason":"insufficient_system_resource"}]}`),
			false, broken,
			`the model: openai sent a part of a reply, which ended with "insufficient_system_resource"; try again`},
		{"broken stream", raw("data: {\"choices\":[{\"delta\":{\"content\":\"It\"},\"finish_reason\":\"error\"}]}\n\n"),
			true, broken, `the model: openai sent a part of a reply, which ended with "error"; try again`},
		{"another message", raw(`{"choices":[{"message":[]}]}`), false, broken,
			"the model: openai sent a malformed reply " +
				"(json: cannot unmarshal array into Go value of type openai.message): []"},
		{"an error in a stream", raw("data: {\"error\":{\"message\":\"The server is overloaded.\"," +
			"\"code\":502}}\n\n"), true,
			lm.Error{Kind: lm.KindTransient, Status: 502, MaybeCharged: true},
			"the model: openai answered with an error: The server is overloaded.; try again"},
		{"stream without an end", raw("data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"), true,
			broken,
			"the model: openai ended the stream before the reply was complete; try again"},
		{"index out of range", raw("data: {\"choices\":[{\"index\":1000,\"delta\":{}}]}\n\n"), true, broken,
			"the model: openai sent a malformed reply (the index of the choice is out of " +
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
			m := serve(t, nil, stub.OpenAI(nil, test.reply))
			_, err := m.GenerateContent(t.Context(), question, options...)
			checkError(t, err, test.want, test.text)
		})
	}
}

func TestNew(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	t.Setenv("MISTRAL_API_KEY", "from the environment")
	tests := []struct {
		options *wire.Options
		want    string
	}{
		{&wire.Options{Dialect: "openai"},
			"the model's provider refuses access: OPENAI_API_KEY is not set; set it or pass a key"},
		{&wire.Options{Dialect: "mistral"}, ""},
		{&wire.Options{Dialect: "vllm"}, ""},
		{&wire.Options{Dialect: "openai", Key: "k", BaseURL: "localhost:8000"}, "the model: the base URL is not valid; " +
			"pass one such as https://api.example.com/v1, with its scheme and without a query"},
	}
	for _, test := range tests {
		text := ""
		_, err := New("m", test.options)
		if err != nil {
			text = err.Error()
		}
		if text != test.want {
			t.Errorf("New(%+v): %s\nwant %s", test.options, text, test.want)
		}
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
		{"not strict", loose, stub.Options{}, "", hi, `{"a":"hi"} {"a":"hi"}: true false false`},
		{"with a limit", number, stub.Options{}, "", stub.Reply{Text: `{"a":0}`}, `{"a":0} {"a":0}: true false false`},
		{"dialect without schemas", good, stub.Options{Fields: []string{"max_tokens"}}, "deepseek", hi,
			`{"a":"hi"} {"a":"hi"}: false false`},
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
				if err != nil {
					t.Error(err)
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

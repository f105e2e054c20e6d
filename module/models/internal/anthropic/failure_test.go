package anthropic_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// checkError compares the text of an error, and the error except for the one it wraps.
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

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string
	}{
		"too long": {stub.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error",
			"message":"prompt is too long: 200001 tokens > 200000 maximum"}}`},
			lm.Error{Kind: lm.KindContextTooLong, Status: 400},
			`the prompt is too long for the model: anthropic answered 400 Bad Request: prompt is too long: ` +
				`200001 tokens > 200000 maximum; shorten the prompt or use a model with a larger context`},
		"no content": {stub.Reply{Status: 200, Body: `{"id":"msg_1"}`}, lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: anthropic sent a reply without content; try again`},
		"strange": {stub.Reply{Status: 200, Body: `{"content":"Hello"}`},
			lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: anthropic sent a malformed reply (json: cannot unmarshal string ` +
				`into Go value of type []anthropic.received): "Hello"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := serve(t, nil, test.reply)
			_, err := m.GenerateContent(t.Context(), ask("?"))
			checkError(t, err, test.want, test.text)
		})
	}
}

func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	charged := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	events := func(data ...string) stub.Reply {
		return stub.Reply{Status: 200, Body: "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"}
	}
	start := `{"type":"message_start","message":{"id":"m","content":[]}}`
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string
	}{
		"overloaded": {stub.Reply{Text: "Hello", Error: "overloaded_error"}, charged,
			`the model: anthropic answered with an error: overloaded_error; try again`},
		"timeout": {stub.Reply{Text: "Hello", Error: "timeout_error"}, charged,
			`the model: anthropic answered with an error: timeout_error; try again`},
		"no end": {events(start, `{"type":"ping"}`), charged,
			`the model: anthropic ended the stream before the reply was complete; try again`},
		"not JSON": {events(start, `{"type":`), charged,
			`the model: anthropic sent a malformed reply (unexpected end of JSON input): {"type":`},
		"no block": {events(start, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`),
			charged,
			`the model: anthropic sent a malformed reply (content block 0 has not ` +
				`begun): {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`},
		"block twice": {events(start, `{"type":"content_block_start","index":1,"content_block":{}}`), charged,
			`the model: anthropic sent a malformed reply (content block 1 follows 0 ` +
				`blocks): {"type":"content_block_start","index":1,"content_block":{}}`},
		"bad block": {
			events(start, `{"type":"content_block_start","index":0,"content_block":{"type":1}}`, `{"type":"message_stop"}`),
			charged,
			`the model: anthropic sent a malformed reply (json: cannot unmarshal number ` +
				`into Go struct field received.Type of type string): [{"type":1}]`},
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

func TestNew(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	_, err := anthropic.New(budgeted, &wire.Options{})
	checkError(t, err, lm.Error{Kind: lm.KindAuth},
		"the model's provider refuses access: ANTHROPIC_API_KEY is not set; set it or pass a key")
	_, err = anthropic.New(budgeted, &wire.Options{Key: "k", BaseURL: "api.anthropic.com"})
	checkError(t, err, lm.Error{Kind: lm.KindInvalid},
		"the model: the base URL is not valid; pass one such as https://api.example.com/v1, with its scheme and without a "+
			"query")
	t.Setenv("ANTHROPIC_API_KEY", "k")
	m, err := anthropic.New(budgeted, &wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := lm.Capabilities{Schema: true, Tools: true, Thinking: true, Caching: true, Vision: true, Model: budgeted,
		MaxTokens: 16_000}
	if got := m.Capabilities(); got != all {
		t.Errorf("the capabilities are %+v", got)
	}
}

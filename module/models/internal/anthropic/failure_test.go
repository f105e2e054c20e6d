package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
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
	wait := http.Header{"Retry-After": {"7"}}
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string
	}{
		"400": {stub.Reply{Status: 400}, lm.Error{Kind: lm.KindInvalid, Status: 400},
			`the model: anthropic answered 400 Bad Request: Bad Request; check the model and the options of the request`},
		"402": {stub.Reply{Status: 402}, lm.Error{Kind: lm.KindAuth, Status: 402},
			`the model's provider refuses access: anthropic answered 402 Payment Required: Payment Required; ` +
				`check the credit and the limits of the account`},
		"403": {stub.Reply{Status: 403}, lm.Error{Kind: lm.KindAuth, Status: 403},
			`the model's provider refuses access: anthropic answered 403 Forbidden: Forbidden; check what the ` +
				`key in ANTHROPIC_API_KEY may do`},
		"413": {stub.Reply{Status: 413}, lm.Error{Kind: lm.KindContextTooLong, Status: 413},
			`the prompt is too long for the model: anthropic answered 413 Request Entity Too Large: Request ` +
				`Entity Too Large; shorten the prompt or use a model with a larger context`},
		"429": {stub.Reply{Status: 429}, lm.Error{Kind: lm.KindRateLimited, Status: 429},
			`the model's rate limit is reached: anthropic answered 429 Too Many Requests: Too Many Requests; ask ` +
				`later or less often`},
		"429 with a time": {stub.Reply{Status: 429, Header: wait},
			lm.Error{Kind: lm.KindRateLimited, Status: 429, RetryAfter: 7 * time.Second},
			`the model's rate limit is reached for 7s: anthropic answered 429 Too Many Requests: Too Many ` +
				`Requests; ask later or less often`},
		"500": {stub.Reply{Status: 500}, lm.Error{Kind: lm.KindTransient, Status: 500},
			`the model: anthropic answered 500 Internal Server Error: Internal Server Error; try again`},
		"529": {stub.Reply{Status: 529}, lm.Error{Kind: lm.KindTransient, Status: 529},
			`the model: anthropic answered 529: Overloaded; try again`},
		"HTML": {stub.Reply{Status: 502, Body: "<html><title>Bad gateway</title>x</html>"},
			lm.Error{Kind: lm.KindTransient, Status: 502, MaybeCharged: true},
			`the model: anthropic answered 502 Bad Gateway: an HTML page with the title "Bad gateway"; try again`},
		"too long": {stub.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error",
			"message":"prompt is too long: 200001 tokens > 200000 maximum"}}`},
			lm.Error{Kind: lm.KindContextTooLong, Status: 400},
			`the prompt is too long for the model: anthropic answered 400 Bad Request: prompt is too long: ` +
				`200001 tokens > 200000 maximum; shorten the prompt or use a model with a larger context`},
		"HTML with 200": {stub.Reply{Status: 200, Body: "<html>"}, lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: anthropic sent an HTML page; check the base URL`},
		"no content": {stub.Reply{Status: 200, Body: `{"id":"msg_1"}`}, lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: anthropic sent a reply without content; try again`},
		"strange": {stub.Reply{Status: 200, Body: `{"content":"Hello"}`},
			lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: anthropic sent a reply that is not what its protocol says (json: cannot unmarshal string ` +
				`into Go value of type []anthropic.received): "Hello"`},
		"cut": {stub.Reply{Text: strings.Repeat("long ", 100), Cut: 300},
			lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
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

func TestUnknown(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, &stub.Options{Models: []string{"claude-sonnet-5"}})
	_, err := m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.KindInvalid, Status: 404},
		"the model: anthropic answered 404 Not Found: model: claude-haiku-4-5; check the name of the model "+
			"and the base URL")

	m, _ = serve(t, &stub.Options{Key: "another-key"})
	_, err = m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.KindAuth, Status: 401},
		"the model's provider refuses access: anthropic answered 401 Unauthorized: invalid x-api-key; check "+
			"the key in ANTHROPIC_API_KEY")
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
		"cut": {stub.Reply{Text: strings.Repeat("long ", 100), Cut: 900}, charged,
			`the model: the reply broke off: unexpected EOF`},
		"overloaded": {stub.Reply{Text: "Hello", Error: "overloaded_error"}, charged,
			`the model: anthropic answered with an error: overloaded_error; try again`},
		"timeout": {stub.Reply{Text: "Hello", Error: "timeout_error"}, charged,
			`the model: anthropic answered with an error: timeout_error; try again`},
		"no end": {events(start, `{"type":"ping"}`), charged,
			`the model: anthropic ended the stream before the reply was complete; try again`},
		"HTML": {stub.Reply{Status: 200, Body: "<html>"}, charged,
			`the model: anthropic sent an HTML page; check the base URL`},
		"not JSON": {events(start, `{"type":`), charged,
			`the model: anthropic sent a reply that is not what its protocol says (unexpected end of JSON input): {"type":`},
		"no block": {events(start, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`),
			charged,
			`the model: anthropic sent a reply that is not what its protocol says (content block 0 has not ` +
				`begun): {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}`},
		"block twice": {events(start, `{"type":"content_block_start","index":1,"content_block":{}}`), charged,
			`the model: anthropic sent a reply that is not what its protocol says (content block 1 follows 0 ` +
				`others): {"type":"content_block_start","index":1,"content_block":{}}`},
		"bad block": {
			events(start, `{"type":"content_block_start","index":0,"content_block":{"type":1}}`, `{"type":"message_stop"}`),
			charged,
			`the model: anthropic sent a reply that is not what its protocol says (json: cannot unmarshal number ` +
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

func TestCancel(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, nil, stub.Reply{Text: strings.Repeat("long ", 1000)})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := m.GenerateContent(ctx, ask("?"), llms.WithStreamingFunc(func(context.Context, []byte) error {
		cancel()
		return nil
	}))
	checkError(t, err, lm.Error{Kind: lm.KindCancelled, MaybeCharged: true}, "context canceled")
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

func TestNew(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "")
	_, err := anthropic.New(budgeted, nil)
	checkError(t, err, lm.Error{Kind: lm.KindAuth},
		"the model's provider refuses access: ANTHROPIC_API_KEY is not set; set it or pass a key")
	_, err = anthropic.New("", &wire.Options{Key: "k"})
	checkError(t, err, lm.Error{Kind: lm.KindInvalid},
		`the model: the name of the model is empty; pass one such as "claude-sonnet-5"`)
	_, err = anthropic.New(budgeted, &wire.Options{Key: "k", BaseURL: "api.anthropic.com"})
	checkError(t, err, lm.Error{Kind: lm.KindInvalid},
		"the model: the base URL is not valid; pass one such as https://api.example.com/v1, with its scheme and without a "+
			"query")
	t.Setenv("ANTHROPIC_API_KEY", "k")
	m, err := anthropic.New(budgeted, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := lm.Capabilities{Schema: true, Tools: true, Thinking: true, Caching: true, Vision: true, Model: budgeted}
	if got := m.Capabilities(); got != all {
		t.Errorf("the capabilities are %+v", got)
	}
}

package ollama_test

import (
	"errors"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/ollama"
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
		"503": {stub.Reply{Status: 503, Body: `{"error":"server busy, maximum pending requests exceeded"}`},
			lm.Error{Kind: lm.KindTransient, Status: 503},
			`the model: ollama answered 503 Service Unavailable: server busy, maximum pending ` +
				`requests exceeded; try again`},
		"no content": {stub.Reply{Status: 200, Body: `{}`}, lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: ollama sent a reply without "done": true; try again`},
		"no tools": {stub.Reply{Status: 400, Body: `{"error":"library/qwen3 does not support tools"}`},
			lm.Error{Kind: lm.KindInvalid, Status: 400},
			`the model: the model "qwen3" cannot call tools; use one that can, from ollama.com/search?c=tools`},
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
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string
	}{
		"stream ends": {stub.Reply{Status: 200, Body: "{}\n"}, lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: ollama ended the stream before the reply was complete; try again`},
		"strange stream": {stub.Reply{Status: 200, Body: "[]\n"}, lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: ollama sent a malformed reply (json: ` +
				`cannot unmarshal array into Go value of type ollama.reply): []`},
		"error in stream": {stub.Reply{Text: "Hello", Error: "internal server error"},
			lm.Error{Kind: lm.KindTransient, MaybeCharged: true},
			`the model: ollama answered with an error: internal server error; try again`},
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

func TestUnavailable(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, &stub.Options{Models: []string{"gemma3"}})
	_, err := m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.KindInvalid, Status: 404},
		`the model: ollama does not have the model "qwen3"; get it with "ollama pull qwen3"`)

	m, err = ollama.New("qwen3", &wire.Options{
		BaseURL: "http://ann:s3cret@localhost:11434", Client: &http.Client{Transport: refusing{}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.GenerateContent(t.Context(), ask("?"))
	checkError(t, err, lm.Error{Kind: lm.KindTransient}, "the model: ollama is not running at http://localhost:11434; "+
		`start it with "ollama serve", or set OLLAMA_HOST or the base URL`)
}

// refusing is a network on which nothing listens.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		part llms.ContentPart
		want string
	}{
		"PDF": {llms.BinaryPart("application/pdf", []byte{0xff}),
			`the model: attachment 1 is of type "application/pdf"; ollama takes only images and text`},
		"URL": {llms.ImageURLPart("https://example.com/a.png"),
			"the model: an attachment is a URL; ollama takes images only as data, so fetch it and pass the bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := serve(t, nil)
			_, err := m.GenerateContent(t.Context(), []llms.MessageContent{message(llms.ChatMessageTypeHuman, test.part)})
			checkError(t, err, lm.Error{Kind: lm.KindInvalid}, test.want)
		})
	}
}

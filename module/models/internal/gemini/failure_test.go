package gemini_test

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/gemini"
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
	if got != want || err.Error() != text {
		t.Errorf("got %+v: %s\nwant %+v: %s", got, err, want, text)
	}
}

// candidate returns a response with a candidate's parts and reason.
func candidate(parts, reason string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"` + reason + `"}]}`
}

func TestFailures(t *testing.T) {
	t.Parallel()
	charged := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	refused := lm.Error{Kind: lm.KindRefused, MaybeCharged: true}
	for name, test := range map[string]struct {
		status int
		body   string
		want   lm.Error
		text   string
	}{
		"too long": {400, `[{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (1200000) ` +
			`exceeds the maximum number of tokens allowed (1048576)."}}]`, lm.Error{Kind: lm.KindContextTooLong, Status: 400},
			"the prompt is too long for the model: gemini answered 400 Bad Request: The input token count (1200000) exceeds " +
				"the maximum number of tokens allowed (1048576).; shorten the prompt or use a model with a larger context"},
		"quota": {429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, ` +
			`please check your plan and billing details. Please retry in 34.5s."}}`,
			lm.Error{Kind: lm.KindRateLimited, Status: 429, RetryAfter: 34500 * time.Millisecond},
			"the model's rate limit is reached for 34.5s: gemini answered 429 Too Many Requests: You exceeded your current " +
				"quota, please check your plan and billing details. Please retry in 34.5s.; retry later or less often"},
		"blocked prompt": {200, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, refused,
			"the model refuses to answer: gemini blocked the prompt (PROHIBITED_CONTENT); change the prompt"},
		"blocked prompt with a message": {200, `{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"No."}}`, refused,
			"the model refuses to answer: gemini blocked the prompt (OTHER: No.); change the prompt"},
		"safety": {200, candidate(``, "SAFETY"), refused, "the model refuses to answer: the stop reason is SAFETY"},
		"spii":   {200, candidate(`{"text":"A"}`, "SPII"), refused, "the model refuses to answer: the stop reason is SPII"},
		"malformed call": {200, `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL",` +
			`"finishMessage":"print(x)"}]}`, charged,
			"the model: gemini sent a reply that ended with MALFORMED_FUNCTION_CALL: print(x); try again"},
		"other reason": {200, candidate(``, "OTHER"), charged,
			"the model: gemini sent a reply that ended with OTHER; try again"},
		"no candidates": {200, `{"usageMetadata":{"promptTokenCount":3}}`, charged,
			"the model: gemini sent a reply without candidates; try again"},
		"strange part": {200, candidate(`"A"`, "STOP"), charged, "the model: gemini sent a malformed reply (json: cannot " +
			"unmarshal string into Go value of type gemini.part): " + candidate(`"A"`, "STOP")},
		"null part": {200, candidate(`null`, "STOP"), charged,
			"the model: gemini sent a malformed reply (a part is not an object): " + candidate(`null`, "STOP")},
		"strange usage": {200, `{"usageMetadata":{"promptTokenCount":"x"}}`, charged, "the model: gemini sent a malformed " +
			"reply (json: cannot unmarshal string into Go struct field usage.promptTokenCount of type int): " + `{"usageMetadata":{"promptTokenCount":"x"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := connect(t, current, stub.Gemini(nil, stub.Reply{Status: test.status, Body: test.body}), nil)
			_, err := lm.Ask(t.Context(), m, lm.Call{}, []llms.MessageContent{human("?")})
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
	begin := candidate(`{"text":"Hel"}`, "")
	const unfinished = "the model: gemini ended the stream before the reply was complete; try again"
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string // its beginning
	}{
		"an error inside": {stub.Reply{Text: "Hello", Error: "The model is overloaded."}, lm.Error{
			Kind: lm.KindTransient, Status: 503, MaybeCharged: true},
			"the model: gemini answered with an error: The model is overloaded.; try again"},
		"no end":  {events(begin, candidate(`{"text":"lo"}`, "")), charged, unfinished},
		"nothing": {events(`{}`), charged, unfinished},
		"not JSON": {events(begin, `{"candidates":`), charged,
			"the model: gemini sent a malformed reply (unexpected"},
		"more after the end": {events(candidate("", "STOP"), begin), charged,
			"the model: gemini sent a malformed reply (the reply continues after it ended)"},
		"another end": {events(candidate("", "STOP"), candidate("", "SAFETY")), charged,
			`the model: gemini sent a malformed reply (the reply ended with "STOP" and then with "SAFETY")`},
		"another candidate": {events(`{"candidates":[{"index":1,"finishReason":"STOP"}]}`), charged, unfinished},
		"blocked in the middle": {events(begin, `{"promptFeedback":{"blockReason":"SAFETY"}}`),
			lm.Error{Kind: lm.KindRefused, MaybeCharged: true},
			"the model refuses to answer: gemini blocked the prompt (SAFETY); change the prompt"},
		"a large event": {events(begin, candidate(`{"text":"`+strings.Repeat("x", 10<<20)+`"}`, "STOP")), charged,
			"the model: gemini sent a stream that is too long: more than 8388608 bytes in a line"},
		"HTML": {stub.Reply{Status: 200, Body: "<html><title>Sign in</title></html>"}, charged,
			`the model: gemini sent an HTML page with the title "Sign in"; check the base URL`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := connect(t, current, stub.Gemini(nil, test.reply), nil)
			options, _, _ := streaming()
			_, err := m.GenerateContent(t.Context(), []llms.MessageContent{human("?")}, options...)
			text := "no error"
			if err != nil {
				text = err.Error()
			}
			checkError(t, err, test.want, test.text+strings.TrimPrefix(text, test.text))
		})
	}
}

// The model of a project is called with tokens, which do not appear in errors.
func TestVertex(t *testing.T) {
	t.Setenv("GOOGLE_CLOUD_PROJECT", "acme")
	t.Setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
	t.Setenv("GOOGLE_API_KEY", "")
	s := stub.Gemini(&stub.Options{Key: "token-1"}, stub.Reply{Text: "Hi."}, stub.Reply{Status: 500, Body: "for token-1"})
	server := httptest.NewServer(s)
	defer server.Close()
	token, broken := "token-1", error(nil)
	o := &wire.Options{BaseURL: server.URL, Key: "unused",
		Token: func(context.Context) (string, error) { return token, broken }}
	m, err := gemini.NewVertex(current, o)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(options ...llms.CallOption) error {
		_, err := m.GenerateContent(t.Context(), []llms.MessageContent{human("?")}, options...)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	sent := s.Requests()[0]
	const path = "/v1beta1/projects/acme/locations/europe-west4/publishers/google/models/" + current + ":generateContent"
	if sent.Path != path || sent.Header.Get("X-Goog-Api-Key") != "" {
		t.Errorf("sent to %s: %v", sent.Path, sent.Header)
	}
	checkError(t, ask(), lm.Error{Kind: lm.KindTransient, Status: 500},
		"the model: vertex answered 500 Internal Server Error: for [key]; try again")
	broken = errors.New("no default credentials")
	checkError(t, ask(), lm.Error{Kind: lm.KindAuth},
		"the model's provider refuses access: cannot get credentials for vertex: no default credentials")
	_, broken = (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:0")
	if e, ok := errors.AsType[*lm.Error](ask()); !ok || e.Kind != lm.KindTransient {
		t.Errorf("got %+v", e)
	}
}

func TestNew(t *testing.T) {
	for _, variable := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"} {
		t.Setenv(variable, "")
	}
	token := func(context.Context) (string, error) { return "t", nil }
	for want, open := range map[string]func() (*gemini.Model, error){
		"the model's provider refuses access: GEMINI_API_KEY is not set; set it or pass a key": func() (*gemini.Model, error) {
			return gemini.New(current, &wire.Options{})
		},
		"the model's provider refuses access: GOOGLE_API_KEY is not set; set it or pass a key": func() (*gemini.Model, error) {
			return gemini.NewVertex(current, &wire.Options{Project: "acme"})
		},
		"the model: GOOGLE_CLOUD_PROJECT is not set; set it or pass a project": func() (*gemini.Model, error) {
			return gemini.NewVertex(current, &wire.Options{Token: token})
		},
	} {
		if _, err := open(); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	m, err := gemini.NewVertex(current, &wire.Options{Token: token, Project: "acme"})
	want := lm.Capabilities{Schema: true, Tools: true, Thinking: true, Vision: true, Model: current}
	if err != nil || m.Capabilities() != want {
		t.Errorf("got %+v, %v", m, err)
	}
}

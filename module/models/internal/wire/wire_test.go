package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/keepalive"
	"github.com/writ-go/writ/module/internal/lm"
)

// serving returns a client for a server with the handler h.
func serving(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return &Client{Provider: "acme", Variable: "ACME_API_KEY", BaseURL: server.URL, Key: "sk-secret",
		HTTP: server.Client()}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		want   lm.Error
		text   string
	}{
		{"400", 400, nil, `{"error":{"message":"Unknown parameter: 'x'.","type":"invalid_request_error","code":null}}`,
			lm.Error{Kind: lm.KindInvalid, Status: 400},
			"the model: acme answered 400 Bad Request: Unknown parameter: 'x'.; check the model and the options " +
				"of the request"},
		{"401 with the key", 401, nil, `{"error":{"message":"Incorrect API key provided: sk-secret."}}`,
			lm.Error{Kind: lm.KindAuth, Status: 401},
			"the model's provider refuses access: acme answered 401 Unauthorized: Incorrect API key provided: " +
				"[key].; check the key in ACME_API_KEY"},
		{"402", 402, nil, `{"message":"Insufficient Balance"}`, lm.Error{Kind: lm.KindAuth, Status: 402},
			"the model's provider refuses access: acme answered 402 Payment Required: Insufficient Balance; check " +
				"the credit and the limits of the account"},
		{"403", 403, nil, `{"detail":"no access"}`, lm.Error{Kind: lm.KindAuth, Status: 403},
			"the model's provider refuses access: acme answered 403 Forbidden: no access; check what the key in " +
				"ACME_API_KEY may do"},
		{"404", 404, nil, `{"error":"model 'x' not found"}`, lm.Error{Kind: lm.KindInvalid, Status: 404},
			"the model: acme answered 404 Not Found: model 'x' not found; check the model name and the " +
				"base URL"},
		{"429", 429, nil, ``, lm.Error{Kind: lm.KindRateLimited, Status: 429},
			"the model's rate limit is reached: acme answered 429 Too Many Requests: no message; retry later or " +
				"less often"},
		{"429 in seconds", 429, http.Header{"Retry-After": {"1.5"}}, `[{"error":{"message":"slow"}}]`,
			lm.Error{Kind: lm.KindRateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond},
			"the model's rate limit is reached for 1.5s: acme answered 429 Too Many Requests: slow; retry later or " +
				"less often"},
		{"429 in milliseconds", 429, http.Header{"Retry-After-Ms": {"20"}, "Retry-After": {"1"}}, `slow`,
			lm.Error{Kind: lm.KindRateLimited, Status: 429, RetryAfter: 20 * time.Millisecond},
			"the model's rate limit is reached for 20ms: acme answered 429 Too Many Requests: slow; retry later or " +
				"less often"},
		{"429 of money", 429, nil, `{"error":{"message":"You exceeded your current quota",` +
			`"code":"insufficient_quota"}}`,
			lm.Error{Kind: lm.KindAuth, Status: 429},
			"the model's provider refuses access: acme answered 429 Too Many Requests: You exceeded your current " +
				"quota; check the credit and the limits of the account"},
		{"500", 500, nil, `{"error":{"message":""}}`, lm.Error{Kind: lm.KindTransient, Status: 500},
			"the model: acme answered 500 Internal Server Error: {\"message\":\"\"}; try again"},
		{"502 as HTML", 502, nil, "\n<html><head><title>Bad &amp; ugly</title>",
			lm.Error{Kind: lm.KindTransient, Status: 502, MaybeCharged: true},
			"the model: acme answered 502 Bad Gateway: an HTML page with the title \"Bad & ugly\"; try again"},
		{"redirect", 307, http.Header{"Location": {"https://elsewhere.example"}}, ``,
			lm.Error{Kind: lm.KindInvalid, Status: 307},
			"the model: acme answered 307 Temporary Redirect: no message; it is a redirect; set the base URL " +
				"to the address of the API"},
		{"too long", 400, nil, `{"error":{"message":"too many","code":"context_length_exceeded"}}`,
			lm.Error{Kind: lm.KindContextTooLong, Status: 400},
			"the prompt is too long for the model: acme answered 400 Bad Request: too many; shorten the prompt " +
				"or use a model with a larger context"},
		{"filtered", 400, nil, `{"error":{"message":"no","code":"content_filter"}}`,
			lm.Error{Kind: lm.KindRefused, Status: 400},
			"the model refuses to answer: acme answered 400 Bad Request: no; change the prompt"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			})
			c.HTTP = nil
			_, err := c.Post(t.Context(), "/chat", nil)
			checkError(t, err, test.want, test.text)
		})
	}
}

func checkError(t *testing.T, err error, want lm.Error, text string) {
	t.Helper()
	e, ok := errors.AsType[*lm.Error](err)
	if !ok {
		t.Fatalf("error %v is not an *Error", err)
	}
	if got := (lm.Error{Kind: e.Kind, Status: e.Status, RetryAfter: e.RetryAfter,
		MaybeCharged: e.MaybeCharged}); got != want {
		t.Errorf("error %+v, want %+v", got, want)
	}
	if got := e.Error(); got != text {
		t.Errorf("error\n%s\nwant\n%s", got, text)
	}
}

func TestRetryAfterDate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at   string
		wait bool
	}{{"Mon, 02 Jan 2006 15:04:05 GMT", false}, {"Fri, 02 Jan 2099 15:04:05 GMT", true}, {"-3", false},
		{"NaN", false}} {
		if got := waitOf(http.Header{"Retry-After": {test.at}}); got > 0 != test.wait {
			t.Errorf("%s: wait %v", test.at, got)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	c := &Client{Provider: "acme", BaseURL: "http://user:password@127.0.0.1:1"}
	_, err := c.Post(t.Context(), "/chat?key=secret", nil)
	checkError(t, err, lm.Error{Kind: lm.KindTransient},
		"the model: cannot reach acme: dial tcp 127.0.0.1:1: connect: connection refused; check the network and "+
			"the base URL")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Post(ctx, "/chat", nil)
	checkError(t, err, lm.Error{Kind: lm.KindCancelled, MaybeCharged: true}, "context canceled")
	if !errors.Is(err, context.Canceled) {
		t.Error("the error is not the context's")
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	charged := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	tests := []struct {
		name, body string
		want       lm.Error
		text       string
	}{
		{"cut", `{"a":`, charged, `the model: acme sent a malformed reply (unexpected ` +
			`end of JSON input): {"a":`},
		{"an error", `{"error":{"message":"overloaded","code":503}}`,
			lm.Error{Kind: lm.KindTransient, Status: 503, MaybeCharged: true},
			`the model: acme answered with an error: overloaded; try again`},
		{"crowded", `[` + strings.Repeat(`{},`, maxElements) + `{}]`, charged,
			`the model: acme sent a reply that is too large: more than 8388608 bytes or 262144 elements`},
		{"large", `"` + strings.Repeat(`a`, maxBody) + `"`, charged,
			`the model: acme sent a reply that is too large: more than 8388608 bytes or 262144 elements`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var into struct{ A int }
			checkError(t, answer(test.body).Decode(t.Context(), &into), test.want, test.text)
		})
	}
	var into struct{ A string }
	if err := answer(`{"a":"`+strings.Repeat(`\",`, maxElements)+`","error":null}`).Decode(t.Context(),
		&into); err != nil {
		t.Error(err)
	}
}

// A server that repeats the key in the form of its response does not get it into an error.
func TestBrokenResponsesHideTheKey(t *testing.T) {
	t.Parallel()
	title := strings.Repeat("x", 194) + "sk-secret, too"
	for response, want := range map[string]string{
		"HTTP/1.1 sk-secret Unauthorized\r\n\r\n":                 `malformed HTTP status code "[key]"`,
		"sk-secret\r\n\r\n":                                       `malformed HTTP response "[key]"`,
		"HTTP/1.1 200 OK\r\nContent-Length: sk-secret\r\n\r\n":    `bad Content-Length "[key]"`,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: sk-secret\r\n\r\n": `unsupported transfer encoding: "[key]"`,
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<title>" + title + "</title>": "xx[ke…",
	} {
		c := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = conn.Write([]byte(response))
				_ = conn.Close()
			}
		})
		_, err := c.Post(t.Context(), "/chat", nil)
		if text := fmt.Sprint(err); strings.Contains(text, "sk-se") || !strings.Contains(text, want) {
			t.Errorf("%q: error %s, want %s", response, text, want)
		}
		if e, ok := errors.AsType[*lm.Error](err); !ok || e.Kind != lm.KindTransient || !e.MaybeCharged {
			t.Errorf("%q: error %+v", response, e)
		}
	}
}

// Without a client of the caller, idle connections are kept for all concurrent requests.
func TestClientKeepsConnections(t *testing.T) {
	t.Parallel()
	if (&Client{}).http().Transport != keepalive.Transport() {
		t.Error("another transport")
	}
}

func answer(body string) *Answer {
	return &Answer{client: &Client{Provider: "acme"}, body: io.NopCloser(strings.NewReader(body))}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", 1<<20) + `"`
	tests := []struct {
		name, body string
		want       []string
	}{
		{"plain", "data: 1\n\ndata:2\n\n", []string{"=1", "=2"}},
		{"named, with comments", ": hi\nevent: a\ndata: 1\nid: 3\n\ndata: [DONE]\n\n", []string{"a=1", "=[DONE]"}},
		{"several lines, CRLF", "data: {\r\ndata: }\r\n\r\n", []string{"={\n}"}},
		{"heartbeats", "data:\n\nevent: ping\n\n\ndata: 1\n\n", []string{"=1"}},
		{"no last blank line", "data: {}", []string{"={}"}},
		{"cut", "data: {}\n\ndata: {\"a\"", []string{"={}"}},
		{"a long line", "data: " + long + "\n\n", []string{"=" + long}},
		{"an error", "data: {\"error\":{\"message\":\"overloaded_error\"}}\n\ndata: 1\n\n",
			[]string{"the model: acme answered with an error: overloaded_error; try again"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for e, err := range answer(test.body).Events(t.Context()) {
				if err != nil {
					got = append(got, err.Error())
				} else {
					got = append(got, e.Name+"="+string(e.Data))
				}
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("events\n%.200q\nwant\n%.200q", got, test.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var got []string
	for e, err := range answer("{\"a\":1}\n\n{\"error\":\"no such model\"}\n{}").Lines(t.Context()) {
		got = append(got, string(e.Data), fmt.Sprint(err))
	}
	want := []string{`{"a":1}`, "<nil>", "", "the model: acme answered with an error: no such model; check the " +
		"model and the options of the request"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	// In this test, a frame is one byte for its length, and the data.
	next := func(r io.Reader) (Event, error) {
		var n [1]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return Event{}, err
		}
		data := make([]byte, n[0])
		_, err := io.ReadFull(r, data)
		return Event{"n", data}, err
	}
	for body, want := range map[string]string{
		"\x02{}\x0212":               "{} <nil>, 12 <nil>, ",
		"\x02{}\x0212\x05{":          "{} <nil>, 12 <nil>,  the model: the reply broke off: unexpected EOF, ",
		"\x10{\"error\":\"stop\"}{}": " the model: acme answered with an error: stop; check the model and the options of the request, ",
	} {
		got := ""
		for e, err := range answer(body).Frames(t.Context(), next) {
			got += fmt.Sprint(string(e.Data), " ", err, ", ")
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range answer("\x011\x011").Frames(ctx, next) {
		cancel()
		if e, ok := errors.AsType[*lm.Error](err); err != nil && (!ok || e.Kind != lm.KindCancelled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	form := Form{Text: func(text string) map[string]any { return map[string]any{"text": text} },
		Result: func(r llms.ToolCallResponse) map[string]any { return map[string]any{"result": r.Content} },
		Raw:    func(lm.Message, []llms.ContentPart) ([]any, error) { return nil, nil }}
	say := func(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: role, Parts: parts}
	}
	messages := []llms.MessageContent{
		say(llms.ChatMessageTypeSystem, llms.TextPart("S")), say(llms.ChatMessageTypeHuman, llms.TextPart("a"), llms.TextPart(" ")),
		say(llms.ChatMessageTypeHuman, llms.TextPart("b")), say(llms.ChatMessageTypeAI, llms.TextPart("")),
		say(llms.ChatMessageTypeTool, llms.ToolCallResponse{Content: "r"}), say(llms.ChatMessageTypeAI, lm.Message{TextContent: llms.TextPart("c")}),
	}
	for alternate, want := range map[bool]string{
		true: `[{"role":"user","content":[{"text":"a"},{"text":"b"},{"result":"r"}]},` +
			`{"role":"assistant","content":[{"text":"c"}]}]`,
		false: `[{"role":"user","content":[{"text":"a"},{"text":"b"}]},{"role":"user","content":[{"result":"r"}]},` +
			`{"role":"assistant","content":[{"text":"c"}]}]`,
	} {
		form.Alternate = alternate
		system, turns, err := form.Conversation(messages)
		got, _ := json.Marshal(turns)
		if err != nil || len(system) != 1 || system[0]["text"] != "S" || string(got) != want {
			t.Errorf("got %v, %s, %v\nwant %s", system, got, err, want)
		}
	}
}

func TestMerged(t *testing.T) {
	t.Parallel()
	body := map[string]any{"a": 1, "b": map[string]any{"c": 2, "d": 3}, "e": 4}
	got := merged(body, map[string]any{"b": map[string]any{"c": 5}, "e": nil, "f": 6})
	want := map[string]any{"a": 1, "b": map[string]any{"c": 5, "d": 3}, "f": 6}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("merged %v, want %v", got, want)
	}
	if len(body) != 3 || body["b"].(map[string]any)["c"] != 2 {
		t.Errorf("merged changed its argument to %v", body)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("data: 1\n\nevent: x\ndata: {\"error\":\"e\"}\n\n")
	f.Add("data: {\r\n\rdata\n:\n\n")
	f.Fuzz(func(t *testing.T, body string) {
		failed := false
		for e, err := range answer(body).Events(t.Context()) {
			if failed {
				t.Fatal("an error was not the last thing")
			}
			failed = err != nil
			if _, ok := errors.AsType[*lm.Error](err); failed && !ok {
				t.Fatalf("error %v is not an *Error", err)
			}
			if !failed && !strings.Contains(body, string(e.Data)) && !strings.Contains(string(e.Data), "\n") {
				t.Fatalf("data %q is not in %q", e.Data, body)
			}
		}
	})
}

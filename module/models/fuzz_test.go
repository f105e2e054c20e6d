package models

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// exchange is one of a call that asked for nothing.
func exchange(t *testing.T) (x *lm.Exchange) {
	t.Helper()
	_, _ = lm.Generate(t.Context(), probe(func(got *lm.Exchange) { x = got }), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "?")})
	return x
}

// FuzzEvents reads streams in pieces: what is neither an error nor too long comes
// out as it went in.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\ndata: more\n",
		"data: {\"error\":null}\n", "data:{\"error\":\"x\"}", ": comment\n\r\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		e := newEvents(io.NopCloser(iotest.HalfReader(bytes.NewReader(stream))), exchange(t))
		got, err := io.ReadAll(e)
		if !bytes.HasPrefix(stream, got) {
			t.Fatalf("got %q of %q", got, stream)
		}
		if !bytes.Contains(stream, []byte(`"error"`)) && len(got) != len(stream) {
			t.Fatalf("got only %q of %q", got, stream)
		}
		done := []byte("\ndata: [DONE]\n")
		if err != nil && bytes.HasSuffix(stream, done) {
			t.Fatalf("%v though it ended: %q", err, stream)
		}
		if err == nil && !bytes.Contains(stream, []byte(`"error"`)) && !bytes.Contains(stream, []byte("[DONE]")) && !ending.Match(stream) {
			t.Fatalf("no error, though it did not end: %q", stream)
		}
	})
}

// FuzzDivide divides long events: the pieces are events, and together the text.
func FuzzDivide(f *testing.F) {
	f.Add("Seine ☕ ", "stop", 9000, true)
	f.Add("<\x00\"", "", 30000, false)
	f.Fuzz(func(t *testing.T, text, reason string, times int, openai bool) {
		reason = strings.ToValidUTF8(reason, "")
		text = strings.Repeat(strings.ToValidUTF8(text, ""), min(max(times, 1), 1<<18/(len(text)+1)))
		event := map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": text}}
		if openai {
			event = map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": text}, "finish_reason": reason}}}
		}
		line, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		var whole strings.Builder
		last := ""
		for piece := range bytes.Lines(divide([]byte("data: " + string(line) + "\n"))) {
			if len(bytes.TrimSpace(piece)) == 0 {
				continue
			}
			if len(piece) > 64<<10 {
				t.Fatalf("a piece of %d bytes", len(piece))
			}
			var e struct {
				Delta   struct{ Text string }
				Choices []struct {
					Delta        struct{ Content string }
					FinishReason string `json:"finish_reason"`
				}
			}
			if err := json.Unmarshal(bytes.TrimPrefix(piece, []byte("data:")), &e); err != nil {
				t.Fatal(err)
			}
			whole.WriteString(e.Delta.Text)
			for _, c := range e.Choices {
				whole.WriteString(c.Delta.Content)
				if last != "" {
					t.Fatal("something comes after the reason to stop")
				}
				last = c.FinishReason
			}
		}
		if whole.String() != text || (openai && last != reason) {
			t.Fatalf("got %d bytes and %q of %d and %q", whole.Len(), last, len(text), reason)
		}
	})
}

// FuzzComplaint reads the bodies of errors.
func FuzzComplaint(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","type":"t","code":"c"}}`, `[{"error":{"message":"m","status":"S","code":429}}]`, `{"error":"m"}`, `{"message":"m","code":1}`, `<html>`, `m`, `{`, `null`, `[]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		message, code := complaint(body)
		if len(message) > maxErrorMessage+len("…") {
			t.Errorf("a message of %d bytes", len(message))
		}
		if e := lm.FromAnswer(500, 0, message, code); e.Kind == "" {
			t.Errorf("%q: no kind", body)
		}
	})
}

func TestComplaint(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":{"message":"m","type":"t","code":"c"}}`:                             "m|t c",
		`[{"error":{"message":"m","status":"RESOURCE_EXHAUSTED","code":429}}]`:        "m|RESOURCE_EXHAUSTED",
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: "Overloaded|overloaded_error",
		`{"error":"m"}`:                "m|",
		`{"message":"m","type":"t"}`:   "m|t",
		`{"error":{"code":"x"}}`:       "|x",
		` <html>Bad gateway</html>`:    "|",
		`upstream connect error`:       "upstream connect error|",
		``:                             "|",
		strings.Repeat("é", 600):       strings.Repeat("é", 500) + "…|",
		`{"error":{"message":["m"]}}`:  "|",
		`{"error":null,"message":"m"}`: "m|",
	} {
		message, code := complaint([]byte(body))
		if got := message + "|" + code; got != want {
			t.Errorf("%s: got %s, want %s", body, got, want)
		}
	}
}

// FuzzWait reads the headers that ask to wait: never a wait below zero.
func FuzzWait(f *testing.F) {
	f.Add("20", "1500", "6m0s")
	f.Add("Wed, 21 Oct 2015 07:28:00 GMT", "", "1e99h")
	f.Add("-1", "NaN", "-5s")
	f.Add("1e300", "Inf", "")
	f.Fuzz(func(t *testing.T, after, ms, reset string) {
		for _, h := range []http.Header{
			{"Retry-After": {after}}, {"Retry-After-Ms": {ms}},
			{"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {reset}},
			{"Anthropic-Ratelimit-Tokens-Remaining": {"0"}, "Anthropic-Ratelimit-Tokens-Reset": {reset}},
		} {
			if d := waitOf(h); d < 0 {
				t.Errorf("%v: %s", h, d)
			}
		}
	})
}

func TestWaitUntil(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for want, h := range map[bool]http.Header{
		true:  {"Anthropic-Ratelimit-Input-Tokens-Remaining": {"0"}, "Anthropic-Ratelimit-Input-Tokens-Reset": {at}},
		false: {"Anthropic-Ratelimit-Input-Tokens-Remaining": {"5"}, "Anthropic-Ratelimit-Input-Tokens-Reset": {at}},
	} {
		if d := waitOf(h); (d > 50*time.Minute && d <= time.Hour) != want {
			t.Errorf("%v: %s", h, d)
		}
	}
}

// probe is a model that shows the call it is in.
func probe(show func(*lm.Exchange)) llms.Model {
	return wrapped(func(ctx context.Context, _ []llms.MessageContent, _ []llms.CallOption) (*llms.ContentResponse, error) {
		show(lm.ExchangeOf(ctx))
		return nil, nil
	})
}

package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

func TestEventReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "event: a\nid: 1\nretry: 5\ndata: x\n\n", `a 1 5 "x"`},
		{"several lines of data", "data: a\ndata:b\ndata:  c\ndata\n\n", `   "a\nb\n c\n"`},
		{"ends of lines", "data: a\n\ndata: b\r\n\r\ndata: c\n\r\n", "   \"a\"\n   \"b\"\n   \"c\""},
		{"comments and unknown fields", ": hi\n\n:\nfoo: bar\nbaz\ndata: x\n\n", `   "x"`},
		{"data that is empty", "data\n\nid: 1\n\n", "   \"\"\n 1  \"\""},
		{"not complete", "data: x\n\ndata: y\n", `   "x"`},
		{"too large", "data: 12345678901\n\ndata: x\n\n", "too large: 11\n   \"x\""},
		{"too large over several lines", "data: 12345\ndata: 678901\n\n", "too large: 12"},
		{"far too large, in short lines", strings.Repeat("data: 1234567\n", 10_000) + "\ndata: x\n\n",
			"too large: 79999\n   \"x\""},
		{"empty lines of data without end", strings.Repeat("data\n", 10_000) + "\ndata: x\n\n", "too large: 9999\n   \"x\""},
		{"comments without end", strings.Repeat(": ping\n", 100) + "data: x\n\n", `   "x"`},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			var got []string
			events := newEventReader(r, 10)
			for {
				evt, err := events.next()
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Error(err)
					}
					break
				}
				line := fmt.Sprintf("%s %s %s %q", evt.name, evt.id, evt.retry, evt.data)
				if evt.rejected != nil {
					line = fmt.Sprintf("too large: %d", evt.rejected.Size())
				}
				got = append(got, line)
			}
			equal(t, c.name, strings.Join(got, "\n"), c.want)
		}
	}
}

// The end of an endless event is not waited for.
func TestEndlessEvent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", 2<<10), "data: " +
		strings.Repeat("x", 2<<20)} {
		in := strings.NewReader(text)
		evt, err := newEventReader(in, 1000).next()
		if err != nil || evt.rejected == nil || in.Len() == 0 {
			t.Errorf("got %+v, %v with %d bytes left", evt, err, in.Len())
		}
	}
}

// A response that is too large fails its call, even over a stream for all calls, and whichever end
// of it has the ID.
func TestTooLargeEventFailsItsCall(t *testing.T) {
	t.Parallel()
	id, err := jsonrpc.MakeID(float64(7))
	if err != nil {
		t.Fatal(err)
	}
	big := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 5000) + `"}]}`
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":7,"result":` + big + `}`,
		`{"result":` + big + `,"jsonrpc":"2.0","id":7}`,
	} {
		r, call := newResponses(t, id, SSE, 1000)
		out, err := io.ReadAll(r.follow(io.NopCloser(strings.NewReader("data: "+text+"\n\n")), jsonrpc.ID{}))
		if err != nil {
			t.Fatal(err)
		}
		if size, ok := errors.AsType[*message.SizeError](call.Err()); !ok || size.Size != len(text) {
			t.Errorf("%.40s: %s", text, out)
		}
	}
}

// newResponses returns responses with one call that waits for its result.
func newResponses(t testing.TB, id jsonrpc.ID, typ string, limit int) (*responses, *message.Call) {
	call := &message.Call{}
	e := &message.Exchange{}
	e.Expect(message.WithCall(t.Context(), call), &jsonrpc.Request{ID: id, Method: "m"})
	return &responses{Config: &Config{Exchange: e, Type: typ, Limit: limit}}, call
}

// The SDK can read whatever becomes of any stream, and the stream ends.
func FuzzStream(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\ndata: \"result\":{}}\n\n"))
	f.Add([]byte("\ufeff: x\r\rdata\r\n\r\nevent: endpoint\ndata: /m\n\n"))
	f.Add([]byte("data: " + strings.Repeat("x", 300) + ",\"id\":7}\n\n"))
	id, err := jsonrpc.MakeID(float64(7))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, call := range []jsonrpc.ID{{}, id} {
			r, _ := newResponses(t, id, HTTP, 200)
			out, err := io.ReadAll(r.follow(io.NopCloser(bytes.NewReader(data)), call))
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.SplitSeq(out, []byte("\n")) {
				if len(line) > 0 && !bytes.Contains(line, []byte(":")) {
					t.Fatalf("there is a line without a colon in %q", out)
				}
			}
			events := newEventReader(bytes.NewReader(out), 1<<20)
			for {
				evt, err := events.next()
				if err != nil {
					break
				}
				if len(evt.data) > 0 {
					if _, err := jsonrpc.DecodeMessage(evt.data); err != nil {
						t.Fatalf("not a message: %q", evt.data)
					}
				}
			}
		}
	})
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got: %s\nwant: %s", what, got, want)
	}
}

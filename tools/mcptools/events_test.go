package mcptools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "event: a\nid: 1\nretry: 5\ndata: x\n\n", `a 1 5 "x"`},
		{"several lines of data", "data: a\ndata:b\ndata:  c\ndata\n\n", `   "a\nb\n c\n"`},
		{"ends of lines", "data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", "   \"a\"\n   \"b\"\n   \"c\""},
		{"comments and unknown fields", ": hi\n\n:\nfoo: bar\nbaz\ndata: x\n\n", `   "x"`},
		{"a byte order mark", "\ufeffdata: x\n\n", `   "x"`},
		{"data that is empty", "data\n\nid: 1\n\n", "   \"\"\n 1  \"\""},
		{"not complete", "data: x\n\ndata: y\n", `   "x"`},
		{"too large", "data: 12345678901\n\ndata: x\n\n", "too large: 11\n   \"x\""},
		{"too large over several lines", "data: 12345\ndata: 678901\n\n", "too large: 12"},
		{"far too large, in short lines", strings.Repeat("data: 1234567\n", 10_000) + "\ndata: x\n\n", "too large: 79999\n   \"x\""},
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
				if evt.long != nil {
					line = fmt.Sprintf("too large: %d", evt.long.size)
				}
				got = append(got, line)
			}
			equal(t, c.name, strings.Join(got, "\n"), c.want)
		}
	}
}

// An event that does not end is not waited for.
func TestEndlessEventsAreCutOff(t *testing.T) {
	t.Parallel()
	in := strings.NewReader(strings.Repeat("data\n", 2<<20))
	evt, err := newEventReader(in, 1000).next()
	if err != nil || evt.long == nil || in.Len() == 0 {
		t.Errorf("%+v, %v, %d bytes are left", evt.long, err, in.Len())
	}
}

// Of data without end no more is kept than is allowed, even if its lines are
// empty, of which gzip makes next to nothing.
func TestEndlessDataIsNotKept(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"data\n", "data:\n", "data: x\n"} {
		evt, err := newEventReader(strings.NewReader(strings.Repeat(line, 100_000)+"\n"), 1000).next()
		if err != nil {
			t.Fatal(err)
		}
		if kept := cap(evt.long.head); kept > 10_000 {
			t.Errorf("%q: %d bytes were kept", line, kept)
		}
	}
}

// An answer that is too large fails its call also where the stream is that of
// all calls, whichever end of it has the id.
func TestTooLargeEventsAreAnswers(t *testing.T) {
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
		var w replies
		r := &reply{}
		w.waiting = map[jsonrpc.ID]*reply{id: r}
		a := &answers{replies: &w, limit: 1000, legacy: true}
		out, err := io.ReadAll(a.follow(io.NopCloser(strings.NewReader("data: "+text+"\n\n")), jsonrpc.ID{}))
		if err != nil {
			t.Fatal(err)
		}
		why := r.why.Load()
		if size := (*sizeError)(nil); why == nil || !errors.As(*why, &size) || size.size != len(text) {
			t.Errorf("%.40s: %s", text, out)
		}
	}
}

// What is read of any stream is well-formed to the SDK, and ends.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\ndata: \"result\":{}}\n\n"))
	f.Add([]byte("\ufeff: x\r\rdata\r\n\r\nevent: endpoint\ndata: /m\n\n"))
	f.Add([]byte("data: " + strings.Repeat("x", 300) + ",\"id\":7}\n\n"))
	id, err := jsonrpc.MakeID(float64(7))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, call := range []jsonrpc.ID{{}, id} {
			w := &replies{waiting: map[jsonrpc.ID]*reply{id: {}}}
			a := &answers{replies: w, limit: 200}
			out, err := io.ReadAll(a.follow(io.NopCloser(bytes.NewReader(data)), call))
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.SplitSeq(out, []byte("\n")) {
				if len(line) > 0 && !bytes.Contains(line, []byte(":")) {
					t.Fatalf("a line without a colon: %q", out)
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
						t.Fatalf("no message: %q", evt.data)
					}
				}
			}
		}
	})
}

package message

import (
	"fmt"
	"strings"
	"testing"
)

func TestBufferReject(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x", 1000)
	for _, c := range []struct{ name, line, want string }{
		{"id first", `{"jsonrpc":"2.0","id":7,"result":{"a":"` + filler + `"}}`, "7"},
		{"id first, without version", `{"id" : 7, "result":{"a":"` + filler + `"}}`, "7"},
		{"id last", `{"result":{"a":"` + filler + `"},"jsonrpc":"2.0","id":7}`, "7"},
		{"id before the version at the end", `{"result":{"a":"` + filler + `"},"id":7,"jsonrpc":"2.0"}`, "7"},
		{"a notification", `{"jsonrpc":"2.0","method":"m","params":{"a":"` + filler + `","id":7}}`, "none"},
		{"a request", `{"jsonrpc":"2.0","id":7,"method":"m","params":"` + filler + `"}`, "none"},
		{"an id in a string", `{"result":"` + filler + `,\"id\":7}"}`, "none"},
		{"an id of the result", `{"result":{"a":"` + filler + `","id":7}}`, "none"},
	} {
		b := NewBuffer(100)
		for _, part := range strings.SplitAfter(c.line, "x") {
			_, _ = b.Write([]byte(part))
		}
		equal(t, c.name, fmt.Sprint(b.Err()), fmt.Sprintf("the response has %d bytes; the limit is 100", len(c.line)))
		got := "none"
		if r := b.Reject(); r != nil {
			got = fmt.Sprint(r.ID.Raw())
		}
		equal(t, c.name, got, c.want)
	}
}

// The memory for a message is bounded, whatever follows the limit.
func TestBufferIsBounded(t *testing.T) {
	t.Parallel()
	b := NewBuffer(1000)
	for range 100_000 {
		_, _ = b.Write([]byte("data\n"))
	}
	if kept := cap(b.data) + cap(b.tail); kept > 10_000 || b.Size() != 500_000 {
		t.Errorf("%d bytes are kept of %d", kept, b.Size())
	}
}

package serve_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestBrokenListener checks the error for a broken listener.
func TestBrokenListener(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	err = serve.Run(t.Context(), newWorks().server, &serve.Options{Transport: serve.HTTP, Listener: l})
	if want := "serving " + l.Addr().String() + ": "; err == nil || !strings.HasPrefix(err.Error(), want) ||
		!errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v, want %s…", err, want)
	}
}

// TestOddRequests sends requests that proxies and servers may interpret differently, or that
// are too large. All are refused, and the server continues.
func TestOddRequests(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{})
	for name, c := range map[string]struct{ request, want string }{
		"two lengths": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
			"400"},
		"length and chunk": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: " +
			"chunked\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n", "400"},
		"odd chunk":        {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
		"two hosts":        {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n\r\n", "400"},
		"no host":          {"POST /mcp HTTP/1.1\r\n\r\n", "400"},
		"empty host":       {"POST /mcp HTTP/1.1\r\nHost:\r\n\r\n", "403"},
		"host in the line": {"POST http://evil.com/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "403"},
		"no host, 1.0":     {"POST /mcp HTTP/1.0\r\n\r\n", "403"},
		"huge header": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A: " + strings.Repeat("a", 200_000) + "\r\n\r\n",
			"431"},
		"many headers": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("X-A: a\r\n", 50_000) + "\r\n",
			"431"},
		"space in header": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin : http://evil.com\r\n\r\n", "400"},
		"no HTTP":         {"{\"jsonrpc\":\"2.0\"}\r\n\r\n", "400"},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, c.request) }() // the server may not read all of it
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.") || !strings.Contains(line, " "+c.want+" ") {
			t.Errorf("%s: %q and %v, want %s", name, line, err, c.want)
		}
		conn.Close()
	}
	for name, c := range map[string]struct {
		body   string
		status int
		text   string
	}{
		"deep": {strings.Repeat("[", 2_000_000), 400, "the message is not JSON, or is nested too deeply"},
		"deep and whole": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 500_000) + "1" +
			strings.Repeat("}", 500_001), 400, "the message is not JSON, or is nested too deeply"},
		"10 MB":    {strings.Repeat("[", 10_000_000), 413, "a message may have at most 4194304 bytes"},
		"no JSON":  {"hello", 400, "the message is not JSON, or is nested too deeply"},
		"empty":    {"", 400, "the message is not JSON, or is nested too deeply"},
		"a number": {"7", 400, "not a JSON-RPC message"},
		"many values": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[` + strings.Repeat("{},", 100_000) +
			`1]}}`, 413, "a message may have at most 100000 JSON values"},
		"huge batch": {"[" + strings.Repeat("{},", 1_000_000) + "1]", 413, "a message may have at most 100000 JSON values"},
		"batch":      {"[" + callWho + "]", 400, "batches are not supported; send one message per request"},
	} {
		if a := r.post(c.body); a.status != c.status || !strings.Contains(a.body, `"message":"`+c.text+`"`) {
			t.Errorf("%s: %d %.200q, want %d %s", name, a.status, a.body, c.status, c.text)
		}
	}
	for name, body := range map[string]string{
		"null": "null", "empty batch": "[]", "no method": `{"jsonrpc":"2.0","id":1}`,
		"wrong version":  `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		"unknown answer": `{"jsonrpc":"2.0","id":99,"result":{}}`, "odd id": `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`,
		"two methods": `{"jsonrpc":"2.0","id":1,"method":"tools/call","METHOD":"initialize"}`,
		"no params":   `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		"null byte":   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\x00ng\"}",
	} {
		if a := r.post(body); a.status >= 500 {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	r.post(callWho).want(t, "afterwards", http.StatusOK)
}

// TestConnections has more clients than connections: all are served eventually.
func TestConnections(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *works) {
		r := s.start(t, serve.WithLimits(serve.Options{}, serve.Limits{Connections: 4, StallTimeout: 200 * time.Millisecond}))
		for range 8 {
			defer r.dial().Close() // sends nothing
		}
		r.post(callWho).want(t, "request", http.StatusOK)
	})
}

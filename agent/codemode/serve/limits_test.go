package serve_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestLimits refuses messages beyond the limits with a JSON-RPC error that ends only the call.
func TestLimits(t *testing.T) {
	t.Parallel()
	// Requests that are too large count too.
	r := start(t, serve.WithLimits(serve.Options{Auth: authorized(t), Rate: 0.001}, serve.Limits{Body: 1000, Burst: 5}))
	ada, bob := []string{"Authorization", "Bearer " + adaToken}, []string{"Authorization", "Bearer " + bobToken}
	large := `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", 1000) + `"}}`
	a := r.post(large, ada...)
	if a.status != http.StatusRequestEntityTooLarge ||
		a.body != `{"error":{"code":-32600,"message":"a message may have at most 1000 bytes"},"id":null,"jsonrpc":"2.0"}`+
			"\n" {
		t.Errorf("large: %d %s", a.status, a.body)
	}
	r.chunked(large, ada...).want(t, "large, in chunks", http.StatusRequestEntityTooLarge)
	for range 3 {
		if a := r.post(callWho, ada...); a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	a = r.post(callWho, ada...)
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" ||
		a.body != `{"error":{"code":-32603,"message":"too many messages: 0.001 per second are allowed; nothing was `+
			`done, try again later"},"id":null,"jsonrpc":"2.0"}`+"\n" {
		t.Errorf("too many: %d %v %s", a.status, a.header, a.body)
	}
	r.post(callWho, bob...).want(t, "another", http.StatusOK)
}

// chunked sends a message without a Content-Length.
func (r *running) chunked(body string, headers ...string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.url+"/mcp",
		io.MultiReader(strings.NewReader(body)))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set(headers[0], headers[1])
	res, err := r.web.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(text)}
}

// TestRateOverSDK checks that the rate limit does not end a session of an SDK client.
func TestRateOverSDK(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		inBubble(t, func(t *testing.T, s *works) {
			session := s.start(t, serve.WithLimits(serve.Options{Rate: 20}, serve.Limits{Burst: 6})).client(version, "", nil)
			var err error
			for err == nil {
				_, err = call(t.Context(), session, "who")
			}
			if !strings.Contains(err.Error(), "Too Many Requests") {
				t.Fatalf("%s: %v", version, err)
			}
			for range 3 {
				time.Sleep(50 * time.Millisecond) // the time in Retry-After
				mustCall(t, session, "who")
			}
		})
	}
}

// TestRequests bounds the open requests of one client, without affecting others.
func TestRequests(t *testing.T) {
	t.Parallel()
	r := start(t, serve.WithLimits(serve.Options{Auth: authorized(t), Stateless: true}, serve.Limits{Requests: 2}))
	ada := r.client(oldEra, adaToken, nil)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if text, err := call(t.Context(), ada, "wait"); text != "done" {
				t.Errorf("got %q and %v", text, err)
			}
		})
		select {
		case <-r.started:
		case <-time.After(time.Minute):
			t.Fatalf("the call does not begin:\n%s", r.log)
		}
	}
	a := r.post(callWho, "Authorization", "Bearer "+adaToken)
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "1" ||
		!strings.Contains(a.body, "you have 2 requests open; try again when one of them has ended") {
		t.Errorf("one more: %d %v %s", a.status, a.header, a.body)
	}
	r.post(callWho, "Authorization", "Bearer "+bobToken).want(t, "another", http.StatusOK)
	close(r.release)
	all.Wait()
	r.post(callWho, "Authorization", "Bearer "+adaToken).want(t, "afterwards", http.StatusOK)
}

// TestSessions checks that the session that has been idle for the longest time ends when there
// are too many, and that sessions in use do not end.
func TestSessions(t *testing.T) {
	t.Parallel()
	r := start(t, serve.WithLimits(serve.Options{Auth: authorized(t)}, serve.Limits{Sessions: 2}))
	ada, bob := []string{"Authorization", "Bearer " + adaToken}, []string{"Authorization", "Bearer " + bobToken}
	status := func(id string, headers []string) int {
		return r.post(callWho, append(headers, "Mcp-Session-Id", id)...).status
	}
	first, theirs, second := r.begin(ada...), r.begin(bob...), r.begin(ada...)
	if got := status(first, ada); got != http.StatusOK {
		t.Errorf("first: %d", got)
	}
	third := r.begin(ada...) // second has been idle the longest
	for _, c := range []struct {
		name, id string
		headers  []string
		want     int
	}{{"first", first, ada, 200}, {"second", second, ada, 404}, {"third", third, ada, 200}, {"theirs", theirs, bob, 200}} {
		if got := status(c.id, c.headers); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	var all sync.WaitGroup
	for _, id := range []string{first, third} {
		all.Go(func() {
			a := r.post(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"wait","arguments":{}}}`,
				append(ada, "Mcp-Session-Id", id)...)
			if !strings.Contains(a.body, `"text":"done"`) {
				t.Errorf("wait: %d %s", a.status, a.body)
			}
		})
		<-r.started
	}
	r.post(initialize, ada...).want(t, "all in use", http.StatusServiceUnavailable)
	close(r.release)
	all.Wait()
}

// TestIdleSessions checks that idle sessions end.
func TestIdleSessions(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *works) {
		r := s.start(t, serve.WithLimits(serve.Options{}, serve.Limits{IdleTimeout: 20 * time.Millisecond}))
		id := r.post(initialize).header.Get("Mcp-Session-Id")
		for live := range r.server(serve.Principal{Name: "local"}).Sessions() {
			if err := live.Wait(); err != nil { // only the limit ends it
				t.Error(err)
			}
		}
		r.post(callWho, "Mcp-Session-Id", id).want(t, "request", http.StatusNotFound)
	})
}

// TestStalls has clients that send nothing, half a header or half a message, or accept no
// response: each is disconnected after a while, but not a client that waits for a slow
// response.
func TestStalls(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *works) {
		r := s.start(t, serve.WithLimits(serve.Options{}, serve.Limits{StallTimeout: 150 * time.Millisecond}))
		waiting := r.begun(oldEra)
		for name, c := range map[string]struct{ sent, status string }{
			"nothing":       {"", ""},
			"half a header": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-", "HTTP/1.1 400 Bad Request"},
			"half a message": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: " +
				"application/json\r\nContent-Length: 100\r\n\r\n{", "HTTP/1.1 408 Request Timeout"},
			// The body of a probe may be read or ignored.
			"a body for a probe": {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", "either"},
		} {
			conn := r.dial()
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(conn) // until the server closes it
			if status, _, _ := strings.Cut(string(text), "\r\n"); err != nil || status != c.status && c.status != "either" {
				t.Errorf("%s: %q and %v, want %q", name, text, err, c.status)
			}
			conn.Close()
		}
		close(r.release)
		if err := <-waiting; err != nil {
			t.Errorf("the longer call: %v", err)
		}
	})
}

// TestUnreadAnswer disconnects a client that accepts no response.
func TestUnreadAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *works) {
		s.server(serve.Principal{Name: "local"}).AddTool(&mcp.Tool{Name: "much",
			InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 8<<20)}}}, nil
			})
		r := s.start(t, serve.WithLimits(serve.Options{}, serve.Limits{StallTimeout: 150 * time.Millisecond}))
		conn := r.dial()
		defer conn.Close()
		body := strings.Replace(callWho, "who", "much", 1)
		fmt.Fprintf(conn,
			"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "+
				"text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		for !strings.Contains(r.meters.Text(), "http.server.request.duration{http.request.method=POST,"+
			"http.response.status_code=200,http.route=/mcp,url.scheme=http} 1\n") {
			time.Sleep(5 * time.Millisecond)
		}
	})
}

// TestOneSessionAtOnce runs many requests of one session concurrently, while streams are opened
// and the session is ended.
func TestOneSessionAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{})
	id := r.begin()
	listening, hangUp := context.WithCancel(t.Context())
	var calls, streams sync.WaitGroup
	for i := range 50 {
		one := func(ctx context.Context, method string) {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"who","arguments":{}}}`, i+10)
			req, err := http.NewRequestWithContext(ctx, method, r.url+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header = http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"},
				"Mcp-Session-Id": {id}}
			res, err := r.web.Do(req)
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			switch res.StatusCode {
			case http.StatusOK, http.StatusNoContent, http.StatusNotFound, http.StatusConflict:
			default:
				t.Errorf("%s: %d %s", method, res.StatusCode, text)
			}
		}
		switch {
		case i%10 == 3:
			streams.Go(func() { one(listening, http.MethodGet) })
		case i == 40:
			calls.Go(func() { one(t.Context(), http.MethodDelete) })
		default:
			calls.Go(func() { one(t.Context(), http.MethodPost) })
		}
	}
	calls.Wait()
	hangUp()
	streams.Wait()
	r.post(callWho, "Mcp-Session-Id", id).want(t, "after the end", http.StatusNotFound)
}

package serve_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/metertest"
)

// TestSharedQueue ends one of two transports that share a queue: the calls of the other continue.
func TestSharedQueue(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		meters := metertest.New()
		queue := queue.New(&queue.Options{Running: 2, MeterProvider: meters})
		mounted := func() (*running, *serve.Handler) {
			s := newWorks()
			s.queue = queue
			return s.mount(t, &serve.Options{}, bare, plain)
		}
		ending, h := mounted()
		other, _ := mounted()
		canceled, kept := ending.begun(version), other.begun(version)
		refused := make(chan error, 1)
		session := ending.client(version, "", nil)
		go func() {
			_, err := call(context.WithoutCancel(t.Context()), session, "wait")
			refused <- err
		}()
		for !strings.Contains(meters.Text(), "writ.queue.waiting{writ.queue.name=executions} 1\n") {
			time.Sleep(time.Millisecond)
		}
		ending.cut(h)
		ending.lastStop(2)
		if err := <-canceled; err == nil || !strings.HasSuffix(err.Error(), "the server is shutting down") {
			t.Errorf("%s: the running call: %v", version, err)
		}
		if err := <-refused; err == nil || !strings.HasSuffix(err.Error(), "the server is shutting down; nothing was done") {
			t.Errorf("%s: the waiting call: %v", version, err)
		}
		want := "writ.queue.wait.duration{writ.queue.name=executions,writ.queue.outcome=cancelled} 2\n"
		if !strings.Contains(meters.Text(), want) {
			t.Errorf("%s: %q is missing in\n%s", version, want, meters.Text())
		}
		close(other.release)
		if err := <-kept; err != nil {
			t.Errorf("%s: a call of the other transport: %v", version, err)
		}
		if got := mustCall(t, other.client(version, "", nil), "wait"); got != "done" {
			t.Errorf("%s: a later call: %q", version, got)
		}
	}
}

// TestAbandon ends the requests of a call that ignores its cancellation.
func TestAbandon(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		inBubble(t, func(t *testing.T, s *works) {
			defer close(s.release)
			s.server(serve.Principal{Name: "local"}).AddTool(
				&mcp.Tool{Name: "ignore", InputSchema: json.RawMessage(`{"type": "object"}`)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					s.started <- struct{}{}
					<-s.release
					return &mcp.CallToolResult{}, nil
				})
			o := &serve.Options{}
			o.Grace = time.Second
			r := s.start(t, *o)
			session := r.client(version, "", nil)
			go func() { _, _ = call(t.Context(), session, "ignore") }()
			<-s.started
			begin := time.Now()
			r.stop()
			if err := r.ended(); err == nil || time.Since(begin) > 10*time.Second {
				t.Errorf("%s: Run returned %v after %v", version, err, time.Since(begin))
			}
			r.lastLine(1)
		})
	}
}

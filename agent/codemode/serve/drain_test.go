package serve_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
)

// TestShutdown lets a running call finish while clients have open streams.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *works) { shutDownDuringCall(t, s, version) })
		})
	}
}

func shutDownDuringCall(t *testing.T, s *works, version string) {
	r := s.start(t, serve.Options{})
	result := r.begun(version)
	if a := r.send(http.MethodGet, "/readyz", ""); a.status != http.StatusOK || a.body != "ready\n" {
		t.Errorf("ready: %d %q", a.status, a.body)
	}
	r.shutDown()
	if a := r.send(http.MethodGet, "/readyz", ""); a.status != http.StatusServiceUnavailable ||
		a.body != "shutting down\n" {
		t.Errorf("not ready: %d %q", a.status, a.body)
	}
	r.post(initialize).want(t, "one more", http.StatusServiceUnavailable)
	if a := r.send(http.MethodGet, "/mcp", ""); a.status != http.StatusServiceUnavailable ||
		!strings.Contains(a.body, "the server is shutting down; nothing was done") {
		t.Errorf("another stream: %d %q", a.status, a.body)
	}
	select {
	case err := <-result:
		t.Fatalf("the call ended before it was released: %v", err)
	case err := <-r.done:
		t.Fatalf("the server ended before the call: %v", err)
	default:
	}
	close(r.release)
	if err := <-result; err != nil {
		t.Errorf("the call: %v", err)
	}
	if err := r.ended(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	r.lastLine(0)
}

// lastLine checks the number of canceled calls at the end of the log.
func (r *running) lastLine(cut int) {
	r.t.Helper()
	if log := r.log.String(); !strings.HasSuffix(log, fmt.Sprintf("msg=\"shut down\" canceled=%d\n", cut)) {
		r.t.Errorf("the log doesn't end with %d calls cut:\n%s", cut, log)
	}
}

// shutDown begins the shutdown and waits until it has begun.
func (r *running) shutDown() {
	r.stop()
	for r.send(http.MethodGet, "/readyz", "").status == http.StatusOK {
		time.Sleep(time.Millisecond)
	}
}

// TestDraining checks that an open connection is still served during the shutdown, but accepts
// no calls.
func TestDraining(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Stateless: true})
	ended := r.begun(oldEra)
	// The message of this request arrives while the shutdown begins.
	body, more := io.Pipe()
	late := make(chan answer, 1)
	go func() {
		req, err := http.NewRequest(http.MethodPost, r.url+"/mcp", body)
		if err != nil {
			t.Error(err)
		}
		res, err := r.web.Do(req)
		if err != nil {
			late <- answer{body: err.Error()}
			return
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		late <- answer{res.StatusCode, res.Header, string(text)}
	}()
	if _, err := io.WriteString(more, callWho[:20]); err != nil {
		t.Fatal(err)
	}
	for !strings.Contains(r.meters.Text(), "http.server.active_requests{http.request.method=POST,url.scheme=http} 2\n") {
		time.Sleep(time.Millisecond)
	}
	r.shutDown()
	if _, err := io.WriteString(more, callWho[20:]); err != nil {
		t.Fatal(err)
	}
	more.Close()
	if a := <-late; a.status != http.StatusServiceUnavailable ||
		!strings.Contains(a.body, "the server is shutting down; nothing was done") {
		t.Errorf("late: %d %s", a.status, a.body)
	}
	close(r.release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestGraceEnds cancels calls that run too long and reports them.
func TestGraceEnds(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *works) { cutCall(t, s, version) })
		})
	}
}

func cutCall(t *testing.T, s *works, version string) {
	s.queue = queue.New(nil)
	r := s.start(t, serve.Options{Grace: 20 * time.Millisecond})
	result := r.begun(version)
	r.stop()
	if err := <-result; err == nil || !strings.Contains(err.Error(), "the server is shutting down") {
		t.Errorf("the call: %v", err)
	}
	if err := r.ended(); err == nil ||
		err.Error() != "calls were still running at the end of the grace period and were canceled" {
		t.Errorf("Run returned %v", err)
	}
	r.lastLine(1)
}

// TestSilentConnection has a client that connects without sending anything, like a connection
// pool. Sessions end nevertheless.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *works) {
		r := s.start(t, serve.Options{Grace: 100 * time.Millisecond})
		r.client(oldEra, "", nil)
		silent := r.dial()
		defer silent.Close()
		r.send(http.MethodGet, "/healthz", "") // it is known to the server, which accepts one after the other
		r.stop()
		if err := r.ended(); err != nil {
			t.Errorf("Run returned %v, and no calls ran", err)
		}
		r.lastLine(0)
		for range r.server(serve.Principal{Name: "local"}).Sessions() {
			t.Error("a session outlives its server")
		}
	})
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools/mcptools/serve"
)

// TestShutdown lets a call that runs end, while clients listen for news.
func TestShutdown(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra, "sse"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *works) { shutDownDuringCall(t, s, version) })
		})
	}
}

func shutDownDuringCall(t *testing.T, s *works, version string) {
	o := serve.Options{}
	if version == "sse" {
		o.Transport = serve.SSE
	}
	r := s.start(t, o)
	session := r.client(version, "", nil)
	result := make(chan string, 1)
	go func() {
		text, err := call(context.WithoutCancel(t.Context()), session, "wait")
		if err != nil {
			text = err.Error()
		}
		result <- text
	}()
	<-r.started
	if a := r.send(http.MethodGet, "/readyz", ""); a.status != http.StatusOK || a.body != "ready\n" {
		t.Errorf("ready: %d %q", a.status, a.body)
	}
	r.shutDown()
	if a := r.send(http.MethodGet, "/readyz", ""); a.status != http.StatusServiceUnavailable || a.body != "shutting down\n" {
		t.Errorf("not ready: %d %q", a.status, a.body)
	}
	if a := r.post(initialize); a.status != http.StatusServiceUnavailable {
		t.Errorf("one more: %d %q", a.status, a.body)
	}
	if a := r.send(http.MethodGet, "/mcp", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "the server is shutting down; nothing was done") {
		t.Errorf("one more stream: %d %q", a.status, a.body)
	}
	select {
	case text := <-result:
		t.Fatalf("the call ended before it was let go: %q", text)
	case err := <-r.done:
		t.Fatalf("the server ended before the call: %v", err)
	default:
	}
	close(r.release)
	if got := <-result; got != "done" {
		t.Errorf("got %q, want done", got)
	}
	if err := r.ended(); err != nil {
		t.Errorf("Run returned %v", err)
	}
	r.lastLine(0)
}

// lastLine has the log end with how many calls were cut.
func (r *running) lastLine(cut int) {
	r.t.Helper()
	if log := r.log.String(); !strings.HasSuffix(log, fmt.Sprintf("msg=\"shut down\" canceled=%d\n", cut)) {
		r.t.Errorf("the log doesn't end with %d calls cut:\n%s", cut, log)
	}
}

// shutDown returns when the server has begun to end.
func (r *running) shutDown() {
	r.stop()
	for r.send(http.MethodGet, "/readyz", "").status == http.StatusOK {
		time.Sleep(time.Millisecond)
	}
}

// TestDraining answers on a connection that was there before, but takes no calls.
func TestDraining(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Stateless: true})
	session := r.client(oldEra, "", nil)
	ended := make(chan error, 1)
	go func() {
		_, err := call(context.WithoutCancel(t.Context()), session, "wait")
		ended <- err
	}()
	<-r.started
	// A request whose message is under way when the shutdown begins.
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
	for !strings.Contains(r.metrics(), "writ_http_requests_open 3\n") { // the call, this, and the metrics
		time.Sleep(time.Millisecond)
	}
	r.shutDown()
	if _, err := io.WriteString(more, callWho[20:]); err != nil {
		t.Fatal(err)
	}
	more.Close()
	if a := <-late; a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "the server is shutting down; nothing was done") {
		t.Errorf("late: %d %s", a.status, a.body)
	}
	close(r.release)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func (r *running) metrics() string { return r.send(http.MethodGet, "/metrics", "").body }

// TestGraceOver cancels what runs too long, and says so.
func TestGraceOver(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra, "sse"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, s *works) { cutCall(t, s, version) })
		})
	}
}

func cutCall(t *testing.T, s *works, version string) {
	s.queue = serve.NewQueue(nil)
	o := serve.Options{Queue: s.queue, Grace: 20 * time.Millisecond}
	if version == "sse" {
		o.Transport = serve.SSE
	}
	r := s.start(t, o)
	session := r.client(version, "", nil)
	result := make(chan error, 1)
	go func() {
		_, err := call(context.WithoutCancel(t.Context()), session, "wait")
		result <- err
	}()
	<-r.started
	r.stop()
	if err := <-result; err == nil || !strings.Contains(err.Error(), "the server is shutting down") {
		t.Errorf("the call: %v", err)
	}
	if err := r.ended(); err == nil || err.Error() != "calls were still running at the end of the grace period and were canceled" {
		t.Errorf("Run returned %v", err)
	}
	r.lastLine(1)
}

// TestSilentConnection has somebody who connected and says nothing, as a pool of
// connections may. Neither he nor the end of the grace keeps sessions from ending.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *works) {
		r := s.start(t, serve.Options{Grace: 100 * time.Millisecond})
		r.client(oldEra, "", nil)
		silent := r.dial()
		defer silent.Close()
		r.metrics() // it is known to the server, which accepts one after the other
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

// stdio is a server on pipes.
type stdio struct {
	*works
	in   *io.PipeWriter
	out  *bufio.Scanner
	stop context.CancelFunc
	done chan error
}

func startStdio(t *testing.T, grace time.Duration) *stdio {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	s := &stdio{works: newWorks(), in: write, out: bufio.NewScanner(read), stop: stop, done: make(chan error, 1)}
	o := &serve.Options{In: in, Out: out, Grace: grace, Logger: slog.New(slog.DiscardHandler)}
	go func() {
		s.done <- serve.Run(ctx, s.server, o)
		out.Close()
	}()
	s.write(t, initialize)
	if got := s.read(t)["result"]; got == nil {
		t.Fatal("no result of initialize")
	}
	s.write(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *stdio) write(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (s *stdio) read(t *testing.T) map[string]any {
	t.Helper()
	if !s.out.Scan() {
		t.Fatalf("no more answers: %v", s.out.Err())
	}
	var m map[string]any
	if err := json.Unmarshal(s.out.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const callWait = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`

// TestStdio answers calls that run when stdin is closed, or the process is told to
// end, and refuses later ones.
func TestStdio(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*stdio){
		"stdin closed": func(s *stdio) { s.in.Close() },
		"told to end":  func(s *stdio) { s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startStdio(t, time.Minute)
			s.write(t, callWho)
			if got := s.read(t)["result"]; !strings.Contains(text(t, got), `"text":"local"`) {
				t.Errorf("who: %v", got)
			}
			s.write(t, callWait)
			<-s.started
			end(s)
			if name == "told to end" { // what is said now is still read
				for {
					s.write(t, strings.Replace(callWho, "7", "8", 1))
					if got := text(t, s.read(t)); strings.Contains(got, "shutting down") {
						break
					}
				}
			}
			select {
			case err := <-s.done:
				t.Fatalf("ended before the call: %v", err)
			default:
			}
			close(s.release)
			if got := text(t, s.read(t)); !strings.Contains(got, `"id":2`) || !strings.Contains(got, `"text":"done"`) {
				t.Errorf("got %s", got)
			}
			if err := <-s.done; err != nil {
				t.Errorf("Run returned %v", err)
			}
			if s.out.Scan() {
				t.Errorf("one more line: %s", s.out.Text())
			}
			s.in.Close()
		})
	}
}

// TestStdioGrace ends although a call doesn't.
func TestStdioGrace(t *testing.T) {
	t.Parallel()
	s := startStdio(t, 20*time.Millisecond)
	s.write(t, callWait)
	<-s.started
	s.in.Close()
	if err := <-s.done; err == nil || err.Error() != "calls were still running at the end of the grace period and were canceled" {
		t.Errorf("Run returned %v", err)
	}
}

// TestStdioShortGrace closes stdin during a call that does not end: it is cancelled
// after the default grace.
func TestStdioShortGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startStdio(t, 0)
		s.write(t, callWait)
		<-s.started
		closed := time.Now()
		s.in.Close()
		if err := <-s.done; err == nil || time.Since(closed) != 5*time.Second {
			t.Errorf("Run returned %v after %v", err, time.Since(closed))
		}
	})
}

// TestStdioProbe has a client ask which protocols there are, and begin with an older
// one, as those do that wait in vain for the answer, or with the newest.
func TestStdioProbe(t *testing.T) {
	t.Parallel()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	type said struct{ line, want string }
	asks := said{`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + meta + `}}`, `"supportedVersions":["2026-07-28",`}
	for name, all := range map[string][]said{
		"older":  {asks, {initialize, `"protocolVersion":"2025-11-25"`}, {callWho, `"text":"local"`}},
		"newest": {asks, {strings.Replace(callWho, `"arguments":{}`, `"arguments":{},`+meta, 1), `"text":"local"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, write := io.Pipe()
			read, out := io.Pipe()
			s := &stdio{works: newWorks(), in: write, out: bufio.NewScanner(read), done: make(chan error, 1)}
			go func() {
				s.done <- serve.Run(t.Context(), s.server, &serve.Options{In: in, Out: out, Logger: slog.New(slog.DiscardHandler)})
			}()
			for _, one := range all {
				s.write(t, one.line)
				if got := text(t, s.read(t)); !strings.Contains(got, one.want) {
					t.Errorf("%s\nis answered\n%s", one.line, got)
				}
			}
			s.in.Close()
			if err := <-s.done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStdioNoise ends with what is no JSON.
func TestStdioNoise(t *testing.T) {
	t.Parallel()
	s := startStdio(t, time.Minute)
	s.write(t, "hello")
	if err := <-s.done; err == nil {
		t.Error("Run returned nil")
	}
	s.in.Close()
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

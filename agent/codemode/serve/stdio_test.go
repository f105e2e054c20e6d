package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/internal/metertest"
)

// stdio is a server on pipes.
type stdio struct {
	*works
	in     *io.PipeWriter
	out    *bufio.Scanner
	stop   context.CancelFunc
	done   chan error
	meters *metertest.Provider
}

func startStdio(t *testing.T, grace time.Duration) *stdio {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	s := &stdio{works: newWorks(), in: write, out: bufio.NewScanner(read), stop: stop, done: make(chan error, 1),
		meters: metertest.New()}
	o := &serve.Options{In: in, Out: out, Grace: grace, Logger: slog.New(slog.DiscardHandler), MeterProvider: s.meters}
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
		t.Fatalf("the output ended: %v", s.out.Err())
	}
	var m map[string]any
	if err := json.Unmarshal(s.out.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const callWait = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`

// TestStdio checks that running calls finish when stdin is closed, or the context ends, and
// that later calls are refused.
func TestStdio(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*stdio){
		"stdin closed": func(s *stdio) { s.in.Close() },
		"canceled":     func(s *stdio) { s.stop() },
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
			if name == "canceled" { // what is said now is still read
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
				t.Errorf("an unexpected line: %s", s.out.Text())
			}
			s.in.Close()
		})
	}
}

// TestStdioGrace checks that the server ends although a call does not.
func TestStdioGrace(t *testing.T) {
	t.Parallel()
	s := startStdio(t, 20*time.Millisecond)
	s.write(t, callWait)
	<-s.started
	s.in.Close()
	if got := text(t, s.read(t)); !strings.Contains(got, "the server is shutting down") {
		t.Errorf("got %s", got)
	}
	if err := <-s.done; err == nil ||
		err.Error() != "calls were still running at the end of the grace period and were canceled" {
		t.Errorf("Run returned %v", err)
	}
}

// TestStdioShortGrace closes stdin during a call that does not end: it is canceled after the
// default grace period.
func TestStdioShortGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := startStdio(t, 0)
		s.write(t, callWait)
		<-s.started
		closed := time.Now()
		s.in.Close()
		s.read(t)
		if err := <-s.done; err == nil || time.Since(closed) != 5*time.Second {
			t.Errorf("Run returned %v after %v", err, time.Since(closed))
		}
	})
}

// TestStdioProbe has a client ask for the supported protocol versions, and then use an older or
// the newest one.
func TestStdioProbe(t *testing.T) {
	t.Parallel()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	type said struct{ line, want string }
	asks := said{`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + meta + `}}`,
		`"supportedVersions":["2026-07-28",`}
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

// TestStdioNoise checks that input that is not JSON ends the session.
func TestStdioNoise(t *testing.T) {
	t.Parallel()
	s := startStdio(t, time.Minute)
	s.write(t, "hello")
	if err := <-s.done; err == nil {
		t.Error("Run returned nil")
	}
	s.in.Close()
}

// TestStdioEarlyChange has a server whose tools change before and during the handshake of its client: the client
// hears of it once, when it has begun its session.
func TestStdioEarlyChange(t *testing.T) {
	t.Parallel()
	const (
		initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
		ping        = `{"jsonrpc":"2.0","id":3,"method":"ping"}`
		canceled    = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`
		list        = `{"jsonrpc":"2.0","id":4,"method":"tools/list"}`
		changed     = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`
	)
	for name, begins := range map[string]string{"initialized": initialized, "a client that does not say so": list} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, write := io.Pipe()
				read, out := io.Pipe()
				s := &stdio{works: newWorks(), in: write, done: make(chan error, 1)}
				server := s.server(serve.Principal{Name: "local"})
				lines := make(chan string, 100)
				go func() {
					for all := bufio.NewScanner(read); all.Scan(); {
						lines <- all.Text()
					}
				}()
				go func() {
					s.done <- serve.Run(t.Context(), s.server, &serve.Options{In: in, Out: out, Logger: slog.New(slog.DiscardHandler)})
				}()
				synctest.Wait()
				say := func(line string) (heard []string) {
					if line != "" {
						s.write(t, line)
					}
					server.RemoveTools("echo")
					server.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
					time.Sleep(time.Second) // more than the SDK collects changes
					for synctest.Wait(); len(lines) > 0; {
						line := <-lines
						if line != changed && len(line) > 40 {
							line = line[:40]
						}
						heard = append(heard, line)
					}
					return heard
				}
				for _, line := range []string{"", canceled} {
					if heard := say(line); heard != nil {
						t.Errorf("before the handshake, the client got %q", heard)
					}
				}
				for line, id := range map[string]string{initialize: `"id":1`, ping: `"id":3`} {
					if heard := say(line); len(heard) != 1 || !strings.Contains(heard[0], id) {
						t.Errorf("after %s, the client got %q", line, heard)
					}
				}
				heard := say(begins)
				heard = slices.DeleteFunc(heard, func(line string) bool { return strings.Contains(line, `"id":4`) })
				if !slices.Equal(heard, []string{changed, changed}) {
					t.Errorf("in its session, the client got %q", heard)
				}
				s.in.Close()
				if err := <-s.done; err != nil {
					t.Error(err)
				}
				out.Close()
			})
		})
	}
}

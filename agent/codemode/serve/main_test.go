package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/internal/metertest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m.Run)) }

const (
	newEra = "2026-07-28"
	oldEra = "2025-11-25"

	adaToken = "ada-token-0123456789abcdef"
	bobToken = "bob-token-0123456789abcdef"
	tokens   = `{"tokens": [
  {"principal": "ada", "token": "` + adaToken + `"},
  {"principal": "bob", "token": "` + bobToken + `", "tools": ["who"]},
  {"principal": "eve", "token": "eve-token-0123456789abcdef", "expires": "2001-01-01T00:00:00Z"}
]}`
)

// works is a server with three tools: one returns the principal, one waits until it is
// released, and one returns everything that a handler sees of the request.
type works struct {
	started chan struct{} // a call of wait has begun
	release chan struct{} // closed to let them go
	queue   *queue.Queue
	network *memoryNetwork // in a bubble
	mu      sync.Mutex
	servers map[string]*mcp.Server
}

func newWorks() *works {
	return &works{started: make(chan struct{}, 1000), release: make(chan struct{}), servers: map[string]*mcp.Server{}}
}

func (s *works) server(p serve.Principal) *mcp.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.servers[p.Name] == nil {
		s.servers[p.Name] = s.newServer(p)
	}
	return s.servers[p.Name]
}

func (s *works) newServer(p serve.Principal) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "works", Version: "1"}, nil)
	for name, do := range map[string]func(context.Context, *mcp.CallToolRequest) (string, error){
		"who":  func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) { return who(ctx) },
		"wait": s.wait,
		"see":  seeRequest,
		"echo": func(context.Context, *mcp.CallToolRequest) (string, error) { return "echo", nil },
	} {
		if !p.Allows(name) {
			continue
		}
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type": "object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				text, err := do(ctx, r)
				if err != nil {
					return nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
			})
	}
	return server
}

func who(ctx context.Context) (string, error) {
	p, ok := serve.PrincipalOf(ctx)
	if !ok {
		return "", fmt.Errorf("nobody")
	}
	return p.Name, nil
}

func (s *works) wait(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
	if s.queue == nil {
		return s.waitNow(ctx)
	}
	var text string
	err := s.queue.Do(ctx, "ada", func(ctx context.Context) (err error) {
		text, err = s.waitNow(ctx)
		return err
	})
	return text, err
}

func (s *works) waitNow(ctx context.Context) (string, error) {
	s.started <- struct{}{}
	select {
	case <-s.release:
		return "done", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func seeRequest(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
	text := fmt.Sprintf("%v %+v", ctx, auth.TokenInfoFromContext(ctx))
	if r.Extra == nil { // of the old transport
		return text, nil
	}
	return fmt.Sprintf("%s %+v %+v", text, r.Extra.Header, r.Extra.TokenInfo), nil
}

// running is a server that is being served.
type running struct {
	*works
	t      *testing.T
	url    string // of the origin
	log    *lockedBuffer
	stop   context.CancelFunc
	done   chan error
	web    *http.Client
	meters *metertest.Provider
}

// start serves over HTTP until the test ends.
var full = os.Getenv("WRIT_TEST_FULL") == "1"

// sample returns all of n for large variants of tests, else some of it.
func sample(some, n int) int {
	if full {
		return n
	}
	return some
}

func start(t *testing.T, o serve.Options) *running {
	t.Helper()
	return newWorks().start(t, o)
}

func (s *works) start(t *testing.T, o serve.Options) *running {
	t.Helper()
	l := s.listener(t)
	if o.Transport == "" {
		o.Transport = serve.HTTP
	}
	log := &lockedBuffer{}
	meters := metertest.New()
	o.MeterProvider = meters
	o.Listener, o.Logger = l, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ctx, stop := context.WithCancel(t.Context())
	r := &running{works: s, t: t, url: "http://" + l.Addr().String(), log: log, stop: stop, done: make(chan error, 1),
		web: &http.Client{Transport: s.carrier()}, meters: meters}
	go func() { r.done <- serve.Run(ctx, s.server, &o) }()
	t.Cleanup(func() {
		r.web.CloseIdleConnections()
		stop()
		if err := <-r.done; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	return r
}

// ended waits for the end of the server and returns its error.
func (r *running) ended() error {
	err := <-r.done
	r.done <- nil
	return err
}

func authorized(t *testing.T) *serve.Auth {
	t.Helper()
	a, err := serve.Tokens([]byte(tokens))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// bearer adds a token to all requests.
type bearer struct {
	token string
	next  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.next.RoundTrip(r)
}

// client connects a client with a protocol version.
func (r *running) client(version, token string, o *mcp.ClientOptions) *mcp.ClientSession {
	r.t.Helper()
	carrier := r.carrier()
	var web http.RoundTripper = carrier
	if token != "" {
		web = bearer{token, carrier}
	}
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp",
		HTTPClient: &http.Client{Transport: web}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(r.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		r.t.Fatalf("connecting as of %s: %v", version, err)
	}
	r.t.Cleanup(func() {
		session.Close()
		carrier.CloseIdleConnections()
	})
	return session
}

func call(ctx context.Context, session *mcp.ClientSession, tool string) (string, error) {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool})
	if err != nil {
		return "", err
	}
	var all []string
	for _, c := range res.Content {
		text, _ := c.(*mcp.TextContent)
		all = append(all, text.Text)
	}
	return strings.Join(all, "\n"), nil
}

func mustCall(t *testing.T, session *mcp.ClientSession, tool string) string {
	t.Helper()
	text, err := call(t.Context(), session, tool)
	if err != nil {
		t.Fatalf("calling %s: %v", tool, err)
	}
	return text
}

// answer is the response to a raw request.
type answer struct {
	status int
	header http.Header
	body   string
}

// post sends one message. Headers are pairs.
func (r *running) post(body string, headers ...string) answer {
	r.t.Helper()
	return r.send(http.MethodPost, "/mcp", body, headers...)
}

func (r *running) send(method, path, body string, headers ...string) answer {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := r.web.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

// want compares the status of a response.
func (a answer) want(t *testing.T, what string, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: %d %q, want %d", what, a.status, a.body, status)
	}
}

// result returns the message of a response, from a stream or not.
func (a answer) result(t *testing.T) map[string]any {
	t.Helper()
	body := a.body
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		_, body, _ = strings.Cut(body, "data: ")
	}
	var m map[string]any
	if err := json.NewDecoder(strings.NewReader(body)).Decode(&m); err != nil {
		t.Fatalf("%d: %v in %q", a.status, err, a.body)
	}
	return m
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

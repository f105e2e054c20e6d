package serve_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
)

// mount serves a handler below /tools in the http.Server of a test, after its middleware.
func mount(
	t *testing.T, o *serve.Options, middleware func(http.Handler) http.Handler, configure func(*httptest.Server),
) (*running, *serve.Handler) {
	t.Helper()
	return newWorks().mount(t, o, middleware, configure)
}

func (s *works) mount(
	t *testing.T, o *serve.Options, middleware func(http.Handler) http.Handler, configure func(*httptest.Server),
) (*running, *serve.Handler) {
	t.Helper()
	log := &lockedBuffer{}
	o.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h, err := serve.NewHandler(s.server, o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/tools/", http.StripPrefix("/tools", middleware(h)))
	web := httptest.NewUnstartedServer(mux)
	configure(web)
	if web.TLS == nil && !web.EnableHTTP2 {
		web.Start()
	} else {
		web.StartTLS()
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = h.Shutdown(ctx) // the test may have shut it down
		web.Close()
	})
	return &running{works: s, t: t, url: web.URL + "/tools", log: log, web: web.Client()}, h
}

func bare(h http.Handler) http.Handler { return h }

func plain(*httptest.Server) {}

// TestHandler mounts a handler below a prefix, and at the path of the protocol.
func TestHandler(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		r, _ := mount(t, &serve.Options{}, bare, plain)
		if got := mustCall(t, r.client(version, "", nil), "who"); got != "local" {
			t.Errorf("%s: got %q, want local", version, got)
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			r.send(http.MethodGet, path, "").want(t, path, http.StatusOK)
		}
	}
	h, err := serve.NewHandler(newWorks().server, &serve.Options{Path: "/agent/tools"})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/agent/tools", h)
	web := httptest.NewServer(mux)
	defer web.Close()
	r := &running{t: t, url: web.URL, web: web.Client()}
	r.send(http.MethodPost, "/agent/tools", callWho).want(t, "at the path", http.StatusOK)
	for header, value := range map[string]string{"Host": "evil.com", "Origin": "http://evil.com"} {
		r.send(http.MethodPost, "/agent/tools", callWho, header, value).want(t, header, http.StatusForbidden)
	}
}

// TestHandlerWithoutStripPrefix checks that the log says what is wrong.
func TestHandlerWithoutStripPrefix(t *testing.T) {
	t.Parallel()
	log := &lockedBuffer{}
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	h, err := serve.NewHandler(newWorks().server, &serve.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://localhost/tools/mcp", nil))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://localhost/secret", nil))
	for _, want := range []string{
		`msg="not found; mount the handler with http.StripPrefix" path=/tools/mcp served=/mcp` + "\n",
		`msg="not found" served=/mcp` + "\n",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s is missing in\n%s", want, log)
		}
	}
}

// TestHandlerPrincipal has middleware that authenticates clients, and clients from other machines.
func TestHandlerPrincipal(t *testing.T) {
	t.Parallel()
	principals := map[string]serve.Principal{
		"Bearer ada": {Name: "ada"}, "Bearer bob": {Name: "bob", Tools: []string{"who"}}, "Bearer zero": {},
		"Bearer bytes": {Name: "\xff"},
	}
	middleware := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p, ok := principals[r.Header.Get("Authorization")]; ok {
				r = r.WithContext(serve.WithPrincipal(r.Context(), p))
			}
			if from := r.Header.Get("From"); from != "" {
				r.RemoteAddr = from
			}
			next.ServeHTTP(w, r)
		})
	}
	for _, version := range []string{newEra, oldEra} {
		r, _ := mount(t, &serve.Options{}, middleware, plain)
		r.principals(version, "ada", "bob")
	}
	r, _ := mount(t, &serve.Options{}, middleware, plain)
	for _, c := range []struct {
		from, authorization string
		status              int
	}{
		{"127.0.0.1:1234", "", 200}, {"[::1]:1234", "", 200}, {"[::ffff:127.0.0.1]:1234", "", 200},
		{"192.0.2.1:1234", "", 403}, {"[2001:db8::1]:1234", "", 403}, {"127.0.0.1", "", 403}, {"@", "", 403},
		{"localhost:1234", "", 403}, {"192.0.2.1:1234", "Bearer ada", 200}, {"127.0.0.1:1234", "Bearer zero", 403},
		{"127.0.0.1:1234", "Bearer bytes", 403},
	} {
		a := r.post(callWho, "From", c.from, "Authorization", c.authorization)
		if a.status != c.status || c.status == 403 && a.body != "authentication is required\n" {
			t.Errorf("from %s with %q: %d %q, want %d", c.from, c.authorization, a.status, a.body, c.status)
		}
		r.send(http.MethodGet, "/healthz", "", "From", c.from).want(t, "health from "+c.from, http.StatusOK)
	}
	known, _ := mount(t, &serve.Options{Auth: authorized(t)}, middleware, plain)
	a := known.post(callWho, "Authorization", "Bearer ada")
	a.want(t, "a principal of the middleware instead of a token", http.StatusUnauthorized)
	known.post(callWho, "Authorization", "Bearer "+adaToken, "From", "192.0.2.1:1").want(t, "a token", http.StatusOK)
}

// TestHandlerShutdown lets a running call finish.
func TestHandlerShutdown(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r, h := mount(t, &serve.Options{}, bare, plain)
			result := r.begun(version)
			ended := make(chan error, 1)
			go func() { ended <- h.Shutdown(t.Context()) }()
			for r.send(http.MethodGet, "/readyz", "").status == http.StatusOK {
				time.Sleep(time.Millisecond)
			}
			r.closed()
			select {
			case err := <-result:
				t.Fatalf("the call ended before it was released: %v", err)
			case err := <-ended:
				t.Fatalf("Shutdown returned before the end of the call: %v", err)
			default:
			}
			close(r.release)
			if err := <-result; err != nil {
				t.Errorf("the call: %v", err)
			}
			if err := <-ended; err != nil {
				t.Errorf("Shutdown returned %v", err)
			}
			r.closed()
			r.lastStop(0)
			if err := h.Shutdown(t.Context()); err != nil {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// TestHandlerCancel cancels calls that run too long, in a queue and outside of it.
func TestHandlerCancel(t *testing.T) {
	t.Parallel()
	for _, version := range []string{newEra, oldEra} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			for _, queue := range []*queue.Queue{queue.New(nil), nil} {
				s := newWorks()
				s.queue = queue
				r, h := s.mount(t, &serve.Options{}, bare, plain)
				result := r.begun(version)
				r.cut(h)
				if err := <-result; err == nil || !strings.Contains(err.Error(), "the server is shutting down") {
					t.Errorf("the call: %v", err)
				}
				r.closed()
				r.lastStop(1)
			}
		})
	}
}

// cut ends a handler while its calls run.
func (r *running) cut(h *serve.Handler) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := h.Shutdown(ctx); err == nil ||
		err.Error() != "calls were still running at the end of the grace period and were canceled" {
		r.t.Errorf("Shutdown returned %v", err)
	}
}

// begun begins a call that waits, and returns its result.
func (r *running) begun(version string) <-chan error {
	session := r.client(version, "", nil)
	result := make(chan error, 1)
	go func() {
		text, err := call(context.WithoutCancel(r.t.Context()), session, "wait")
		if err == nil && text != "done" {
			err = errors.New(text)
		}
		result <- err
	}()
	<-r.started
	return result
}

// closed checks that no calls and no streams are accepted, and that the health is served.
func (r *running) closed() {
	r.t.Helper()
	for _, a := range []answer{r.post(initialize), r.send(http.MethodGet, "/mcp", "")} {
		if a.status != http.StatusServiceUnavailable ||
			!strings.Contains(a.body, "the server is shutting down; nothing was done") {
			r.t.Errorf("during the shutdown: %d %q", a.status, a.body)
		}
	}
	r.send(http.MethodGet, "/healthz", "").want(r.t, "health", http.StatusOK)
}

// lastStop checks the number of canceled calls in the log.
func (r *running) lastStop(canceled int) {
	r.t.Helper()
	want := fmt.Sprintf("msg=\"shut down\" canceled=%d\n", canceled)
	if log := r.log.String(); strings.Count(log, want) != 1 {
		r.t.Errorf("%q is not in the log:\n%s", want, log)
	}
}

// TestHandlerTimeouts has an http.Server with timeouts shorter than a call, and a stream that is
// silent for longer than a client may take to accept a piece, over both versions of HTTP.
func TestHandlerTimeouts(t *testing.T) {
	t.Parallel()
	const brief = 300 * time.Millisecond
	for _, http2 := range []bool{false, true} {
		for _, version := range []string{newEra, oldEra} {
			o := serve.WithLimits(serve.Options{}, serve.Limits{StallTimeout: brief})
			r, _ := mount(t, &o, bare, func(s *httptest.Server) {
				s.Config.ReadTimeout, s.Config.WriteTimeout, s.EnableHTTP2 = brief, brief, http2
			})
			changed := make(chan struct{}, 1)
			session := r.connect(version, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			result := make(chan error, 1)
			go func() {
				_, err := call(ctx, session, "wait")
				result <- err
			}()
			<-r.started
			time.Sleep(2 * brief)
			if version != newEra {
				r.server(serve.Principal{Name: "local"}).RemoveTools("echo")
				select {
				case <-changed:
				case <-ctx.Done():
					t.Errorf("%s, HTTP/2 %v: no notification", version, http2)
				}
			}
			close(r.release)
			if err := <-result; err != nil {
				t.Errorf("%s, HTTP/2 %v: %v", version, http2, err)
			}
		}
	}
}

// connect connects a client that uses the client of the test's server.
func (r *running) connect(version string, o *mcp.ClientOptions) *mcp.ClientSession {
	r.t.Helper()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: r.url + "/mcp", HTTPClient: r.web}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).
		Connect(r.t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		r.t.Fatalf("connecting as of %s: %v", version, err)
	}
	r.t.Cleanup(func() { session.Close() })
	return session
}

// TestHandlerWithoutFlush has middleware whose ResponseWriter hides Flush: calls work, streams are
// refused.
func TestHandlerWithoutFlush(t *testing.T) {
	t.Parallel()
	middleware := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
		})
	}
	for _, version := range []string{newEra, oldEra} {
		r, _ := mount(t, &serve.Options{}, middleware, plain)
		if got := mustCall(t, r.client(version, "", nil), "who"); got != "local" {
			t.Errorf("%s: got %q, want local", version, got)
		}
	}
	r, _ := mount(t, &serve.Options{}, middleware, plain)
	if a := r.send(http.MethodGet, "/mcp", ""); a.status != http.StatusMethodNotAllowed ||
		!strings.Contains(a.body, "this server cannot stream responses") {
		t.Errorf("stream: %d %s", a.status, a.body)
	}
	if log := r.log.String(); !strings.Contains(log, "cannot stream") {
		t.Errorf("got the log\n%s", log)
	}
}

// TestHandlerOptions checks the errors of options, and that those of Run's connections are ignored.
func TestHandlerOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]*serve.Options{
		"the transport of a handler must be http; for stdio, use Run":             {Transport: serve.Stdio},
		`path "mcp" is invalid or reserved; use one like /mcp`:                    {Path: "mcp"},
		"auth: Verifier is nil; to serve without authentication, set Auth to nil": {Auth: &serve.Auth{}},
	} {
		if _, err := serve.NewHandler(newWorks().server, o); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	h, err := serve.NewHandler(newWorks().server, &serve.Options{Addr: "example.com:80", Grace: -1})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://example.com/healthz", nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("the host of Addr: %d, want 403", w.Code)
	}
	if _, err := serve.NewHandler(newWorks().server, nil); err != nil {
		t.Errorf("nil options: %v", err)
	}
}

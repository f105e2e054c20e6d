package mcptools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

// echo is a server whose tool returns a header of the request, or the query if the name is
// empty.
func echo(header string) http.Handler {
	return script{}.handler(asJSON, func(w http.ResponseWriter, r *http.Request, msg request) {
		text := strings.Join(r.Header[header], ",")
		if header == "" {
			text = r.URL.RawQuery
		}
		asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, msg.ID, text))
	})
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	o := &Options{HeaderFunc: func(_ context.Context, server string) (http.Header, error) {
		return http.Header{"x-Own": {"a", "b"}, "X-own": {"c"}, "Both": {"host's for " + server},
			"Content-Type": {"nonsense"}}, nil
	}}
	headers := map[string]string{"X-Static": "STATIC", "x-static": "static", "X-STATIC": "StAtIc", "Both": "file's",
		"accept": "nonsense"}
	for header, want := range map[string]string{
		"X-Static":      `"static"`,
		"X-Own":         `"a,b"`,
		"Both":          `"host's for s"`,
		"Content-Type":  `"application/json"`,
		"Accept":        `"application/json, text/event-stream"`,
		"Authorization": `"Basic dTpw"`,
		"":              `"key=value"`,
	} {
		address := strings.Replace(serveWeb(t, echo(header)), "http://", "http://u:p@", 1)
		s := open(t, ServerConfig{URL: address + "/mcp?key=value#part", Headers: headers}, o)
		equal(t, header, call(t.Context(), list(t, s)["t"], `{}`), want)
	}
}

type identity struct{}

// HeaderFunc gets the context of the call that makes the request.
func TestHeadersByContext(t *testing.T) {
	t.Parallel()
	o := &Options{HeaderFunc: func(ctx context.Context, _ string) (http.Header, error) {
		who, _ := ctx.Value(identity{}).(string)
		if who == "nobody" {
			return nil, errors.New("who is asking?")
		}
		return http.Header{"X-User": {who}}, nil
	}}
	s := open(t, ServerConfig{URL: serveWeb(t, echo("X-User"))}, o)
	tool := list(t, s)["t"]
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			who := fmt.Sprint("user", i)
			equal(t, "identity", call(context.WithValue(t.Context(), identity{}, who), tool, `{}`), `"`+who+`"`)
		})
	}
	all.Wait()
	_, err := tool.Handler(context.WithValue(t.Context(), identity{}, "nobody"), nil)
	equal(t, "an error", err.Error(), "cannot prepare the request; the call was not made")
	equal(t, "its cause", errors.Unwrap(err).Error(),
		`mcp server "s": tool "t": Options.HeaderFunc failed: who is asking?`)
}

// fakeOAuth grants a token for each authorization. Like the SDK's handlers, it is not safe for
// concurrent use.
type fakeOAuth struct {
	source     oauth2.TokenSource
	authorized int
	refuse     error
}

var _ auth.OAuthHandler = (*fakeOAuth)(nil)

func (f *fakeOAuth) TokenSource(context.Context) (oauth2.TokenSource, error) { return f.source, nil }

func (f *fakeOAuth) Authorize(_ context.Context, req *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	if f.refuse != nil {
		return f.refuse
	}
	if !strings.HasSuffix(req.URL.Path, "/mcp") && !strings.HasSuffix(req.URL.Path, "/sse") {
		return fmt.Errorf("authorizing for %s", req.URL)
	}
	f.authorized++
	f.source = oauth2.StaticTokenSource(&oauth2.Token{AccessToken: fmt.Sprint("token", f.authorized)})
	return nil
}

// guarded responds with 401 unless the request has the token.
func guarded(token *atomic.Value, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token.Load().(string) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestOAuth(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.Handler{
		"/mcp": script{"tools/call": result(oddResult)}.handler(asEvents, nil),
		"/sse": newLegacy(script{"tools/call": result(oddResult)}).handler(),
	} {
		var token atomic.Value
		token.Store("token1")
		handler := &fakeOAuth{}
		stood := make(chan struct{}, 10)
		address := serveWeb(t, guarded(&token, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				stood <- struct{}{}
			}
			h.ServeHTTP(w, r)
		})))
		s := open(t, ServerConfig{URL: address + name}, &Options{OAuth: func(ServerConfig) auth.OAuthHandler { return handler }})
		<-stood // a stream that is opened later would be authorized, too
		tool := list(t, s)["t"]
		equal(t, name, call(t.Context(), tool, `{}`), oddValue)
		if name == "/sse" {
			continue // messages go to another path, which the fake does not authorize
		}

		token.Store("token2")
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				equal(t, "expired", call(t.Context(), tool, `{}`), oddValue)
			})
		}
		all.Wait()
		equal(t, "authorized", fmt.Sprint(handler.authorized), "2")

		token.Store("another")
		equal(t, "in vain", call(t.Context(), tool, `{}`),
			"unavailable: the tool's server refused the credentials; the call was not made")
		handler.refuse = errors.New("the user said no")
		equal(t, "refused", call(t.Context(), tool, `{}`),
			"unavailable: the tool's server requires authorization, which failed; the call was not made")
		token.Store("token3")
		equal(t, "the session lives", call(t.Context(), tool, `{}`), oddValue)
	}
}

// Errors, statuses, warnings and the log contain no secret.
func TestNoSecretsAreReported(t *testing.T) {
	t.Parallel()
	var failing atomic.Bool
	h := script{}.handler(func(w http.ResponseWriter, a string) {
		w.Header().Set("Mcp-Session-Id", "s3cret-session")
		asJSON(w, a)
	}, func(w http.ResponseWriter, r *http.Request, _ request) {
		failing.Store(true)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, r.Header, r.URL)
	})
	address := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failing.Load() && r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}))
	var log strings.Builder
	var mu sync.Mutex
	config := ServerConfig{
		URL:     strings.Replace(address, "http://", "http://u:s3cret@", 1) + "/s3cret/mcp?key=s3cret",
		Headers: map[string]string{"Authorization": "Bearer s3cret", "X-Key": "s3cret"},
	}
	o := &Options{
		Logger: slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return log.Write(p)
		}), &slog.HandlerOptions{Level: slog.LevelDebug})),
		HeaderFunc: func(context.Context, string) (http.Header, error) {
			return http.Header{"X-User": {"s3cret"}}, nil
		},
	}
	s := open(t, config, o)
	tool := list(t, s)["t"]
	var said []string
	for range 3 { // refused, then cut off
		_, err := tool.Handler(t.Context(), nil)
		said = append(said, fmt.Sprintf("%v %+v", err, errors.Unwrap(err)))
	}
	list(t, s)
	said = append(said, fmt.Sprintf("%+v %v", s.Status(), s.Warnings()), fails(t, config, o))
	mu.Lock()
	defer mu.Unlock()
	if all := strings.Join(append(said, log.String()), "\n"); strings.Contains(all, "s3cret") {
		t.Errorf("a secret is reported:\n%s", all)
	}
	equal(t, "the last error", said[2],
		`the connection to the tool's server was lost; whether the call took effect is unknown mcp server "s": tool `+
			`"t": the connection was lost before it answered: EOF`)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Requests that belong to no call get the context of Open, even if a call causes them.
func TestHeadersOfTheHandshake(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{false, true} {
		var mu sync.Mutex
		seen := map[string]map[string]bool{} // what was sent, by whom
		note := func(what, who string) {
			mu.Lock()
			defer mu.Unlock()
			if seen[what] == nil {
				seen[what] = map[string]bool{}
			}
			seen[what][who] = true
		}
		var lost atomic.Bool
		stood := make(chan struct{}, 10)
		whole := script{"tools/call": result(oddResult)}.whole()
		address := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who := r.Header.Get("X-User")
			if r.Method != http.MethodPost {
				note(r.Method, who)
				if r.Method == http.MethodGet {
					stood <- struct{}{}
				}
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			msg := read(r)
			note(msg.Method, who)
			w.Header().Set("Mcp-Session-Id", "x")
			switch {
			case msg.ID == nil:
				w.WriteHeader(http.StatusAccepted)
			case msg.Method == "tools/call" && lost.CompareAndSwap(true, false):
				w.WriteHeader(http.StatusNotFound)
			default:
				asJSON(w, whole.answer(msg))
			}
		}))
		o := &Options{Background: background, HeaderFunc: func(ctx context.Context, _ string) (http.Header, error) {
			who, _ := ctx.Value(identity{}).(string)
			return http.Header{"X-User": {who}}, nil
		}}
		as := func(who string) context.Context { return context.WithValue(t.Context(), identity{}, who) }
		s, err := Start(as("host"), &Config{Servers: []ServerConfig{{Name: "s", URL: address}}}, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Wait(as("lister")); err != nil {
			t.Fatal(err)
		}
		all, err := s.Tools(as("lister"))
		if err != nil {
			t.Fatal(err)
		}
		<-stood
		lost.Store(true)
		equal(t, "call", call(as("ada"), all[0], `{}`), oddValue)
		<-stood
		equal(t, "closing", fmt.Sprint(s.Close()), "<nil>")
		mu.Lock()
		for what, want := range map[string]string{
			"initialize": "map[host:true]", "notifications/initialized": "map[host:true]",
			"GET": "map[host:true]", "DELETE": "map[host:true]", "tools/call": "map[ada:true]",
		} {
			equal(t, what, fmt.Sprint(seen[what]), want)
		}
		mu.Unlock()
	}
}

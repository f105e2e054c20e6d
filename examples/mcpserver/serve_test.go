package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox/esbuild"
	"github.com/writ-go/writ/signature/schema"
)

// served is the server of a test, what it has logged, and how it is told to read its
// configuration again.
type served struct {
	*app
	written *lines
	hup     chan os.Signal
}

// prepare opens what the flags want, with a model, if any.
func prepare(t *testing.T, model llms.Model, args ...string) served {
	t.Helper()
	s := newSettings(t.Output())
	s.oauth.secret = "secret of this server"
	none := func(string) (string, bool) { return "", false }
	if model != nil {
		s.model, s.open = "test:model", func(string) (llms.Model, error) { return model, nil }
	}
	if err := errors.Join(parse(s.options(), slices.Concat(patient, args), none), s.problems(t.Context())); err != nil {
		t.Fatal(err)
	}
	log := &lines{}
	a, err := open(t.Context(), s, io.MultiWriter(log, t.Output()))
	if err != nil {
		t.Fatal(err)
	}
	if s.startup >= time.Minute { // a test with less is about servers that are late
		if err := a.catalog.complete(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	a.catalog.look = 20 * time.Millisecond
	a.bundler = sync.OnceValues(func() (*esbuild.Bundler, error) { // with time, on a busy machine too
		defer close(a.bundling)
		return esbuild.New(&esbuild.Options{Time: 5 * time.Minute})
	})
	t.Cleanup(a.close)
	return served{a, log, make(chan os.Signal)}
}

// begin serves one client in this process, and connects to it. Each result is
// compared with its tool's schema.
func begin(t *testing.T, model llms.Model, o *mcp.ClientOptions, args ...string) (*mcp.ClientSession, served) {
	t.Helper()
	a := prepare(t, model, args...)
	input, toServer := io.Pipe()
	fromServer, output := io.Pipe()
	a.settings.serving.In, a.settings.serving.Out = input, output
	ended := make(chan error, 1)
	go func() { ended <- a.serve(context.Background(), a.settings.transport(a.log, a.queue), a.hup) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		if err := <-ended; err != nil && !errors.Is(err, io.ErrClosedPipe) { // the client reads no last words
			t.Error(err)
		}
	})
	return session, a
}

// web serves many clients over HTTP, and returns how to connect: with a token, in
// a version of the protocol.
func web(t *testing.T, model llms.Model,
	args ...string) (func(token, version string, o ...*mcp.ClientOptions) *mcp.ClientSession, served) {
	t.Helper()
	a := prepare(t, model, append([]string{"-transport", "http", "-addr", "127.0.0.1:0"}, args...)...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.settings.serving.Listener = listener
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.serve(ctx, a.settings.transport(a.log, a.queue), a.hup) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return func(token, version string, o ...*mcp.ClientOptions) *mcp.ClientSession {
		t.Helper()
		transport := &mcp.StreamableClientTransport{Endpoint: "http://" + listener.Addr().String() + "/mcp",
			HTTPClient: &http.Client{Transport: bearer(token)}}
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, append(o, nil)[0])
		session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}, a
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// ask calls a tool and returns its structured result, or its text where there is
// none, and whether it is an error.
func ask(t *testing.T, session *mcp.ClientSession, name string, args any) (json.RawMessage, bool) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if result.StructuredContent == nil {
		return json.RawMessage(result.Content[0].(*mcp.TextContent).Text), result.IsError
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, session, name, text)
	return text, result.IsError
}

// get is ask where an answer is expected.
func get[T any](t *testing.T, session *mcp.ClientSession, name string, args any) T {
	t.Helper()
	text, failed := ask(t, session, name, args)
	if failed {
		t.Fatalf("%s: %s", name, text)
	}
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v in %s", name, err, text)
	}
	return v
}

// conforms compares a result with the schema that the server declares for it.
func conforms(t *testing.T, session *mcp.ClientSession, name string, result json.RawMessage) {
	t.Helper()
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Name != name {
			continue
		}
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		output, err := schema.Compile(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if findings := output.Validate(result); len(findings) > 0 {
			t.Errorf("%s: the result is not what the schema says: %s\n%s", name, schema.Summary(findings), result)
		}
		return
	}
	t.Errorf("there is no tool %s", name)
}

// lines is a log that can be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) has(text string) bool { return strings.Contains(l.String(), text) }

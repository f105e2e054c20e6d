package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/telemetry"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
)

// newServer returns an MCP server with a tool that has its own span, and a model for tasks. A call of its tool "broken"
// fails.
func newServer(tracers *trace.TracerProvider, meters *metric.MeterProvider) (*codemode.Server, error) {
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		return nil, err
	}
	double := func(ctx context.Context, in number) (number, error) {
		_, own := tracers.Tracer("test").Start(ctx, "own span of a tool")
		defer own.End()
		return number{2 * in.N}, nil
	}
	broken := func(context.Context, word) (word, error) { return word{}, errors.New(secret) }
	set, err := tools.NewSet(context.Background(),
		tools.Func("double", "Doubles a number.", double, &tools.Hints{Class: tools.Read}),
		tools.Func("broken", "Fails.", broken, nil))
	if err != nil {
		return nil, err
	}
	return codemode.New(&codemode.Options{
		Sandbox: box, Tools: set, Model: llmtest.New("```js\nsubmit(String((await double({n: 4})).n))\n```"),
		TracerProvider: tracers, MeterProvider: meters,
	})
}

// serverEnv makes the test's executable a server on stdio, which exports its spans.
const serverEnv = "WRIT_TEST_SERVER"

func serveStdio() (err error) {
	ctx := context.Background()
	spans, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return err
	}
	tracers := trace.NewTracerProvider(trace.WithBatcher(spans))
	defer func() { err = errors.Join(err, tracers.Shutdown(ctx)) }()
	t, err := telemetry.New(&telemetry.Options{TracerProvider: tracers})
	if err != nil {
		return err
	}
	server, err := newServer(tracers, metric.NewMeterProvider())
	if err != nil {
		return err
	}
	defer server.Close()
	return server.Serve(t.Observe(ctx), nil)
}

func init() {
	if os.Getenv(serverEnv) == "" {
		return
	}
	if err := serveStdio(); err != nil {
		log.Fatal(err)
	}
	os.Exit(0)
}

// call is a program that calls MCP servers, two of which fail, and a tool that calls an MCP server.
const call = "```js\n" + `const parts = [
  await web.execute_code({code: "(await double({n: 1})).n"}),
  await web.run_task({task: "5ecret"}),
  await own.execute_code({code: "await broken({word: '5ecret'}).catch(() => 5)"}),
]
try { await web.read_code_file({file_path: "5ecret"}) } catch {}
try { await plain.refuse() } catch {}
await outer()
submit(parts.map(p => p.result ?? p.answer).join(" "))` + "\n```"

// plain returns a handler of a server of one's own. Its tool returns a JSON-RPC error.
func plain(tracers *trace.TracerProvider) (http.Handler, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "plain", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "refuse", InputSchema: json.RawMessage(`{"type": "object"}`),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: secret}
		})
	return serve.NewHandler(func(serve.Principal) *mcp.Server { return server },
		&serve.Options{Path: "/plain", TracerProvider: tracers})
}

// TestTraceOfServers has an agent call MCP servers of this library, over HTTP and in another process. All spans are in
// one trace.
func TestTraceOfServers(t *testing.T) {
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	observer, err := telemetry.New(&telemetry.Options{TracerProvider: tracers, MeterProvider: meters})
	if err != nil {
		t.Fatal(err)
	}
	server, err := newServer(tracers, meters)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	h, err := server.Handler(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := plain(tracers)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/plain", other)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(observer.Observe(r.Context())))
	})
	web := httptest.NewServer(mux)
	defer web.Close()
	servers, err := mcptools.Start(t.Context(), &mcptools.Config{Servers: []mcptools.ServerConfig{
		{Name: "web", URL: web.URL + "/mcp"}, {Name: "plain", URL: web.URL + "/plain"},
		{Name: "own", Command: os.Args[0], Env: map[string]string{
			serverEnv: "1", "OTEL_EXPORTER_OTLP_ENDPOINT": os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"),
			"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
		}},
	}}, &mcptools.Options{Grace: time.Minute, Trust: []string{"web", "plain"}})
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	remote, err := tools.NewSet(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(remote.Bindings(), func(b *tools.Binding) bool { return b.Path() == "web.execute_code" })
	outer := func(ctx context.Context, _ struct{}) (word, error) {
		_, err := remote.Bindings()[i].Handler(ctx, json.RawMessage(`{"code": "1"}`))
		return word{}, err
	}
	set, err := tools.NewSet(t.Context(), servers,
		tools.Func("outer", "Calls a tool.", outer, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	bot, err := agent.New(llmtest.New(call), &agent.Options{Sandbox: box, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	pred, err := bot.Run(observer.Observe(t.Context()), agent.Task{Task: "Count."})
	if err != nil || pred.Output.Answer != "2 8 5" {
		t.Fatalf("got %v, %v", pred, err)
	}
	servers.Close() // the process exports its spans
	web.Close()
	shutdown()
	golden(t, "mcp.txt", r.tree("writ.run", "writ.program.computing", "gen_ai.usage.input_tokens",
		"gen_ai.usage.output_tokens", "server.port")+"\n"+r.table())
	conform(t, r)
	within(t, r)
	for _, s := range r.spans {
		if string(s.GetTraceId()) != string(r.spans[0].GetTraceId()) {
			t.Errorf("%s is in another trace than %s", s.GetName(), r.spans[0].GetName())
		}
	}
	if strings.Contains(r.tree(), secret) {
		t.Errorf("contents are exported:\n%s", r.tree())
	}
}

// TestParentOfServer compares the parents and links of the server's spans, in newer and older protocols.
func TestParentOfServer(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, c := range []struct {
			meta, header, host bool
			parent, link       string
		}{
			{},
			{meta: true, parent: "meta"},
			{header: true, parent: "header"},
			{header: true, meta: true, parent: "meta", link: "header"},
			{host: true, parent: "host"},
			{host: true, header: true, parent: "host"},
			{host: true, header: true, meta: true, parent: "meta", link: "host"},
		} {
			t.Run(fmt.Sprintf("%s meta %t header %t host %t", version, c.meta, c.header, c.host), func(t *testing.T) {
				if version < "2026" && c.host { // the SDK has no context of the request
					c.parent = strings.Replace(c.parent, "host", map[bool]string{true: "header"}[c.header], 1)
					c.link = strings.Replace(c.link, "host", "header", 1)
				}
				parent, link := serverParents(t, version, c.meta, c.header, c.host)
				if parent != c.parent || link != c.link {
					t.Errorf("got the parent %q and the link %q, want %q and %q", parent, link, c.parent, c.link)
				}
			})
		}
	}
}

// serverParents calls a tool, and returns where the parent and the link of the server's span come from.
func serverParents(t *testing.T, version string, meta, header, host bool) (parent, link string) {
	t.Helper()
	r := newReceiver(t)
	tracers, meters, shutdown := r.providers()
	server, err := newServer(tracers, meters)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	h, err := server.Handler(&serve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host {
			ctx, span := tracers.Tracer("test").Start(r.Context(), "host")
			defer span.End()
			r = r.WithContext(ctx)
		}
		h.ServeHTTP(w, r)
	}))
	defer web.Close()
	carrier := http.DefaultTransport
	if header {
		carrier = headers{"Traceparent": "00-" + strings.Repeat("1", 32) + "-" + strings.Repeat("2", 16) + "-01"}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL + "/mcp",
		DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: carrier}},
		&mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	p := &mcp.CallToolParams{Meta: mcp.Meta{}, Name: "execute_code", Arguments: map[string]any{"code": "1"}}
	if meta {
		p.Meta["traceparent"] = "00-" + strings.Repeat("1", 32) + "-" + strings.Repeat("3", 16) + "-01"
	}
	if _, err := session.CallTool(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	session.Close()
	web.Close()
	shutdown()
	origins := map[string]string{"": "", strings.Repeat("\x22", 8): "header", strings.Repeat("\x33", 8): "meta"}
	for _, s := range r.spans {
		if s.GetName() == "host" {
			origins[string(s.GetSpanId())] = "host"
		}
	}
	i := slices.IndexFunc(r.spans, func(s *traces.Span) bool { return s.GetName() == "tools/call execute_code" })
	if i < 0 {
		t.Fatalf("no span:\n%s", r.tree())
	}
	s := r.spans[i]
	hasSession := strings.Contains(r.tree(), "mcp.session.id")
	if want := "mcp.protocol.version=\"" + version + "\""; hasSession != (version < "2026") ||
		!strings.Contains(r.tree(), want) {
		t.Errorf("the session's ID is missing or wrong, or %s is missing:\n%s", want, r.tree())
	}
	for _, l := range s.GetLinks() {
		link += origins[string(l.GetSpanId())]
	}
	return origins[string(s.GetParentSpanId())], link
}

// headers adds headers to all requests.
type headers map[string]string

// RoundTrip implements [http.RoundTripper].
func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestServeInSpan serves in a span: the parent of calls on stdio, but not of the requests to a server over HTTP.
func TestServeInSpan(t *testing.T) {
	for _, transport := range []string{serve.Stdio, serve.HTTP} {
		t.Run(transport, func(t *testing.T) {
			r := newReceiver(t)
			tracers, meters, shutdown := r.providers()
			server, err := newServer(tracers, meters)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			in, write := io.Pipe()
			read, out := io.Pipe()
			var way mcp.Transport = &mcp.IOTransport{Reader: read, Writer: write}
			if transport == serve.HTTP {
				way = &mcp.StreamableClientTransport{Endpoint: "http://" + l.Addr().String() + "/mcp"}
			}
			ctx, stop := context.WithCancel(t.Context())
			ctx, span := tracers.Tracer("test").Start(ctx, "caller")
			done := make(chan error)
			go func() {
				done <- server.Serve(ctx, &serve.Options{Transport: transport, Listener: l, In: in, Out: out})
			}()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), way, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{"code": "1"}}
			if _, err := session.CallTool(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			session.Close()
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			span.End()
			shutdown()
			if within := strings.Contains(r.tree(), "  tools/call"); within != (transport == serve.Stdio) {
				t.Errorf("got\n%s", r.tree())
			}
		})
	}
}

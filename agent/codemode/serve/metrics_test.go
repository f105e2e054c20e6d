package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
)

// TestMetrics checks the metrics, which contain nothing about clients.
func TestMetrics(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Auth: authorized(t)})
	q := queue.New(&queue.Options{Running: 1, Waiting: -1, MeterProvider: r.meters})
	_ = q.Do(t.Context(), "ada", func(context.Context) error {
		return q.Do(t.Context(), "bob", func(context.Context) error { return nil })
	})
	if err := q.AddQueue("tasks", nil).Do(t.Context(), "ada",
		func(context.Context) error { return errors.New("oops") }); err == nil {
		t.Error("the call failed, and Do did not")
	}
	ada := []string{"Authorization", "Bearer " + adaToken}
	r.begin(ada...)
	r.post(callWho, ada...)
	r.post(strings.Replace(callWho, "who", "secret-tool", 1), ada...)
	r.post(`{"jsonrpc":"2.0","id":1,"method":"secret/ada"}`, ada...)
	r.post(callWho)
	r.post(callWho, append(ada, "Origin", "https://evil.com")...)
	r.send(http.MethodGet, "/nowhere", "")
	r.send(http.MethodPut, "/mcp", "", ada...)
	r.send("BREW", "/mcp", "", ada...)
	// A client may get its response before it is counted.
	open := regexp.MustCompile(`active_requests.*[1-9]\n`)
	for open.MatchString(r.meters.Text()) {
		time.Sleep(time.Millisecond)
	}
	want, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.meters.Text(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestStdioMetrics checks the metrics of a server on stdio.
func TestStdioMetrics(t *testing.T) {
	t.Parallel()
	s := startStdio(t, time.Minute)
	s.write(t, strings.Replace(callWho, "tools/call", "secret/method", 1))
	s.read(t)
	s.write(t, callWho)
	s.read(t)
	if want := "writ.mcp.server.sessions{} 1\n"; !strings.Contains(s.meters.Text(), want) {
		t.Errorf("%q is missing in\n%s", want, s.meters.Text())
	}
	s.in.Close()
	if err := <-s.done; err != nil {
		t.Error(err)
	}
	const want = `mcp.server.operation.duration{gen_ai.operation.name=execute_tool,gen_ai.tool.name=who,` +
		`mcp.method.name=tools/call,network.transport=pipe} 1
mcp.server.operation.duration{mcp.method.name=initialize,network.transport=pipe} 1
mcp.server.operation.duration{mcp.method.name=notifications/initialized,network.transport=pipe} 1
mcp.server.session.duration{network.transport=pipe} 1
writ.mcp.server.sessions{} 0
`
	if got := s.meters.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestHealth checks the health paths.
func TestHealth(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Auth: authorized(t)})
	if a := r.send(http.MethodGet, "/healthz", ""); a.status != http.StatusOK || a.body != "ok\n" {
		t.Errorf("healthz: %d %q", a.status, a.body)
	}
	if a := r.send(http.MethodGet, "/readyz", ""); a.status != http.StatusOK || a.body != "ready\n" {
		t.Errorf("readyz: %d %q", a.status, a.body)
	}
}

// TestLog checks that the log has the address of the server and who can reach it, and nothing
// that clients send.
func TestLog(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{})
	r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","arguments":{"code":"secret-0123"}}}`,
		"X-Secret", "secret-0123", "Authorization", "Bearer secret-0123", "Mcp-Session-Id", "secret-0123")
	r.send(http.MethodGet, "/mcp?sessionid=secret-0123", "")
	r.send(http.MethodGet, "/secret-0123", "")
	log := r.log.String()
	if strings.Contains(log, "secret-0123") {
		t.Errorf("a secret is in the log:\n%s", log)
	}
	if want := `level=WARN msg="serving without authentication: all programs on this machine have access, ` +
		`and no other clients" url=` + r.url + `/mcp transport=http`; !strings.Contains(log, want+"\n") {
		t.Errorf("%s is missing in\n%s", want, log)
	}
}

// TestCheck checks that all errors in the options are reported at once.
func TestCheck(t *testing.T) {
	t.Parallel()
	err := (&serve.Options{
		Transport: serve.HTTP, Addr: "0.0.0.0:80", Path: "mcp", Hosts: []string{"https://x"},
		Origins: []string{"app.example.com", "https://x/path"},
		Grace:   -1,
	}).Check(t.Context())
	want := `path "mcp" is invalid or reserved; use one like /mcp
origin must be like https://app.example.com, without a path, not "app.example.com"
origin must be like https://app.example.com, without a path, not "https://x/path"
host must be a name like mcp.example.com, without a port, not "https://x"
"0.0.0.0:80" can be reached from other machines, which requires authentication; ` +
		`listen on 127.0.0.1, or set up tokens or OAuth
grace must not be negative: -1ns`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	for _, path := range []string{"/", "/\t", "/\x00", "/a b", "/{a}", "/a/../b", "/./a", "//", "/a//b", "/mcp/",
		"/readyz", "/readyz/", "/healthz/"} {
		want := fmt.Sprintf("path %q is invalid or reserved; use one like /mcp", path)
		err := (&serve.Options{Transport: serve.HTTP, Path: path}).Check(t.Context())
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for o, want := range map[*serve.Options]string{
		{Transport: "sse", Path: "mcp"}: `transport must be stdio or http, not "sse"`,
		{Auth: &serve.Auth{}}:           "auth is only for http: on stdio, the only client is the program that started this process; remove it",
		{Transport: serve.HTTP, Auth: &serve.Auth{},
			Addr: ":0"}: "auth: Verifier is nil; to serve without authentication, set Auth to nil",
		{}: "",
	} {
		if err := o.Check(t.Context()); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

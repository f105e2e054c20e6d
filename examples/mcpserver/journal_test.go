package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/testserver"
)

type letter struct {
	To string `json:"to"`
}

// servePost serves a tool on stdio that appends a line to a file. For "slow", it never answers.
func servePost(path string) int {
	server := mcp.NewServer(&mcp.Implementation{Name: "post", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "send"}, func(ctx context.Context, _ *mcp.CallToolRequest, in letter) (
		*mcp.CallToolResult, any, error) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, err
		}
		defer file.Close()
		_, err = file.WriteString(in.To + "\n")
		if in.To == "slow" {
			<-ctx.Done()
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sent"}}}, nil, err
	})
	if server.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

// post is a folder with the journal of servers, and the file of the letters that were sent.
type post struct {
	t                     *testing.T
	config, journal, file string
}

func newPost(t *testing.T) post {
	t.Helper()
	folder := t.TempDir()
	p := post{t: t, journal: filepath.Join(folder, "runs"), file: filepath.Join(folder, "sent")}
	var err error
	p.config, err = testserver.WriteConfig(folder, map[string]any{
		"post": map[string]any{"command": os.Args[0], "args": []string{"serve-post", p.file}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// start starts a server on stdio. The function kill kills it.
func (p post) start() (session *mcp.ClientSession, kill func()) {
	p.t.Helper()
	cmd := exec.Command(os.Args[0], slices.Concat([]string{"mcpserver", "-config", p.config, "-journal", p.journal},
		patient)...)
	cmd.Stderr = p.t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(p.t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { session.Close() })
	return session, func() {
		_ = cmd.Process.Kill()
		_ = session.Close()
	}
}

func (p post) wantSent(want string) {
	p.t.Helper()
	text, err := os.ReadFile(p.file)
	if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != want {
		p.t.Errorf("sent %q (%v), want %q", got, err, want)
	}
}

// TestRetryAfterKill kills a server after a program has failed. The next server does not repeat what is done.
func TestRetryAfterKill(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	session, kill := p.start()
	e := get[execution](t, session, "execute_code",
		map[string]any{"code": `await post.send({to: "ann"}); throw new Error("no")`})
	if e.Run == "" {
		t.Fatalf("got %+v", e)
	}
	kill()
	session, _ = p.start()
	again := get[execution](t, session, "execute_code", map[string]any{"retry_of": e.Run,
		"code": `const a = await post.send({to: "ann"}); [a, await post.send({to: "bob"})]`})
	if string(again.Result) != `["sent","sent"]` {
		t.Errorf("got %+v", again)
	}
	p.wantSent("ann bob")
}

// TestKilledInCall kills a server during a call. The next server tells the client about the run, and does not repeat
// the call.
func TestKilledInCall(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	session, kill := p.start()
	const first, second = `await post.send({to: "ann"}); `, `await post.send({to: "slow"})`
	run := func(args map[string]any) execution { return get[execution](t, session, "execute_code", args) }
	lost := make(chan error)
	go func() {
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "execute_code",
			Arguments: map[string]any{"code": first + second}})
		lost <- err
	}()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		if text, _ := os.ReadFile(p.file); strings.Contains(string(text), "slow\n") {
			break
		} else if time.Now().After(end) {
			t.Error("the call does not arrive")
			break
		}
	}
	kill()
	if err := <-lost; err == nil {
		t.Error("a server that was killed has answered")
	}
	session, _ = p.start()
	e := run(map[string]any{"code": first + second})
	if e.ErrorType != "HELD" || e.Run == "" {
		t.Fatalf("got %+v", e)
	}
	e = run(map[string]any{"code": first + second, "retry_of": e.Run})
	const want = `whether E2 post.send({"to":"slow"}) took effect is unknown, so it was not made again. `
	if e.ErrorType != "UNKNOWN" || e.Run == "" || !strings.HasPrefix(e.Diagnostics[0].Message, want) {
		t.Fatalf("got %+v", e)
	}
	if e = run(map[string]any{"code": first + `"done"`, "retry_of": e.Run}); string(e.Result) != `"done"` {
		t.Errorf("got %+v", e)
	}
	p.wantSent("ann slow")
}

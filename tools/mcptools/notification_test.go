package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func notify(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":%s}`, method, params)
}

func TestProgress(t *testing.T) {
	t.Parallel()
	got := make(chan string, 10)
	reporting := talker(func(m wireMessage, say func(string)) {
		var p struct {
			Meta struct{ ProgressToken string } `json:"_meta"`
		}
		if m.Method != "tools/call" || json.Unmarshal(m.Params, &p) != nil {
			return
		}
		for _, token := range []string{`"nobody's"`, `{}`, `null`, p.Meta.ProgressToken} { // as text, and as a number
			say(notify("progress", `{"progressToken":`+token+`,"progress":1,"total":2}`))
		}
		say(notify("progress", `{"progressToken":"`+p.Meta.ProgressToken+`","progress":2,"total":2,"message":"done"}`))
		say(notify("progress", `"nonsense"`))
		say(m.text("fine"))
	}).run
	s := servePipe(t, nil, reporting)
	ctx := WithProgress(t.Context(), func(p Progress) { got <- fmt.Sprintf("%+v", p) })
	equal(t, "result", call(ctx, list(t, s)["t"], `{}`), `"fine"`)
	equal(t, "first", <-got, "{Server:s Tool:t Done:1 Total:2 Message:}")
	equal(t, "second", <-got, "{Server:s Tool:t Done:2 Total:2 Message:done}")
	equal(t, "more", fmt.Sprint(len(got)), "0")
	equal(t, "calls still awaited", fmt.Sprint(len(s.servers[0].notifications.calls)), "0")
}

// Without WithProgress, calls have no progress token.
func TestNoProgressToken(t *testing.T) {
	t.Parallel()
	s := serve(t, script{"tools/call": func(params json.RawMessage) string {
		return fmt.Sprintf(`"result":{"content":[{"type":"text","text":%q}]}`, params)
	}}, nil)
	equal(t, "parameters", call(t.Context(), list(t, s)["t"], `{"a":1}`), `"{\"name\":\"t\",\"arguments\":{\"a\":1}}"`)
}

// In the newer protocol, each request asks for progress itself.
func TestModernProgress(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "memory", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(),
				Progress: 0.5})
			return &mcp.CallToolResult{}, nil
		})
	got := make(chan string, 2)
	s := inProcess(t, server, nil)
	ctx := WithProgress(t.Context(), func(p Progress) { got <- fmt.Sprint(p.Done) })
	equal(t, "result", call(ctx, list(t, s)["t"], `{}`), `""`)
	equal(t, "version", s.Status()[0].ProtocolVersion, "2026-07-28")
	equal(t, "progress", <-got, "0.5")
}

// Notifications arrive over HTTP too.
func TestEventsOverHTTP(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "1"}, nil)
	add := func(name string) {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(),
					Progress: 0.5})
				return &mcp.CallToolResult{}, nil
			})
	}
	add("t")
	got := make(chan string, 2)
	s := overHTTP(t, server, &Options{OnToolsChanged: func(name string) { got <- name }})
	ctx := WithProgress(t.Context(), func(p Progress) { got <- fmt.Sprint(p.Done) })
	equal(t, "result", call(ctx, list(t, s)["t"], `{}`), `""`)
	equal(t, "progress", <-got, "0.5")
	for n := 0; ; n++ { // the stream for such notices opens some time after the handshake
		add(fmt.Sprint("more", n))
		select {
		case name := <-got:
			equal(t, "changed", name, "web")
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Many notifications about changed tools are reported to the host as one; the new tools can be
// listed, and the old ones still work.
func TestToolsChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		names := `{"name":"t"}`
		var mu sync.Mutex
		changed := make(chan string, 100)
		s := servePipe(t, &Options{OnToolsChanged: func(name string) { changed <- name }}, func(r io.Reader, w io.Writer) {
			script{
				"tools/list": func(json.RawMessage) string {
					mu.Lock()
					defer mu.Unlock()
					return `"result":{"tools":[` + names + `]}`
				},
				"tools/call": func(json.RawMessage) string {
					mu.Lock()
					names += `,{"name":"u"}`
					mu.Unlock()
					for range 1000 {
						fmt.Fprintln(w, notify("tools/list_changed", `{}`))
					}
					return `"result":{"content":[{"type":"text","text":"fine"}]}`
				},
			}.whole().run(r, w)
		})
		old := list(t, s)
		equal(t, "result", call(t.Context(), old["t"], `{}`), `"fine"`)
		equal(t, "server", <-changed, "s")
		if n := len(changed); n > 0 {
			t.Errorf("%d more notifications arrived", n)
		}
		equal(t, "tools", fmt.Sprint(len(old), len(list(t, s))), "1 2")
		equal(t, "the old tool", call(t.Context(), old["t"], `{}`), `"fine"`)
		equal(t, "warnings", strings.Join(s.Warnings(), "\n"), "")
	})
}

// If the host is slow, notifications are dropped and memory is bounded.
func TestFloodOfProgress(t *testing.T) {
	t.Parallel()
	lines := sample(60, 200)
	text := strings.Repeat("x", 100<<10)
	began, heard, release := make(chan bool, lines), make(chan bool, lines), make(chan struct{})
	ctx := WithProgress(t.Context(), func(Progress) {
		began <- true
		<-release
		heard <- true
	})
	s := servePipe(t, nil, func(r io.Reader, w io.Writer) {
		script{"tools/call": func(json.RawMessage) string {
			for range lines {
				fmt.Fprintln(w, notify("progress", `{"progressToken":"1","progress":1,"message":"`+text+`"}`))
			}
			return `"result":{}`
		}}.whole().run(r, w)
	})
	equal(t, "result", call(ctx, list(t, s)["t"], `{}`), `""`)
	<-began
	e := s.servers[0].notifications
	e.mu.Lock()
	if e.size > maxQueued {
		t.Errorf("%d bytes are kept", e.size)
	}
	kept := len(e.queue) + 1
	e.mu.Unlock()
	close(release)
	for range kept {
		<-heard
	}
	equalLines(t, "warnings", s.Warnings(),
		`mcp server "s": it sends notifications faster than the host handles them; some were dropped`)
}

// Notifications are not delivered after Close.
func TestEventsEndWithClose(t *testing.T) {
	t.Parallel()
	began, release, heard := make(chan bool), make(chan struct{}), make(chan bool, 10)
	ctx := WithProgress(t.Context(), func(Progress) {
		began <- true
		<-release
		heard <- true
	})
	s := servePipe(t, nil, func(r io.Reader, w io.Writer) {
		script{"tools/call": func(json.RawMessage) string {
			for range 3 {
				fmt.Fprintln(w, notify("progress", `{"progressToken":"1","progress":1}`))
			}
			return `"result":{}`
		}}.whole().run(r, w)
	})
	equal(t, "result", call(ctx, list(t, s)["t"], `{}`), `""`)
	<-began
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	close(release)
	<-heard
	select {
	case <-began:
		t.Error("a notification arrived after Close")
	case <-time.After(20 * time.Millisecond):
	}
}

package codemode

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestReload changes the configuration under a running program: it keeps its tools,
// the client hears of the change, and the next program has the new ones.
func TestReload(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	client, heard := listening()
	session, a := begin(t, setup{Options: Options{Config: path}, client: client})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	running := make(chan execution)
	go func() {
		running <- executeCode(t, session, map[string]any{"code": `
			await fs.write_file({path: "begun", content: ""});
			while (!(await fs.list_directory({path: "."})).includes("go-on")) await sleep(10);
			await fs.read_text_file({path: "a.txt"})`})
	}()
	exists := func(name string) bool { _, err := os.Stat(folder + "/" + name); return err == nil }
	for !exists("begun") {
		time.Sleep(time.Millisecond)
	}
	old := a.catalog.current()
	write(t, path, strings.Replace(string(good), `"fs"`, `"disk"`, 1))
	for !strings.Contains(describedExecute(t, session), "const disk:") {
		<-heard
	}
	wantResult(t, session, `await disk.read_text_file({path: "b.txt"})`, `"4"`)
	if old.servers.Status()[0].Err != nil {
		t.Error("the servers of a running program were closed")
	}
	write(t, folder+"/go-on", "")
	if e := <-running; string(e.Result) != `"3"` {
		t.Errorf("the running program got %+v", e)
	}
	for old.servers.Status()[0].State != "closed" {
		time.Sleep(time.Millisecond)
	}
}

// TestReloadAgain has the same configuration read again: the servers are others,
// and those before are gone.
func TestReloadAgain(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, a := begin(t, setup{Options: Options{Config: path}})
	old := a.catalog.current()
	a.Reload()
	for a.catalog.current() == old || old.servers.Status()[0].State != "closed" {
		time.Sleep(time.Millisecond)
	}
	wantResult(t, session, `await fs.read_text_file({path: "a.txt"})`, `"3"`)
}

// TestReloadBroken keeps the tools if the new configuration is invalid, or if none of its servers can be used, and
// logs all that is wrong with it.
func TestReloadBroken(t *testing.T) {
	t.Parallel()
	for text, logged := range map[string][]string{
		`{"mcpServers": {"a": {}, "b": {"command": "${WRIT_NO_SUCH}"}}}`: {"WRIT_NO_SUCH", `server \"a\": no`},
		`{"mcpServers": {"a": {"command": "no-such-command-anywhere"}}}`: {"no-such-command-anywhere"},
	} {
		path, _ := config(t)
		session, a := begin(t, setup{Options: Options{Config: path}})
		write(t, path, text)
		// it may see half of the file first
		for _, want := range append(logged, "keeping the current tools") {
			for !a.written.has(want) {
				time.Sleep(time.Millisecond)
			}
		}
		wantResult(t, session, `await fs.read_text_file({path: "a.txt"})`, `"3"`)
	}
}

// TestForward has a server whose tools change: clients hear of it, however they are
// connected.
func TestForward(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"stdio", "2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			path, _ := config(t)
			o, heard := listening()
			var session *mcp.ClientSession
			if version == "stdio" {
				session, _ = begin(t, setup{Options: Options{Config: path}, client: o})
			} else {
				connect, _ := web(t, setup{Options: Options{Config: path}})
				session = connect("", version, o)
			}
			executeCode(t, session, map[string]any{"code": `await fs.learn({path: "juggle"})`})
			// a client may be connected before it listens
			for n := 0; !strings.Contains(describedExecute(t, session), "juggle"); n++ {
				select {
				case <-heard:
				case <-time.After(5 * time.Second):
					executeCode(t, session, map[string]any{"code": fmt.Sprintf(`await fs.learn({path: "trick%d"})`, n)})
				}
			}
			wantResult(t, session, `await fs.juggle({})`, `"done"`)
		})
	}
}

// TestChangedBeforeWatch has a configuration that changes when it has been read and is
// not watched yet.
func TestChangedBeforeWatch(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	server := &Server{options: &Options{Config: path, Startup: time.Minute}, secrets: &secrets{},
		log: slog.New(slog.DiscardHandler)}
	c, err := openCatalog(t.Context(), server, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	old := c.current()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Replace(string(text), `"fs"`, `"disk"`, 1))
	ctx, stop := context.WithCancel(t.Context())
	c.watch(ctx, func() {
		if c.current().servers != old.servers {
			stop()
		}
	})
}

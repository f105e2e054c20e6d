package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools/mcptools"
)

// TestPanic has a tool that panics: its client gets an error, and the server lives.
func TestPanic(t *testing.T) {
	t.Parallel()
	_, a := begin(t, setup{})
	broken := tool{Tool: mcp.Tool{Name: "broken"}, read: func(json.RawMessage) (action, error) { panic("at the disco") }}
	_, err := a.as(local).handler(broken)(t.Context(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}})
	if !errors.Is(err, errServer) || !a.written.has("at the disco") || !a.written.has("hostile_test.go") {
		t.Errorf("the client is told %v; the log has\n%s", err, a.written)
	}
}

// TestTakenNames passes variables that have the names of tools. That is for the model
// to mend, and leaves no session behind.
func TestTakenNames(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	storage := t.TempDir()
	session, _ := begin(t, setup{Options: Options{Config: path, Storage: storage}})
	refused := func(args map[string]any, want string) {
		t.Helper()
		if e := executeCode(t, session, args); e.ErrorType != invalidArgument || e.Diagnostics[0].Message != want {
			t.Errorf("got %+v, want %s", e, want)
		}
	}
	refused(map[string]any{"code": "1", "variables": map[string]any{"fs": 1}}, `input "fs": a tool has this name`)
	refused(map[string]any{"code": "1", "session": "new", "variables": map[string]any{"fs": 1}},
		`input "fs": a tool has this name`)
	if list, err := filepath.Glob(filepath.Join(storage, "owners/*/sessions/session-*")); err != nil || len(list) > 0 {
		t.Errorf("there are sessions whose handles nobody knows: %v, %v", list, err)
	}
}

// TestChangesWait has somebody else hold an environment, as another replica does that
// removes it: nothing is changed until he is done, and then everything.
func TestChangesWait(t *testing.T) {
	t.Parallel()
	session, a := begin(t, setup{Options: Options{Packages: []string{"zod"}, AllowInstall: true}})
	get[configuration](t, session, "configure_environment", map[string]any{"description": "before"})
	e, err := a.store.Space(local.Name).Environment(t.Context(), defaultEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := e.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string, 2)
	for name, args := range map[string]map[string]any{
		"configure_environment": {"description": "after"}, "install_dependencies": {"packages": []string{"not-allowed"}},
	} {
		go func() {
			defer func() { done <- name }()
			ask(t, session, name, args)
		}()
	}
	select {
	case name := <-done:
		t.Errorf("%s did not wait", name)
	case <-time.After(200 * time.Millisecond):
	}
	if c := get[configuration](t, session, "get_environment_config", nil); c.Description != "before" {
		t.Errorf("meanwhile the description is %q", c.Description)
	}
	unlock()
	for range cap(done) {
		<-done
	}
	if c := get[configuration](t, session, "get_environment_config", nil); c.Description != "after" {
		t.Errorf("in the end the description is %q", c.Description)
	}
}

// TestTasksTakeTurns has the program of a task wait while others run.
func TestTasksTakeTurns(t *testing.T) {
	t.Parallel()
	session, a := begin(t, setup{Options: Options{Model: llmtest.New(reply(`submit({answer: "done"})`))}, workers: 1})
	release, held := make(chan struct{}), make(chan error, 1)
	running := make(chan struct{})
	go func() {
		held <- a.queue.Do(context.Background(), "another",
			func(context.Context) error { close(running); <-release; return nil })
	}()
	<-running
	done := make(chan report, 1)
	go func() { done <- get[report](t, session, "run_task", map[string]any{"task": "Do it."}) }()
	awaitCalls(t, a, "writ.queue.waiting", "executions", 1)
	close(release)
	if r := <-done; !r.Success {
		t.Errorf("got %+v", r)
	}
	if err := <-held; err != nil {
		t.Error(err)
	}
	a.queue.Stop()
	if err := a.tasks.Do(t.Context(), "ada", func(context.Context) error { return nil }); !errors.Is(err,
		queue.ErrStopped) {
		t.Errorf("tasks do not end with the rest: %v", err)
	}
}

// TestArgumentsTakeTurns has a call wait while the arguments of others are checked.
func TestArgumentsTakeTurns(t *testing.T) {
	t.Parallel()
	session, a := begin(t, setup{})
	release, checking := make(chan struct{}), make(chan struct{})
	var others sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		others.Go(func() {
			if err := a.checks.Do(context.Background(), "another",
				func(context.Context) error { checking <- struct{}{}; <-release; return nil }); err != nil {
				t.Error(err)
			}
		})
		<-checking
	}
	done := make(chan execution, 1)
	go func() { done <- executeCode(t, session, map[string]any{"code": "1"}) }()
	awaitCalls(t, a, "writ.queue.waiting", "checks", 1)
	close(release)
	if e := <-done; string(e.Result) != "1" {
		t.Errorf("got %+v", e)
	}
	others.Wait()
}

// TestTurnsOutliveProgram keeps those waiting who come while everything is taken by
// programs that run for as long as they may.
func TestTurnsOutliveProgram(t *testing.T) {
	t.Parallel()
	s := prepare(t, setup{time: 10 * time.Minute})
	if wait := s.queueOptions().Wait; wait <= s.box.Limits().Time {
		t.Errorf("the wait for a turn is %v, and a program may run for %v", wait, s.box.Limits().Time)
	}
}

// TestListsArePrivate keeps caches from showing one client what another may use.
func TestListsArePrivate(t *testing.T) {
	t.Parallel()
	connect, _ := web(t, setup{tokens: tokensFile(t)})
	list, err := connect(cals, "").ListTools(t.Context(), nil)
	if err != nil || list.CacheScope != "private" {
		t.Errorf("the scope is %q (%v)", list.CacheScope, err)
	}
}

// TestHiddenValues are taken out of logs and results, wherever a configuration has
// them; what is no secret stays.
func TestHiddenValues(t *testing.T) {
	t.Parallel()
	var s secrets
	err := s.add((&mcptools.Config{Servers: []mcptools.ServerConfig{{
		Headers: map[string]string{"Authorization": "Bearer secret-1"},
		Env:     map[string]string{"API_KEY": "secret-2", "DATABASE": "postgres://u:secret-3@host/db", "ROOT": "/srv/data"},
		Args:    []string{"--token", "secret-4", "--password=secret-5", "--verbose", "redis://:secret-6@cache", "data.txt"},
		URL:     "https://me:secret-7@example.com/mcp?api_key=secret-8&page=overview",
	}}}).Secrets())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if secret := fmt.Sprintf("secret-%d", i+1); strings.Contains(s.text("it is "+secret+"."), secret) {
			t.Errorf("%s is told", secret)
		}
	}
	if text := "/srv/data --verbose data.txt host cache example.com overview"; s.text(text) != text {
		t.Errorf("got %s", s.text(text))
	}
}

// TestNamesOfBytes keeps principals apart whose names differ only in bytes that are not UTF-8.
func TestNamesOfBytes(t *testing.T) {
	t.Parallel()
	s := prepare(t, setup{})
	one, other := s.serverOf(serve.Principal{Name: "j\xf6rg"}), s.serverOf(serve.Principal{Name: "j\xfcrg"})
	if one == other || one != s.serverOf(serve.Principal{Name: "j\xf6rg"}) {
		t.Error("the principals share a server")
	}
}

// TestManyPrincipals keeps a bounded number of servers and views.
func TestManyPrincipals(t *testing.T) {
	t.Parallel()
	s := prepare(t, setup{Options: Options{Tools: numbers(t, "same")}})
	for i := range maxServers + 20 {
		s.serverOf(serve.Principal{Name: fmt.Sprint(i), Tools: []string{"execute_code", fmt.Sprint("s*", i)}})
	}
	if n := len(s.clients.made); n > maxServers {
		t.Errorf("%d servers are kept", n)
	}
	if n := len(s.catalog.current().views); n > maxViews {
		t.Errorf("%d views are kept", n)
	}
}

// TestDeepContent takes time that is linear in the size of a value, whatever it looks like. It counts
// allocations, so no other test runs at the same time.
func TestDeepContent(t *testing.T) {
	value := strings.Repeat(`{"type":"resource","a":`, 490) + "[" + strings.Repeat("1,", 25_000) + "1]" +
		strings.Repeat("}", 490)
	if got, blocks, _ := takeContent(json.RawMessage(value)); string(got) != value || len(blocks) > 0 {
		t.Error("a value without blocks has changed")
	}
	allocated := testing.AllocsPerRun(1, func() { takeContent(json.RawMessage(value)) })
	if allocated > 200_000 {
		t.Errorf("%v allocations for 25,000 values", allocated)
	}
}

// TestCloseInStartup answers clients that wait for servers when the server is closed.
func TestCloseInStartup(t *testing.T) {
	t.Parallel()
	url, _ := lateServer(t)
	path := configOf(t, map[string]any{"late": map[string]any{"url": url}})
	s, err := New(&Options{Config: path, Startup: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	session := connectTo(t, s.serverOf(local))
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
	closing.Wait()
}

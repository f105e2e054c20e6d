package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools"
)

// TestTools calls every tool from a program.
func TestTools(t *testing.T) {
	t.Parallel()
	notes := filepath.Join(t.TempDir(), "notes.txt")
	codes := make(chan int, 1)
	here, there := mcp.NewInMemoryTransports()
	if _, err := newServer(notes, func(code int) { codes <- code }).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	servers, err := mcptools.Connect(t.Context(), map[string]mcp.Transport{"demo": here}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	set, err := tools.NewSet(t.Context(), servers)
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()

	got := value(t, box, set, `await demo.note({text: "one"}); await demo.die({});
[await demo.echo({text: "a"}), await demo.wait({seconds: 0.01}), await demo.note({text: "two"})]`)
	if want := `["a","waited 0.01s","noted"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if code := <-codes; code != 3 {
		t.Errorf("die exits with %d, want 3", code)
	}
	if text, err := os.ReadFile(notes); err != nil || string(text) != "one\ntwo\n" {
		t.Errorf("the notes are %q (%v)", text, err)
	}
}

// TestNotesAreOptional starts a server without a file for notes.
func TestNotesAreOptional(t *testing.T) {
	t.Parallel()
	here, there := mcp.NewInMemoryTransports()
	if _, err := newServer("", nil).Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(),
		here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got, _ := json.Marshal(names); string(got) != `["die","echo","wait"]` {
		t.Errorf("got %s", got)
	}
}

func value(t *testing.T, box *sandbox.Sandbox, set *tools.Set, source string) string {
	t.Helper()
	out, err := box.Run(t.Context(), sandbox.Program{Source: source, Tools: set})
	if err != nil {
		t.Fatal(err)
	}
	if out.Failure != nil {
		t.Fatal(out.Failure)
	}
	return string(out.Value)
}

package discovery_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

func tool(namespace, name, description string) *tools.Tool {
	return &tools.Tool{
		Namespace: namespace, Name: name, Description: description,
		Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
	}
}

// A tool is found by every name that it has, and by its own alone where no other
// has that. What is found may be called: nothing is guessed.
func TestTool(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(),
		tool("", "refund", "Refund one order."),
		tool("file system", "read/file", "Read a file."), tool("file system", "list", "List a directory."),
		tool("shop", "list", "List orders."), tool("shop", "ship", "Ship an order."),
		tool("ship", "sail", "Set sail."))
	if err != nil {
		t.Fatal(err)
	}
	d := discovery.New(set, 1000)
	for name, want := range map[string]string{
		"refund":                    "refund",
		"shop.list":                 "shop.list",
		"file_system.read_file":     "file_system.read_file",
		`file_system["read/file"]`:  "file_system.read_file",
		"file system.read/file":     "file_system.read_file",
		"read/file":                 "file_system.read_file",
		"sail":                      "ship.sail",
		"list":                      `there is no tool "list"; did you mean file_system.list or shop.list?`,
		"ship":                      `there is no tool "ship"; did you mean shop.ship or ship.sail?`,
		"shop.lists":                `there is no tool "shop.lists"; did you mean shop.list or file_system.list?`,
		"shop.nope":                 `there is no tool "shop.nope"; there is refund, file_system.read_file, file_system.list, shop.list, shop.ship or ship.sail`,
		"Refund":                    `there is no tool "Refund"; did you mean refund?`,
		"frobnicate":                `there is no tool "frobnicate"; there is refund, file_system.read_file, file_system.list, shop.list, shop.ship or ship.sail`,
		"":                          `there is no tool ""; there is refund, file_system.read_file, file_system.list, shop.list, shop.ship or ship.sail`,
		"file_system.read_file.txt": `there is no tool "file_system.read_file.txt"; did you mean file_system.read_file or file_system.list?`,
	} {
		got := fmt.Sprint(d.Unknown("tool", name))
		if b := d.Tool(name); b != nil {
			got = b.Path()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// Who writes no programs is sent to the tool that searches.
func TestSearchedBy(t *testing.T) {
	t.Parallel()
	many := []tools.Source{tool("shop", "list", "List orders."), tool("shop", "ship", "Ship an order.")}
	for i := range 10 {
		many = append(many, tool("", fmt.Sprint("other", i), "Do something else."))
	}
	set, err := tools.NewSet(t.Context(), many...)
	if err != nil {
		t.Fatal(err)
	}
	inside := discovery.New(set, 40)
	outside := inside.SearchedBy("search_tools")
	for d, want := range map[*discovery.Discovery][2]string{
		inside: {
			`there is no tool "x"; find one by tools.search(query)`,
			"\"the tools of shop, 2:\\n// there are more: tools.search(query, {server: \\\"shop\\\"})\\n\"",
		},
		outside: {
			`there is no tool "x"; find one by search_tools`,
			"\"the tools of shop, 2:\\n// there are more: search_tools with server: \\\"shop\\\"\\n\"",
		},
	} {
		if got := d.Unknown("tool", "x").Error(); got != want[0] {
			t.Errorf("got %s, want %s", got, want[0])
		}
		_, dispatcher := d.Tools()
		text, err := dispatcher.Issue(tools.Call{Args: json.RawMessage(`{"name": "shop"}`)}, 1).Perform(t.Context())
		if err != nil || string(text) != want[1] {
			t.Errorf("got %s (%v), want %s", text, err, want[1])
		}
	}
}

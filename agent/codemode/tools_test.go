package codemode

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature/schema"
)

// TestEveryTool calls each tool, on stdio and over HTTP in each protocol, and
// compares its result with what it declares. A tool that is not called fails.
func TestEveryTool(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: reply(`submit({answer: "done"})`)}, nil
	})
	o := setup{Options: Options{Config: path, Packages: []string{"tiny"}, AllowInstall: true, Model: model}}
	stdio, _ := begin(t, o)
	connect, _ := web(t, o)
	for name, session := range map[string]*mcp.ClientSession{"stdio": stdio, "2026-07-28": connect("", ""),
		"2025-11-25": connect("", "2025-11-25")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyTool(t, session)
		})
	}
}

func everyTool(t *testing.T, session *mcp.ClientSession) {
	file := get[codeFile](t, session, "initialize_code_file", map[string]any{"content": "6 *"})
	calls := map[string]map[string]any{
		"initialize_code_file":     {"content": ""},
		"append_to_code_file":      {"file_path": file.FilePath, "content": " 7"},
		"read_code_file":           {"file_path": file.FilePath},
		"execute_code":             {"code": "6 * 7"},
		"search_tools":             {"query": "read"},
		"describe_tool":            {"name": "fs"},
		"run_task":                 {"task": "Do it."},
		"configure_environment":    {"description": "for all"},
		"get_environment_config":   {},
		"check_installed_packages": {},
	}
	for name, args := range calls {
		get[struct{}](t, session, name, args)
	}
	get[execution](t, session, "execute_code_file", map[string]any{"file_path": file.FilePath})
	get[struct{}](t, session, "discard", map[string]any{"handle": file.FilePath})
	ask(t, session, "install_dependencies", map[string]any{"packages": []string{"not-allowed"}}) // npm needs a registry
	called := append(slices.Collect(maps.Keys(calls)), "execute_code_file", "discard", "install_dependencies")
	slices.Sort(called)
	for _, tool := range listed(t, session) {
		declared(t, tool)
	}
	if offered := toolNames(t, session); !slices.Equal(called, offered) {
		t.Errorf("called  %q\noffered %q", called, offered)
	}
}

// declared looks at what a tool says of itself.
func declared(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	a := tool.Annotations
	if tool.Title == "" || len(tool.Description) < 20 || a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil {
		t.Errorf("%s says too little of itself: %+v", tool.Name, tool)
	}
	for _, part := range []any{tool.InputSchema, tool.OutputSchema} {
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := schema.Compile(text); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	explicit(t, tool.Name, tool.InputSchema)
}

// explicit checks that every object of an input schema says what it may hold: strict
// clients refuse one without properties, or take it to be always empty.
func explicit(t *testing.T, path string, part any) {
	t.Helper()
	object, ok := part.(map[string]any)
	if !ok {
		return
	}
	if object["type"] == "object" && (object["properties"] == nil || object["additionalProperties"] == nil) {
		t.Errorf("%s: an object without properties or additionalProperties", path)
	}
	for name, inner := range object {
		explicit(t, path+"."+name, inner)
	}
}

// TestNoAnswer compares what tools answer to calls that are wrong.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{Options: Options{Packages: []string{"tiny"}, AllowInstall: true, Model: llmtest.New()}})
	for _, name := range toolNames(t, session) {
		if text, failed := ask(t, session, name, map[string]any{"surplus": 1}); !failed || len(text) == 0 {
			t.Errorf("%s: %s", name, text)
		}
	}
}

package codemode

import (
	"errors"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/testserver"
)

// diagnosed returns the message and the hint of a program that cannot be run.
func diagnosed(t *testing.T, session *mcp.ClientSession, args map[string]any) (message, hint string) {
	t.Helper()
	e := executeCode(t, session, args)
	if len(e.Diagnostics) != 1 {
		t.Fatalf("%v: %+v", args, e)
	}
	return e.Diagnostics[0].Message, e.Diagnostics[0].Hint
}

// TestImportsExplained imports what cannot be, for one reason and another.
func TestImportsExplained(t *testing.T) {
	t.Parallel()
	const (
		elsewhere = `packages are imported from an environment: pass environment: "default", or the name of another environment`
		syntax    = "import and export cannot be used here"
	)
	for _, test := range []struct {
		name          string
		packages      []string
		install       bool
		imports       []string // of the environment lab
		args          map[string]any
		message, hint string
	}{
		{"not installed", []string{"tiny", "zod", "z-*"}, true, nil,
			map[string]any{"environment": "lab", "code": `import z from "z-od"; z`},
			`the package "z-od" is not installed in this environment`, "install_dependencies installs it"},
		{"not installed, and cannot be", []string{"tiny", "zod"}, false, nil,
			map[string]any{"environment": "lab", "code": `import z from "zod"; z`},
			`the package "zod" is not installed in this environment`, "available: tiny"},
		{"in the default environment", []string{"zod"}, true, nil,
			map[string]any{"environment": "default", "code": `import z from "zod"; z`},
			`the package "zod" is not installed in this environment`, "install_dependencies installs it"},
		{"of another", []string{"tiny", "undeclared"}, true, nil,
			map[string]any{"environment": "lab", "code": `import z from "undeclared"; z`},
			`the package "undeclared" is in this environment only as a dependency of another package`,
			"install_dependencies installs it for programs too"},
		{"excluded", []string{"tiny", "zod"}, false, []string{"zod"},
			map[string]any{"environment": "lab", "code": `import z from "tiny"; z`},
			`the package "tiny" is installed, but is not one of the imports of this environment`,
			"configure_environment sets the imports"},
		{"not allowed", []string{"tiny"}, true, nil,
			map[string]any{"environment": "lab", "code": `import z from "lodash"; z`},
			`the package "lodash" may not be imported`, "available: tiny"},
		{"no environment", []string{"tiny"}, false, nil, map[string]any{"code": `import z from "tiny"; z`}, syntax,
			elsewhere},
		{"no environment, TypeScript", []string{"tiny"}, false, nil,
			map[string]any{"language": "typescript", "code": `import z from "tiny"; z`},
			`the package "tiny" may not be imported`, elsewhere},
		{"no packages", nil, false, nil, map[string]any{"code": `import z from "tiny"; z`}, syntax,
			"there are no modules, and the program has no tools"},
		{"types", nil, false, nil, map[string]any{"code": `const n: number = 1; n`},
			"expected = instead of : in const statement", `write JavaScript, without types, or pass language: "typescript"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			session, a := begin(t, setup{Options: Options{Packages: test.packages, AllowInstall: test.install}})
			if test.args["environment"] == "lab" {
				get[configuration](t, session, "configure_environment",
					map[string]any{"environment": "lab", "imports": append([]string{}, test.imports...)})
				furnish(t, a, "lab")
			}
			if message, hint := diagnosed(t, session, test.args); message != test.message || hint != test.hint {
				t.Errorf("got\n%s (%s)\nwant\n%s (%s)", message, hint, test.message, test.hint)
			}
		})
	}
}

// TestAbsentServer uses a server that did not start: whoever might have used it is
// told, and of the others nobody.
func TestAbsentServer(t *testing.T) {
	t.Parallel()
	path := configOf(t, map[string]any{
		"fs": testserver.Entry(t.TempDir()), "gone away": map[string]any{"command": "no-such-command-anywhere"},
	})
	session, a := begin(t, setup{Options: Options{Config: path}})
	const want = "the server gone_away is not connected: its command was not found"
	if message, hint := diagnosed(t, session,
		map[string]any{"code": "await gone_away.x({})"}); message != "gone_away is not defined" || hint != want {
		t.Errorf("got %s (%s)", message, hint)
	}
	if message, hint := diagnosed(t, session,
		map[string]any{"code": "await nowhere.x({})"}); message != "nowhere is not defined" || hint != "use the tools: fs" {
		t.Errorf("got %s (%s)", message, hint)
	}
	for name, args := range map[string]any{
		"search_tools": map[string]any{"query": "x",
			"server": "gone_away"}, "describe_tool": map[string]any{"name": "gone_away.x"},
	} {
		if text, failed := ask(t, session, name, args); !failed || string(text) != want {
			t.Errorf("%s: got %s", name, text)
		}
	}
	for pattern, told := range map[string]bool{"fs.*": false, "gone away.read_*": true, "*": true, "gone*": true,
		"execute_code": false, "g*_code": true} {
		p := local
		p.Tools = []string{pattern}
		other := a.as(p)
		if got := other.absent("gone_away") != ""; got != told {
			t.Errorf("%s: told is %t", pattern, got)
		}
	}
}

// TestReason is what is said of a server that failed.
func TestReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`mcp server "x": command "/home/ada/secret" was not found in PATH; install it`:   "its command was not found",
		`mcp server "x": no answer within 1s; see that its command starts an MCP server`: "no answer within 1s",
		`it failed and is tried again in 2s: exit status 1; it said: /home/ada: password`: "it could not be started " +
			"or reached",
	} {
		if got := reason(errors.New(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestDefaultEnvironment is there for every tool before anybody made it; others are
// not, and what was configured is told apart from what can be imported.
func TestDefaultEnvironment(t *testing.T) {
	t.Parallel()
	session, a := begin(t, setup{Options: Options{Packages: []string{"tiny"}}})
	if e := get[execution](t, session, "execute_code",
		map[string]any{"environment": "default", "code": "const n: number = 42; n"}); string(e.Result) != "42" {
		t.Errorf("got %+v", e)
	}
	if text, failed := ask(t, session, "get_environment_config", map[string]any{"environment": "lab"}); !failed ||
		string(text) != `not found: you have no environment "lab"` {
		t.Errorf("got %s", text)
	}
	get[configuration](t, session, "configure_environment", map[string]any{"environment": "lab", "imports": []string{}})
	furnish(t, a, "lab")
	got := get[configuration](t, session, "configure_environment",
		map[string]any{"environment": "lab", "imports": []string{"tiny"}})
	if !slices.Equal(got.Imports, []string{"tiny"}) || !slices.Equal(got.Importable, []string{"tiny"}) {
		t.Errorf("got %+v", got)
	}
}

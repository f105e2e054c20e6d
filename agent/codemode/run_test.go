package codemode

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

func TestExecute(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}})
	e := executeCode(t, session, map[string]any{"code": `
		const texts = await Promise.all(["a.txt", "b.txt"].map(path => fs.read_text_file({ path })));
		const sum = texts.map(Number).reduce((a, b) => a + b);
		console.log("sum", sum);
		console.error("done");
		await fs.write_file({ path: "sum.txt", content: String(sum) });
		({ sum })`})
	if !e.Success || string(e.Result) != `{"sum":7}` || e.Stdout != "sum 7\n" || e.Stderr != "done\n" ||
		len(e.Diagnostics) != 0 {
		t.Errorf("got %+v", e)
	}
	if len(e.Calls) != 3 || e.Calls[2].Tool != "fs.write_file" || !e.Calls[2].OK {
		t.Errorf("calls are %+v", e.Calls)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "sum.txt")); err != nil || string(text) != "7" {
		t.Errorf("sum.txt holds %q (%v)", text, err)
	}
}

// TestCancel cancels a program that would never end: its place is free again.
func TestCancel(t *testing.T) {
	t.Parallel()
	path, folder := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}, workers: 1})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(filepath.Join(folder, "begun")); err == nil {
				cancel()
			}
		}
	}()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "execute_code", Arguments: map[string]any{
		"code": `await fs.write_file({path: "begun", content: ""}); for (;;) await sleep(1)`,
	}})
	if err == nil {
		t.Errorf("got %+v", result)
	}
	if e := executeCode(t, session, map[string]any{"code": "1"}); !e.Success {
		t.Errorf("got %+v", e)
	}
}

// killed is what is said of a program whose time is over and that was too slow, as on
// a busy machine, to hear of it.
var killed = regexp.MustCompile(`did not end within (\S+)( and was killed)?`)

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}, compute: 2 * time.Second})
	for _, test := range []struct {
		code    string
		timeout float64
		want    []diagnostic
	}{
		{"let x = ;", 0, []diagnostic{{"SYNTAX", "unexpected ; in expression", 1, 9, "1 | let x = ;\n  |         ^", ""}}},
		{"await fs.reed_text_file({path: 'a.txt'});\nfs.read_text_file({pat: 1})", 0, []diagnostic{
			{"UNKNOWN_TOOL", `fs has no tool "reed_text_file"`, 1, 10,
				"1 | await fs.reed_text_file({path: 'a.txt'});\n  |          ^",
				"did you mean fs.read_text_file(args: {path: string})?"},
			{"INVALID_ARGUMENT", "fs.read_text_file: path is required (did you call it pat?)", 2, 4,
				"2 | fs.read_text_file({pat: 1})\n  |    ^", "it is declared as fs.read_text_file(args: {path: string})"},
		}},
		{"for (let i = 0; ; i++) {}", 60, []diagnostic{{"TIMEOUT", "the program computed for more than 2s", 0, 0, "",
			"look for endless loops and for quadratic work"}}},
		{"for (;;) {}", 0.2, []diagnostic{{"TIMEOUT", "the program ran longer than 200ms", 0, 0, "", ""}}},
	} {
		args := map[string]any{"code": test.code}
		if test.timeout > 0 {
			args["timeout"] = test.timeout
		}
		e := executeCode(t, session, args)
		if e.Success || len(e.Diagnostics) != len(test.want) {
			t.Errorf("%s\ngot %+v", test.code, e)
			continue
		}
		for i, d := range e.Diagnostics {
			if d.Message = killed.ReplaceAllString(d.Message, "ran longer than $1"); d != test.want[i] {
				t.Errorf("%s\ngot  %+v\nwant %+v", test.code, d, test.want[i])
			}
		}
	}
	wantResult(t, session, "6 * 7", "42")
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	session, _ := begin(t, setup{})
	for _, test := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{}, "code is required"},
		{map[string]any{"code": "  "}, "the program is empty; pass JavaScript"},
		{map[string]any{"code": "1", "timeout": -1}, "timeout must be more than 0, not -1"},
		{map[string]any{"code": 1}, "code must be a string, not 1"},
		{map[string]any{"code": "1", "timeot": 3}, "timeot is not a known property (did you mean timeout?)"},
		{map[string]any{"code": "1", "variables": map[string]any{"with": 1, "class": 1, "new": 1}},
			`variables: "class" cannot be the name of a constant`},
	} {
		e := executeCode(t, session, test.args)
		want := []diagnostic{{ErrorType: "INVALID_ARGUMENT", Message: test.want}}
		if e.Success || e.ErrorType != "INVALID_ARGUMENT" || !slices.Equal(e.Diagnostics, want) {
			t.Errorf("%v\ngot  %+v\nwant %+v", test.args, e, want)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	session, _ := begin(t, setup{Options: Options{Config: path}, time: 30 * time.Second, compute: 10 * time.Second})
	d := describedExecute(t, session)
	for _, want := range []string{"It may take 30s, at most 10s of it computing.", "declare const fs: {",
		"  write_file(args: {path: string; content: string}): Promise<string | Content>;"} {
		if !strings.Contains(d, want) {
			t.Errorf("the description lacks %s:\n%s", want, d)
		}
	}
}

// TestPanickingTool logs what the model is not told: the panic of a function, with its stack.
func TestPanickingTool(t *testing.T) {
	t.Parallel()
	set := newSet(t, tools.Func("crash", "Crash.",
		func(context.Context, number) (int, error) { panic("at the disco") }, nil))
	session, s := begin(t, setup{Options: Options{Tools: set}})
	e := executeCode(t, session, map[string]any{"code": "await crash({n: 1})"})
	if e.Success || strings.Contains(e.Calls[0].Error, "disco") || e.Calls[0].Rejected {
		t.Errorf("got %+v", e)
	}
	if !s.written.has("at the disco") || !s.written.has("run_test.go") {
		t.Errorf("the log has\n%s", s.written)
	}
	e = executeCode(t, session, map[string]any{"code": `await crash(JSON.parse('{"n": "x"}'))`})
	if !e.Calls[0].Rejected || !strings.Contains(e.callsText(), "was not made: ") {
		t.Errorf("got %+v", e)
	}
}

// TestPartialList returns the fact that a list was read in part, with the result.
func TestPartialList(t *testing.T) {
	t.Parallel()
	type page struct {
		Rows  []int `json:"rows"`
		Pages int   `json:"pages"`
	}
	set := newSet(t, tools.Func("list", "List.", func(context.Context, struct {
		Page int `json:"page,omitempty"`
	}) (page, error) {
		return page{[]int{1}, 2}, nil
	}, nil))
	session, _ := begin(t, setup{Options: Options{Tools: set}})
	e := executeCode(t, session, map[string]any{"code": "(await list({})).rows.length"})
	const want = "list: page 1 of 2 was read (1 row). Call it with {page: 2}, and use all rows."
	if !e.Success || len(e.Warnings) != 1 || e.Warnings[0].Message != want || e.Warnings[0].ErrorType != "PARTIAL_LIST" {
		t.Errorf("got %+v", e)
	}
	e = executeCode(t, session, map[string]any{"code": "(await list({})).rows.concat((await list({page: 2})).rows)"})
	if !e.Success || len(e.Warnings) != 0 {
		t.Errorf("got %+v", e)
	}
}

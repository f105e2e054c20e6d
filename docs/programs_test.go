package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// printed has the output of the program in each package's comment, in the syntax of [pattern]. The
// programs run with a model that answers, and a tool server.
var printed = map[string]string{
	"agent":           "Three.",
	"agent/codemode":  "", // it serves until its stdin ends
	"module":          "day 4 24",
	"module/evaluate": "evaluate: open dev.csv: no such file or directory",
	"module/optimize": "… evaluate: part 1 of the split would be empty: there are too few examples or groups",
	"module/llmtest":  "first <nil> --- human ---\nHello?",
	"module/models": "A signed order to act.\nspent: 1 call, 100 input and 10 output tokens, a cost of " +
		"0.000225\nrequests: 1 sent to the model, 0 answered by the store",
	"sandbox": "[1 4 9]",
	"signature": "{mood: \"good\" | \"bad\"; score: number /* 0–1 */}\nbad <nil>\nmood must be one " +
		"of \"good\", \"bad\", not \"great\"\nscore must be at most 1, not 3",
	"signature/schema": "{customer_id: string; limit?: number /* integer, 1–100 */}\ncustomer_id is required\n" +
		"custommer_id is not a known property (did you mean customer_id?)\nlimit must be an integer, not \"ten\"",
	"tools": "\"refunded a1\" <nil>\n tool refund: ask a person first",
	"tools/declare": "```ts\ndeclare class ToolError extends Error { tool: string; kind: string; id?: string; data?: " +
		"unknown }\n/** Refund one order. */\ndeclare function refund(args: {id: string}): Promise<boolean>;\n```",
	"tools/journal":        "\"mail 1\" sent: 1 recorded: false\n\"mail 1\" sent: 1 recorded: true",
	"tools/mcptools":       "shop … <nil>\n…\nshop.execute_code - …\n…",
	"agent/codemode/serve": "… tokens: stat tokens.json: no such file or directory", // and so it does not listen
	"tools/policy": "[]\nmay I? refund (unclassified, destructive)\n{\n  \"id\": \"a1\"\n}\nline 1: await refund({id})\n{…\"outcome\":\"ok\"…}" +
		"\n\"refunded a1 with the key [redacted]\" <nil>\n" +
		"may I? refund (unclassified, destructive)\n{\n  \"id\": \"vip\"\n}\nline 1: await refund({id})\n{…\"outcome\":\"denied\"…}\n tool " +
		"refund: not approved: leave this one to the shop",
	"tools/search": "refund Refund one order.",
}

// TestPrograms builds and runs the programs in the packages' comments.
func TestPrograms(t *testing.T) {
	full(t)
	t.Parallel()
	programs := packagePrograms(t)
	bin := buildPrograms(t, programs)
	model := httptest.NewServer(http.HandlerFunc(replyTo))
	t.Cleanup(model.Close)
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			program := exec.CommandContext(ctx, filepath.Join(bin, flat(name)))
			program.Dir = t.TempDir()
			program.Env = append(os.Environ(), "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+model.URL)
			config := fmt.Sprintf(`{"mcpServers": {"shop": {"command": %q}}}`, filepath.Join(bin, "mcpserver"))
			if err := os.WriteFile(filepath.Join(program.Dir, "mcp_servers.json"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := program.CombinedOutput()
			if want, ok := printed[name]; !ok || !pattern(want).MatchString(string(out)) {
				t.Errorf("want\n%s\ngot (%v)\n%s", want, err, out)
			}
		})
	}
	for name := range printed {
		if programs[name] == "" {
			t.Errorf("package %s has no program in its comment", name)
		}
	}
}

// packagePrograms returns the programs in the packages' comments, by folder.
func packagePrograms(t *testing.T) map[string]string {
	t.Helper()
	programs := map[string]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		if text := programIn(parsed.Doc); text != "" {
			dir, err := filepath.Rel(root, filepath.Dir(file))
			programs[filepath.ToSlash(dir)] = text
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return programs
}

// programIn returns the first program in a comment.
func programIn(doc *ast.CommentGroup) string {
	var p comment.Parser
	for _, block := range p.Parse(doc.Text()).Content {
		if code, ok := block.(*comment.Code); ok && strings.HasPrefix(code.Text, "package main\n") {
			return code.Text
		}
	}
	return ""
}

// buildPrograms builds all programs as if they were in the module, and the example server, and
// returns the folder with the executables.
func buildPrograms(t *testing.T, programs map[string]string) string {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	packages := []string{"./examples/mcpserver"}
	for name, text := range programs {
		file := filepath.Join(temp, flat(name)+".go")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(here, "programs", flat(name), "main.go")] = file
		packages = append(packages, "./programs/"+flat(name))
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file, bin := filepath.Join(temp, "overlay.json"), filepath.Join(temp, "bin")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	build := exec.CommandContext(t.Context(), "go",
		append([]string{"build", "-overlay", file, "-o", bin + string(filepath.Separator)}, packages...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

func flat(name string) string { return strings.ReplaceAll(name, "/", "_") }

// replyTo is a model that answers the questions of the programs.
func replyTo(w http.ResponseWriter, r *http.Request) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	text := "[[ ## answer ## ]]\nA signed order to act."
	switch {
	case strings.Contains(string(asked), "warmest"):
		text = "```js\nsubmit({warmest: \"day 4\", degrees: await temperature({city, day: 4})})\n```"
	case strings.Contains(string(asked), "submit"):
		text = "```js\nsubmit({answer: \"Three.\"})\n```"
	}
	w.Header().Set("Content-Type", "application/json")
	err = json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "model": "stand-in",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": text}}},
		"usage": map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
	})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

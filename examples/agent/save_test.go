package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
)

// The last program of a run is saved under a new name, and a later run calls it.
func TestSave(t *testing.T) {
	const list = "```js\nconst text = await fs.read_text_file({path: 'sales-01.csv'});\nsubmit({answer: text})\n```"
	file, dir := recordRun(t, 0, list)
	folder := filepath.Join(t.TempDir(), "programs")
	flags := []string{"-config", writeConfig(t, map[string]any{"fs": testserver.Entry(dir)}), "-programs", folder}
	command := func(args ...string) (int, string, string) {
		t.Helper()
		return run(t, t.Context(), append(flags, args...)...)
	}
	if code, stdout, stderr := command("-save", "sales", "-input", "file=sales-01.csv", file); code != 0 ||
		stdout != "saved programs.sales: file: str -> answer: str\n" {
		t.Fatalf("code %d\n%s%s", code, stdout, stderr)
	}
	newOpenAI(t, "```js\nsubmit(await programs.sales({file: 'sales-03.csv'}))\n```")
	if code, stdout, stderr := command("-model", "openai:stub", "Sales in March?"); code != 0 ||
		!strings.Contains(stdout, "table,2") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	before, err := os.ReadFile(filepath.Join(folder, "sales.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{1, "pass -force to replace a program", []string{"-save", "sales", file}},
		{1, `-save "../sales": the name must be an identifier`, []string{"-force", "-save", "../sales", file}},
		{1, "does not have the constant 7 of the input n", []string{"-force", "-save", "sales", "-input", "n=7", file}},
		{1, "no such file", []string{"-save", "other", "none.json"}},
		{2, "write name=constant", []string{"-save", "other", "-input", "n", file}},
		{2, "-save needs -programs and the file", []string{"-save", "other"}},
		{2, "-input and -force need -save", []string{"-force", "task"}},
	} {
		code, stdout, stderr := command(test.args...)
		if code != test.code || !strings.Contains(stderr, test.want) {
			t.Errorf("%q: code %d\n%s%s", test.args, code, stdout, stderr)
		}
	}
	after, err := os.ReadFile(filepath.Join(folder, "sales.js"))
	if err != nil || string(after) != string(before) {
		t.Errorf("the program has changed: %v\n%s", err, after)
	}
	if code, _, stderr := command("-save", "sales", "-force", file); code != 0 {
		t.Errorf("code %d\n%s", code, stderr)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/testserver"
)

// Runs are listed, shown, cancelled and pruned without a model and servers.
func TestRuns(t *testing.T) {
	dir, folder := files(t), t.TempDir()
	flags := []string{"-ask", "-journal", folder, "-config", writeConfig(t, map[string]any{"fs": testserver.Entry(dir)}),
		"-model", "openai:stub"}
	program := "```js\nawait fs.write_file({path: 'a', content: '1'}); submit({answer: 'written'})\n```"
	newOpenAI(t, program, program)
	var ids []string
	for _, task := range []string{"One.", "Two."} {
		code, _, stderr := process(t, append(flags, task)...)
		id := resumes.FindStringSubmatch(stderr)
		if code != 3 || id == nil {
			t.Fatalf("code %d\n%s", code, stderr)
		}
		ids = append(ids, id[1])
	}
	do := func(action string, want ...string) {
		t.Helper()
		words := strings.Fields(action)
		args := append([]string{"runs", words[0], "-journal", folder}, words[1:]...)
		code, stdout, stderr := run(t, t.Context(), args...)
		if (code == 0) != (stderr == "") {
			t.Errorf("%s: code %d\n%s", action, code, stderr)
		}
		for _, text := range want {
			if !strings.Contains(stdout+stderr, text) {
				t.Errorf("%s: want %s\n%s%s", action, text, stdout, stderr)
			}
		}
	}
	do("list", ids[0], ids[1], "paused       One.", ":E1 fs.write_file(")
	do("show "+ids[0], `"state": "paused"`, `"tool": "fs.write_file"`, "One.")
	do("cancel " + ids[0])
	do("cancel " + ids[0])
	do("show "+ids[0], `"state": "cancelled"`)
	do("show r-none", "there is no such run")
	do("prune -older 1h")
	do("list", ids[0])
	do("prune -older 1ns", "removed: "+ids[0])
	if _, stdout, _ := run(t, t.Context(), "runs", "list", "-journal", folder); strings.Contains(stdout, ids[0]) ||
		!strings.Contains(stdout, ids[1]) { // the open run is spared
		t.Errorf("after prune:\n%s", stdout)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		t.Error("a call was made")
	}
}

// What a run has done is shown, and undone as far as its tools say how.
func TestRunsDone(t *testing.T) {
	dir, folder := files(t), t.TempDir()
	newOpenAI(t, "```js\nawait fs.write_file({path: 'a', content: '1'}); submit({answer: 'written'})\n```")
	config := writeConfig(t, map[string]any{"fs": testserver.Entry(dir)})
	code, _, stderr := process(t, "-journal", folder, "-config", config, "-model", "openai:stub", "Write.")
	_, list, _ := run(t, t.Context(), "runs", "list", "-journal", folder)
	id, _, _ := strings.Cut(list, " ")
	_, stdout, _ := run(t, t.Context(), "runs", "show", "-journal", folder, id)
	if code != 0 || !strings.Contains(stdout, `"answer": "written"`) || !strings.Contains(stdout, `"state": "ok"`) {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr = run(t, t.Context(), "runs", "rollback", "-journal", folder, "-config", config, id)
	if code != 0 || !strings.Contains(stdout, "not undone: E1 fs.write_file(") {
		t.Errorf("code %d\n%s%s", code, stdout, stderr)
	}
}

// Wrong arguments are explained.
func TestRunsArguments(t *testing.T) {
	for args, want := range map[string]string{
		"runs lists -journal x":               "write runs, then one of",
		"runs":                                "write runs, then one of",
		"runs list":                           "then -journal",
		"runs list -journal x r-1":            "none for list",
		"runs show -journal x":                "the ID of one run",
		"runs show -journal x r-1 r-2":        "the ID of one run",
		"runs prune -journal x -older -1s":    "-older must be positive",
		"runs show -journal x r-1 -model mod": "write flags before",
	} {
		code, _, stderr := run(t, t.Context(), strings.Fields(args)...)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: code %d, want %s\n%s", args, code, want, stderr)
		}
	}
}

package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// elsewhere lists commands that are not run here, because .ci/run or .ci/long runs them.
var elsewhere = []string{"go test ./...", "npm ci --ignore-scripts", "go test -tags integration",
	"go run -C agent/temporal ./example"}

// TestCommands runs the commands of every page in the module's folder, each page in its own shell,
// and compares their output with the page. Commands that need npm are run if WRIT_NPM_DIR names a
// node_modules folder made from .ci/npm. A stub answers for the model openai:….
func TestCommands(t *testing.T) {
	full(t)
	t.Parallel()
	before := listing(t)
	t.Run("pages", func(t *testing.T) {
		env := environment(t)
		for _, p := range pages(t) {
			if todo := p.commands(t); len(todo) > 0 {
				t.Run(p.name, func(t *testing.T) {
					t.Parallel()
					runPage(t, p, todo, env)
				})
			}
		}
	})
	if after := listing(t); !slices.Equal(before, after) {
		t.Errorf("the commands of the documents change the module's folder; before:\n%q\nafter:\n%q", before, after)
	}
}

// A command is a block of kind sh, or one prompt of a console with its output.
type command struct {
	line   int
	script string
	shows  string
	shown  bool // shows must match the output
	fails  bool
}

// commands returns the commands of a page that can be run here.
func (p page) commands(t *testing.T) (all []command) {
	for _, f := range p.fences {
		if f.kind != "" && f.kind != "sh" && f.kind != "console" {
			continue
		}
		if f.kind != "console" {
			f.text = withoutElsewhere(f.text)
		}
		npm := f.is("needs=npm")
		switch {
		case strings.TrimSpace(f.text) == "":
		case npm && os.Getenv("WRIT_NPM_DIR") == "":
			t.Logf("%s:%d needs npm, and WRIT_NPM_DIR is not set", p.name, f.line)
		case f.kind == "console":
			all = append(all, prompts(f)...)
		default:
			all = append(all, command{line: f.line, script: f.text, fails: f.is("fails")})
		}
	}
	return all
}

// withoutElsewhere drops the commands in elsewhere.
func withoutElsewhere(script string) string {
	var kept []string
	for _, line := range strings.SplitAfter(script, "\n") {
		if !slices.ContainsFunc(elsewhere, func(part string) bool { return strings.Contains(line, part) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// prompts splits a console into its commands, which begin with "$ " and continue with
// "> ".
func prompts(f fence) (all []command) {
	for i, line := range strings.SplitAfter(f.text, "\n") {
		if script, is := strings.CutPrefix(line, "$ "); is {
			all = append(all, command{line: f.line + 1 + i, script: script, shown: true, fails: f.is("fails")})
			continue
		}
		last := &all[len(all)-1]
		if script, is := strings.CutPrefix(line, "> "); is && last.shows == "" {
			last.script += script
			continue
		}
		last.shows += line
	}
	return all
}

// runPage runs commands in one shell, so that they share variables.
func runPage(t *testing.T, p page, commands []command, env []string) {
	var script strings.Builder
	for _, c := range commands {
		if !c.shown && !c.fails {
			script.WriteString("set -e\n")
		}
		// A record separator, which nothing else prints, ends the output of each command.
		fmt.Fprintf(&script, "%s\nprintf '\\036%%d\\036' $?\nset +e\n", strings.TrimRight(c.script, "\n"))
	}
	temp := t.TempDir()
	file := filepath.Join(t.TempDir(), "page.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", file)
	shell.Dir, shell.Env = root, append(env, "TMPDIR="+temp)
	var output bytes.Buffer
	shell.Stdout, shell.Stderr = &output, &output
	together(shell)
	err := shell.Run()
	parts := strings.Split(output.String(), "\x1e")
	for i, c := range commands {
		if 2*i+1 >= len(parts) {
			t.Fatalf("%s:%d: %v\n%s%s", p.name, c.line, err, c.script, parts[len(parts)-1])
		}
		c.judge(t, p.name, parts[2*i], parts[2*i+1])
	}
}

// killed matches the message about a program that was stopped on a busy machine.
var killed = regexp.MustCompile(`did not end within (\S+)( and was killed)?`)

// judge compares the output of a command with the page.
func (c command) judge(t *testing.T, page, printed, status string) {
	printed = killed.ReplaceAllString(printed, "ran longer than $1")
	if c.shown && !pattern(c.shows).MatchString(printed) {
		t.Errorf("%s:%d: the page shows\n%s\nbut\n%s\nprints (exit code %s)\n%s",
			page, c.line, c.shows, c.script, status, printed)
	} else if c.fails == (status == "0") {
		t.Errorf("%s:%d: exit code %s\n%s\n%s", page, c.line, status, c.script, printed)
	}
}

// pattern returns the expression for the output that a page shows. An ellipsis matches any
// text within a line, or any number of lines if it is the whole line.
func pattern(shows string) *regexp.Regexp {
	var expr strings.Builder
	for line := range strings.Lines(strings.TrimRight(shows, "\n") + "\n") {
		if strings.TrimSpace(line) == "…" {
			expr.WriteString(`(?:.*\n)*?`)
			continue
		}
		expr.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " \n")), "…", ".*") + ` *\n`)
	}
	if strings.TrimSpace(shows) == "" {
		return regexp.MustCompile(`\A\s*\z`)
	}
	return regexp.MustCompile(`\A\n*` + expr.String() + `\n*\z`)
}

// environment returns the environment of a reader who has Go and the keys that the pages need.
func environment(t *testing.T) []string {
	stand := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(stand.Close)
	path := os.Getenv("PATH")
	if dir := os.Getenv("WRIT_NPM_DIR"); dir != "" {
		path = npx(t, dir) + string(os.PathListSeparator) + path
	}
	return append(os.Environ(), "PATH="+path, "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+stand.URL)
}

// npx makes a folder with an npx that runs what is already installed.
func npx(t *testing.T, modules string) string {
	const script = `#!/bin/sh
[ "$1" = -y ] && shift
spec=$1 && shift
name=$(echo "$spec" | sed 's/\(.\)@.*/\1/')
bin=$(node -p "const b = require('%[1]s/$name/package.json').bin; typeof b === 'string' ? b : Object.values(b)[0]") || exit 1
exec node "%[1]s/$name/$bin" "$@"
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npx"), fmt.Appendf(nil, script, modules), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// answer serves a model that submits the same answer to every question.
func answer(w http.ResponseWriter, _ *http.Request) {
	const text = "I am a stand-in.\n\n```js\nsubmit({answer: \"A stand-in has nothing to say.\"})\n```"
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "model": "stand-in",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": text}}},
	})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// listing returns the files of the module's folder.
func listing(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestElsewhere fails if no page has one of these commands anymore.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	all := ""
	for _, p := range pages(t) {
		for _, f := range p.fences {
			all += f.text
		}
	}
	for _, part := range elsewhere {
		if !strings.Contains(all, part) {
			t.Errorf("no document has the command %s; remove it from elsewhere", part)
		}
	}
}

// TestPattern checks which output matches.
func TestPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shows, printed string
		want           bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\nx\nb\n", false},
		{"a\n…\nb\n", "a\nx\ny\nb\n", true},
		{"a\n…\nb\n", "a\nb\n", true},
		{"a\n…\nb\n", "a\nx\n", false},
		{"took …s (1)\n", "took 12s (1)\n", true},
		{"took …s (1)\n", "took 12s (2)\n", false},
		{"took …s\n", "took 1\n2s\n", false},
		{"a\n", "a\nb\n", false},
		{"", "a\n", false},
		{"", "", true},
	} {
		if got := pattern(c.shows).MatchString(c.printed); got != c.want {
			t.Errorf("%q shows %q: %v", c.shows, c.printed, got)
		}
	}
}

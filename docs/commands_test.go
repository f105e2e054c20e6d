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
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// elsewhere are parts of the commands that are not run here, and who runs them.
var elsewhere = map[string]string{
	"go test ./...":             "these tests are part of it, and the last step of .ci/run is it",
	"npm ci --ignore-scripts":   "a step of .ci/run",
	"go test -tags integration": "steps of .ci/run, but for -update",
}

// TestCommands runs the commands of every page as a reader would: in the module's
// folder, one page after its own order in one shell, and compares what is shown.
// Those that need npm are run if WRIT_NPM_DIR names a node_modules made from
// .ci/npm. Wherever a page says openai:…, a stand-in answers.
func TestCommands(t *testing.T) {
	if race || runtime.GOOS == "windows" {
		t.Skip("the commands are run in a shell, and built without the race detector")
	}
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
		t.Errorf("the commands of the documents leave something in the module's folder, or take it away; it held\n%q\nand now\n%q", before, after)
	}
}

// A command is what is run at once: a block of kind sh, or one prompt of a console
// with what it shows.
type command struct {
	line   int
	script string
	shows  string
	shown  bool // shows is to be compared
	fails  bool
}

// commands returns what of a page can be run here.
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

// withoutElsewhere drops the lines that are run elsewhere.
func withoutElsewhere(script string) string {
	var kept []string
	for _, line := range strings.SplitAfter(script, "\n") {
		here := true
		for part := range elsewhere {
			here = here && !strings.Contains(line, part)
		}
		if here {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// prompts cuts a console into its commands: behind "$ ", continued behind "> ".
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

// runPage runs commands in one shell, so that variables and folders last.
func runPage(t *testing.T, p page, commands []command, env []string) {
	var script strings.Builder
	for _, c := range commands {
		if !c.shown && !c.fails {
			script.WriteString("set -e\n")
		}
		// A record separator, which nothing else prints, ends each.
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

// killed is what is said of a program whose time is over and that was too slow, as on
// a busy machine, to hear of it.
var killed = regexp.MustCompile(`did not end within (\S+)( and was killed)?`)

// judge compares what a command printed with what the page shows.
func (c command) judge(t *testing.T, page, printed, status string) {
	printed = killed.ReplaceAllString(printed, "ran longer than $1")
	if c.shown && !pattern(c.shows).MatchString(printed) {
		t.Errorf("%s:%d: the page shows\n%s\nbut\n%s\nprints (exit code %s)\n%s", page, c.line, c.shows, c.script, status, printed)
	} else if c.fails == (status == "0") {
		t.Errorf("%s:%d: exit code %s\n%s\n%s", page, c.line, status, c.script, printed)
	}
}

// pattern is what a page shows, in which … is any text within a line, and any
// number of lines if it stands alone.
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

// environment is that of a reader who has Go, and what the pages take for given.
func environment(t *testing.T) []string {
	stand := httptest.NewServer(http.HandlerFunc(answer))
	t.Cleanup(stand.Close)
	path := os.Getenv("PATH")
	if dir := os.Getenv("WRIT_NPM_DIR"); dir != "" {
		path = npx(t, dir) + string(os.PathListSeparator) + path
	}
	return append(os.Environ(), "PATH="+path, "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+stand.URL)
}

// npx makes a folder with a stand-in for npx that runs what is installed already.
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

// answer is a model that submits the same to every question.
func answer(w http.ResponseWriter, _ *http.Request) {
	const text = "I am a stand-in.\n\n```js\nsubmit({answer: \"A stand-in has nothing to say.\"})\n```"
	w.Header().Set("Content-Type", "application/json")
	err := json.NewEncoder(w).Encode(map[string]any{
		"id": "1", "object": "chat.completion", "model": "stand-in",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}},
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

// TestElsewhere keeps the list short: what no page says any more, goes.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	all := ""
	for _, p := range pages(t) {
		for _, f := range p.fences {
			all += f.text
		}
	}
	for part, who := range elsewhere {
		if !strings.Contains(all, part) {
			t.Errorf("no document says %s (%s); take it out of elsewhere", part, who)
		}
	}
}

// TestPattern holds the comparison to what it must tell apart.
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

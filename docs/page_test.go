// Package docs_test tests the documents: it runs their commands, compiles their
// code, and follows their links.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// root is the module's folder.
const root = ".."

// A page is a document.
type page struct {
	name   string // relative to the root, with slashes
	text   string
	fences []fence
}

// A fence is a fenced block. The first word after the backquotes is its kind. A block of commands
// may also say that they need npm (needs=npm), or that each of them fails (fails).
type fence struct {
	line   int
	kind   string // sh, console, go, …; empty counts as sh
	more   []string
	text   string
	closed bool
}

func (f fence) is(word string) bool { return slices.Contains(f.more, word) }

// full skips the test unless everything that the documents show is to be built and run, as in CI.
// That takes about a minute.
func full(t *testing.T) {
	t.Helper()
	if os.Getenv("WRIT_TEST_FULL") == "" || runtime.GOOS == "windows" {
		t.Skip("set WRIT_TEST_FULL=1 to run the commands and programs of the documents")
	}
}

// pages returns the documents, except generated ones.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		skip := []string{"testdata", "measured", "node_modules"}
		if d.IsDir() && path != root && (slices.Contains(skip, d.Name()) || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all = append(all, page{filepath.ToSlash(name), string(text), fences(string(text))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func fences(text string) (all []fence) {
	var f *fence
	indent := ""
	for i, line := range strings.Split(text, "\n") {
		before, info, mark := strings.Cut(line, "```")
		mark = mark && strings.TrimSpace(before) == ""
		switch {
		case mark && f == nil:
			kind, more, _ := strings.Cut(strings.TrimSpace(info), " ")
			all = append(all, fence{line: i + 1, kind: kind, more: strings.Fields(more)})
			f, indent = &all[len(all)-1], before
		case mark:
			f.closed = true
			f = nil
		case f != nil:
			f.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return all
}

// TestFences checks the words after the backquotes: a command with a misspelled kind would not be
// run.
func TestFences(t *testing.T) {
	t.Parallel()
	kinds := []string{"", "sh", "console", "go", "js", "ts", "json", "jsonc", "toml", "yaml", "mermaid", "text"}
	for _, p := range pages(t) {
		for _, f := range p.fences {
			unknown := func(word string) bool { return word != "needs=npm" && word != "fails" }
			if !f.closed || slices.ContainsFunc(f.more, unknown) || !slices.Contains(kinds, f.kind) {
				t.Errorf("%s:%d: block of kind %q %q (closed: %v); the kinds are %q, the options needs=npm and fails",
					p.name, f.line, f.kind, f.more, f.closed, kinds)
			}
			if f.kind == "console" && !strings.HasPrefix(f.text, "$ ") {
				t.Errorf("%s:%d: a console must begin with a command after \"$ \"", p.name, f.line)
			}
		}
	}
}

// Package docs_test holds the documents to what they say: their commands are run,
// their code is compiled, their links lead somewhere.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the module's folder, seen from this one.
const root = ".."

// A page is one document.
type page struct {
	name   string // from the root, with slashes
	text   string
	fences []fence
}

// A fence is a block between lines of three backquotes. The first word behind the
// opening ones says what it is. Of commands, more words may say that they need npm
// (needs=npm), and that each of them fails (fails).
type fence struct {
	line   int
	kind   string // sh, console, go, …; empty counts as sh
	more   []string
	text   string
	closed bool
}

func (f fence) is(word string) bool { return slices.Contains(f.more, word) }

// pages returns the documents, but for those that programs write.
func pages(t *testing.T) []page {
	t.Helper()
	var all []page
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "measured" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root) {
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

// TestFences keeps what stands behind the backquotes to what is understood: a
// misspelt word would keep a command from being run.
func TestFences(t *testing.T) {
	t.Parallel()
	kinds := []string{"", "sh", "console", "go", "js", "ts", "json", "jsonc", "toml", "yaml", "mermaid", "text"}
	for _, p := range pages(t) {
		for _, f := range p.fences {
			strange := slices.ContainsFunc(f.more, func(word string) bool { return word != "needs=npm" && word != "fails" })
			if !f.closed || strange || !slices.Contains(kinds, f.kind) {
				t.Errorf("%s:%d: a block of kind %q %q, closed: %v; commands are sh or console, with needs=npm and fails or without; what is not run is one of %q",
					p.name, f.line, f.kind, f.more, f.closed, kinds[3:])
			}
			if f.kind == "console" && !strings.HasPrefix(f.text, "$ ") {
				t.Errorf("%s:%d: a console begins with a command, behind \"$ \"", p.name, f.line)
			}
		}
	}
}

// Package docs_test holds the documents to what they say: their commands are run,
// their code is compiled, their links lead somewhere.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
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
// opening ones says what it is, the others what it needs.
type fence struct {
	line   int
	kind   string // sh, console, go, …; empty counts as sh
	needs  string // npm, or nothing
	text   string
	closed bool
}

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
			words := append(strings.Fields(info), "")
			all = append(all, fence{line: i + 1, kind: words[0], needs: strings.TrimPrefix(words[len(words)-1], "needs=")})
			f, indent = &all[len(all)-1], before
			if len(words) < 3 {
				f.needs = ""
			}
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
	known := map[string]bool{"": true, "sh": true, "console": true, "go": true, "js": true, "ts": true, "json": true, "jsonc": true, "toml": true, "yaml": true, "mermaid": true, "text": true}
	for _, p := range pages(t) {
		for _, f := range p.fences {
			if !known[f.kind] || !f.closed || f.needs != "" && f.needs != "npm" {
				t.Errorf("%s:%d: a block of kind %q that needs %q and is closed: %v; known are sh and console, with needs=npm or without, and what is not run: go, js, ts, json, jsonc, toml, yaml, mermaid, text",
					p.name, f.line, f.kind, f.needs, f.closed)
			}
		}
	}
}

package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCode checks that every Go block of the documents occurs, word for word, in an example or a
// test, so that it is compiled.
func TestCode(t *testing.T) {
	t.Parallel()
	compiled := compiledCode(t)
	for _, p := range pages(t) {
		for _, f := range p.fences {
			if f.kind == "go" && !strings.Contains(compiled, flush(f.text)) {
				t.Errorf("%s:%d: this code is not compiled; add it to docs/policies_test.go or an example:\n%s",
					p.name, f.line, f.text)
			}
		}
	}
}

// compiledCode returns all Go code of the root, docs, examples and agent, without indentation.
func compiledCode(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		top := []string{"docs", "examples", "agent"}
		if d.IsDir() && filepath.Dir(path) == root && !slices.Contains(top, d.Name()) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		all.WriteString(flush(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func flush(code string) string {
	lines := strings.SplitAfter(code, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimLeft(line, "\t")
	}
	return strings.Join(lines, "")
}

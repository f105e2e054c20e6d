package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCode wants every Go block of the documents to stand, word for word, in a
// file that is compiled: an example or a test.
func TestCode(t *testing.T) {
	t.Parallel()
	compiled := compiledCode(t)
	for _, p := range pages(t) {
		for _, f := range p.fences {
			if f.kind == "go" && !strings.Contains(compiled, flush(f.text)) {
				t.Errorf("%s:%d: nobody compiles this code; write it in docs/policies_test.go or an example first:\n%s", p.name, f.line, f.text)
			}
		}
	}
}

// compiledCode is all Go of the root, docs and examples, without indentation.
func compiledCode(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && filepath.Dir(path) == root && name != "docs" && name != "examples" {
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

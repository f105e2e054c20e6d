package docs_test

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the documents")

const importPath = "github.com/writ-go/writ/"

// TestImports compares the diagram of the packages, and the table below it, with the sources.
func TestImports(t *testing.T) {
	t.Parallel()
	const file, begin = "architecture.md", "```mermaid\nflowchart TD\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, "```\n")
	if !ok || !closed {
		t.Fatalf("%s has no block that begins %q", file, begin)
	}
	graph := imports(t)
	if want := before + begin + mermaid(graph) + "```\n" + after; want != string(text) {
		if !*update {
			t.Fatalf("the diagram of the packages is outdated; update it with go test ./docs -run '^TestImports$' -update")
		}
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name := range graph {
		if !strings.Contains(after, "[`"+name+"`](../"+name+")") {
			t.Errorf("the table of the packages has no %s", name)
		}
	}
}

// imports returns which packages of the library each package imports.
func imports(t *testing.T) map[string]map[string]bool {
	graph := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name == "examples" || name == "docs" ||
			strings.HasPrefix(name, ".") && file != root) {
			return fs.SkipDir
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || nested(file) {
			return nil
		}
		dir, _ := filepath.Rel(root, filepath.Dir(file))
		from := owner(filepath.ToSlash(dir))
		source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil || from == "." {
			return err
		}
		if graph[from] == nil {
			graph[from] = map[string]bool{}
		}
		for _, spec := range source.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(imported, importPath); ours && owner(to) != from {
				graph[from][owner(to)] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return graph
}

// nested reports whether a file belongs to a module within this one.
func nested(file string) bool {
	for dir := filepath.Dir(file); dir != root; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// owner returns the package that a package named internal belongs to.
func owner(name string) string {
	name, _, _ = strings.Cut(name, "/internal")
	return name
}

// mermaid returns the diagram. It omits an import that follows from two others.
func mermaid(graph map[string]map[string]bool) string {
	var b strings.Builder
	for _, from := range slices.Sorted(maps.Keys(graph)) {
		fmt.Fprintf(&b, "    %s[%s]\n", id(from), from)
		for _, to := range slices.Sorted(maps.Keys(graph[from])) {
			if !around(graph, from, to) {
				fmt.Fprintf(&b, "    %s --> %s\n", id(from), id(to))
			}
		}
	}
	return b.String()
}

func id(name string) string { return "p_" + strings.ReplaceAll(path.Clean(name), "/", "_") }

// around reports whether an import also follows from other imports.
func around(graph map[string]map[string]bool, from, to string) bool {
	for by := range graph[from] {
		if by != to && reaches(graph, by, to, map[string]bool{from: true}) {
			return true
		}
	}
	return false
}

func reaches(graph map[string]map[string]bool, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range graph[from] {
		if !seen[next] && reaches(graph, next, to, seen) {
			return true
		}
	}
	return false
}

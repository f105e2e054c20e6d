package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/sandbox"
)

// archive is an archive in testdata.
type archive struct {
	*txtar.Archive
	file string
}

// archivesIn returns the archives in a directory.
func archivesIn(t *testing.T, dir string) []*archive {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	var list []*archive
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &archive{a, file})
	}
	return list
}

func (a *archive) name() string { return strings.TrimSuffix(filepath.Base(a.file), ".txtar") }

// section returns the contents of a file in the archive, or "".
func (a *archive) section(name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (a *archive) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(a.file, txtar.Format(a.Archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// program returns the program in program.js, with its inputs.json and options.
func (a *archive) program(t *testing.T) (sandbox.Program, options) {
	t.Helper()
	o := readOptions(t, a.section("options"))
	p := sandbox.Program{
		Source: strings.TrimSuffix(a.section("program.js"), "\n"), Submit: o.submit, Limits: sandbox.Limits{Time: o.timeout},
	}
	if inputs := a.section("inputs.json"); inputs != "" {
		p.Inputs = readInputs(t, []byte(inputs))
	}
	return p, o
}

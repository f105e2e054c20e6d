package writ_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

// direct are the modules that the library may depend on directly. Whoever adds
// one says in RATIONALE.md why: everybody who imports the library gets it.
var direct = []string{
	"github.com/dlclark/regexp2/v2",
	"github.com/dop251/goja",
	"github.com/invopop/jsonschema",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/rogpeppe/go-internal", // tests only
	"github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/tailscale/hujson",
	"github.com/tdewolff/parse/v2",
	"github.com/tmc/langchaingo",
	"go.uber.org/goleak", // tests only
	"golang.org/x/oauth2",
	"golang.org/x/sys",
	"golang.org/x/time",
}

func TestDirectDependencies(t *testing.T) {
	t.Parallel()
	file, err := os.Open("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var got []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(strings.TrimPrefix(lines.Text(), "require "))
		if len(fields) == 2 && strings.HasPrefix(fields[1], "v") && fields[0] != "module" {
			got = append(got, fields[0])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, direct) {
		t.Errorf("the direct dependencies are\n%s\nbut should be\n%s\nIf the change is meant, change the list in this test and say why in RATIONALE.md.",
			strings.Join(got, "\n"), strings.Join(direct, "\n"))
	}
}

// TestReadme keeps the program in the README the one that is compiled.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("examples/hello/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```go\n"+string(program)+"```\n") {
		t.Error("the program in README.md is not examples/hello/main.go; copy it there, between ```go and ```")
	}
}

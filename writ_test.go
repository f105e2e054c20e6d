package writ_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

// direct are the modules that the library may depend on directly. Whoever adds
// one says in RATIONALE.md why: everybody who imports the library gets it.
var direct = []string{
	"github.com/dlclark/regexp2/v2",
	"github.com/dop251/goja",
	"github.com/evanw/esbuild",
	"github.com/invopop/jsonschema",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/rogpeppe/go-internal",
	"github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/tailscale/hujson",
	"github.com/tdewolff/parse/v2",
	"github.com/tmc/langchaingo",
	"go.uber.org/goleak", // tests only
	"golang.org/x/oauth2",
	"golang.org/x/sys",
	"golang.org/x/text",
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

// TestReadme keeps the code in the README what is compiled: the program, and what
// stands in this file.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	if !strings.Contains(readme, "```go\n"+read(t, "examples/hello/main.go")+"```\n") {
		t.Error("the program in README.md is not examples/hello/main.go; copy it there, between ```go and ```")
	}
	compiled := read(t, "examples/hello/main.go") + read(t, "writ_test.go")
	for _, part := range strings.Split(readme, "```go\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		if !strings.Contains(compiled, code) {
			t.Errorf("nobody compiles this code of README.md; copy it into writ_test.go:\n%s", code)
		}
	}
}

var qa = signature.Must(signature.Parse(`question, context: list[str] -> answer: str, sure: float(ge=0, le=1)`, "Answer from the context."))

func TestParsedSignature(t *testing.T) {
	t.Parallel()
	if got, want := qa.Spec().OutputTypeScript(), "{answer: string; sure: number /* 0–1 */}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

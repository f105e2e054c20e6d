package writ_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature"
)

// direct lists the modules that the library may depend on directly. RATIONALE.md
// gives the reason for each, since everybody who imports the library gets them.
var direct = []string{
	"github.com/coreos/go-oidc/v3",
	"github.com/dlclark/regexp2/v2",
	"github.com/dop251/goja",
	"github.com/evanw/esbuild",
	"github.com/getkin/kin-openapi",
	"github.com/invopop/jsonschema",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/rogpeppe/go-internal",
	"github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/tailscale/hujson",
	"github.com/tdewolff/parse/v2",
	"github.com/tmc/langchaingo",
	"github.com/zalando/go-keyring",
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/metric",
	"go.opentelemetry.io/otel/trace",
	"go.uber.org/goleak", // tests only
	"golang.org/x/oauth2",
	"golang.org/x/sync",
	"golang.org/x/sys",
	"golang.org/x/term",
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
		t.Errorf("direct dependencies:\n%s\nwant:\n%s\nIf this is intended, change the list here and give the reason "+
			"in RATIONALE.md.",
			strings.Join(got, "\n"), strings.Join(direct, "\n"))
	}
}

// TestReadme compares the program in the README with the example that is compiled.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	if !strings.Contains(readme, "```go\n"+read(t, "examples/hello/main.go")+"```\n") {
		t.Error("the program in README.md is not examples/hello/main.go; copy it there, between ```go and ```")
	}
	if n := strings.Count(readme, "```go\n"); n != 1 {
		t.Errorf("README.md has %d blocks of Go; only the program above is compiled", n)
	}
}

func TestParsedSignature(t *testing.T) {
	t.Parallel()
	line := "question, context: list[str] -> answer: str, sure: float(ge=0, le=1)"
	if !strings.Contains(read(t, "README.md"), line) {
		t.Errorf("README.md does not have the signature %s", line)
	}
	qa := signature.Must(signature.Parse(line, "Answer from the context."))
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

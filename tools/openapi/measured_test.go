package openapi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/openapi"
)

var update = flag.Bool("update", false, "write testdata/shop.golden")

var documents = flag.String("documents", "", "a `folder` of OpenAPI documents for docs/measured/openapi.md")

// leftOut matches a warning about operations that are not tools.
var leftOut = regexp.MustCompile(`^\w+: (\d+) operations? left out, because (.*?): `)

// TestDocuments binds the documents in a folder and writes docs/measured/openapi.md:
//
//	go test ./tools/openapi -run TestDocuments -documents DIR
func TestDocuments(t *testing.T) {
	if *documents == "" {
		t.Skip("-documents is not set")
	}
	files, err := filepath.Glob(filepath.Join(*documents, "*.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	const page = "../../docs/measured/openapi.md"
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	header := "| document | MB | operations | tools | left out, because | schemas, MB | tokens by default | seconds " +
		"|\n|---|---|---|---|---|---|---|---|\n"
	before, _, ok := strings.Cut(string(old), header)
	if !ok {
		t.Fatalf("%s has no table with the header\n%s", page, header)
	}
	var rows strings.Builder
	for _, file := range files {
		rows.WriteString(row(t, file))
	}
	if err := os.WriteFile(page, []byte(before+header+rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func row(t *testing.T, file string) string {
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	api, err := openapi.Open(file, nil)
	if err != nil && strings.Contains(err.Error(), "BaseURL") {
		api, err = openapi.Open(file, &openapi.Options{BaseURL: "https://example.com"})
	}
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	if err != nil {
		reason, _, _ := strings.Cut(err.Error(), ";")
		return fmt.Sprintf("| %s | %.1f | | 0 | %s | | | |\n", name, float64(info.Size())/1e6, reason)
	}
	seconds := time.Since(begin).Seconds()
	set, err := tools.NewSet(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	operations, reasons := set.Len(), []string{}
	for _, warning := range api.Warnings() {
		if m := leftOut.FindStringSubmatch(warning); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			operations += n
			reasons = append(reasons, m[2]+": "+m[1])
		}
	}
	schemas := 0
	for _, b := range set.Bindings() {
		schemas += len(b.InputSchema) + len(b.OutputSchema)
		b.Check([]byte(`{}`), nil)
		b.CheckResult([]byte(`{}`))
	}
	for _, warning := range set.Warnings() {
		if !strings.Contains(warning, "left out") && !strings.Contains(warning, "without approval") {
			t.Logf("%s: %s", filepath.Base(file), warning)
		}
	}
	return fmt.Sprintf("| %s | %.1f | %d | %d | %s | %.1f | %d | %.1f |\n", name, float64(info.Size())/1e6, operations,
		set.Len(), strings.Join(reasons, "; "), float64(schemas)/1e6, declare.Tokens(declare.Markdown(set, 0)), seconds)
}

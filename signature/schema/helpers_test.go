package schema_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// checkGolden compares a text with a golden file, or rewrites the file.
func checkGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i, line := range gotLines {
		if i >= len(wantLines) || line != wantLines[i] {
			t.Fatalf("%s:%d: got\n%s\nwant\n%s", file, i+1, line, strings.Join(wantLines[min(i, len(wantLines)):min(i+1,
				len(wantLines))],
				""))
		}
	}
	if len(gotLines) != len(wantLines) {
		t.Errorf("%s: got %d lines, want %d", file, len(gotLines), len(wantLines))
	}
}

func compile(t *testing.T, raw string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(raw))
	if err != nil {
		t.Fatalf("Compile(%s): %v", raw, err)
	}
	return s
}

func lines(findings []schema.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.String())
	}
	return all
}

// skipSlow skips a slow test, unless WRIT_TEST_FULL is 1.
func skipSlow(t *testing.T) {
	t.Helper()
	if os.Getenv("WRIT_TEST_FULL") != "1" {
		t.Skip("slow; set WRIT_TEST_FULL=1 to run it")
	}
}

func checkLines(t *testing.T, got []schema.Finding, want []string) {
	t.Helper()
	if l := lines(got); !slices.Equal(l, want) {
		t.Errorf("got  %q\nwant %q", l, want)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

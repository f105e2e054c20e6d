package schema_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/writ-go/writ/signature/schema"
)

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

// long leaves out, where -short is given, what computes for long and in which nothing
// runs at once.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long, and is not run with -short")
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

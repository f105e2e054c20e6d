package models

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table in docs/models.md")

// TestProviderTable compares the table of providers in docs/models.md with the code.
func TestProviderTable(t *testing.T) {
	const (
		file  = "../../docs/models.md"
		begin = "<!-- The table is generated: go test ./module/models -run TestProviderTable -update -->\n"
		end   = "<!-- The end of the generated table. -->\n"
	)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no table between %q and %q", file, begin, end)
	}
	if want := before + begin + providerTable(t) + end + after; want != string(text) {
		if !*update {
			t.Fatalf("the table of providers in %s is outdated; update it with go test ./module/models -run "+
				"TestProviderTable -update", file)
		}
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func providerTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("\n| | protocol | structured output | tool calls | effort | caching on request | images | " +
		"reasoning sent back | key |\n|---|---|---|---|---|---|---|---|---|\n")
	mark := func(can bool) string { return map[bool]string{true: "yes", false: "no"}[can] }
	for _, s := range schemes() {
		model, err := Open(s.name+":m", &OpenOptions{Key: "k", BaseURL: "http://localhost"})
		if err != nil {
			t.Fatal(err)
		}
		can, key := CapabilitiesOf(model), "not needed"
		if s.key != "" {
			key = "`" + s.key + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s | %s |\n", s.name, s.protocol, mark(can.Schema),
			mark(can.Tools), mark(can.Thinking), mark(can.Caching), mark(can.Vision), mark(s.keeps), key)
	}
	return b.String() + "\n"
}

// Each provider that needs a key reads it from the variable in the table, and says so. The documentation of Open lists
// each provider.
func TestProviderKeys(t *testing.T) {
	source, err := os.ReadFile("open.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range schemes() {
		if !strings.Contains(string(source), "\n//\t"+s.name+" ") {
			t.Errorf("the documentation of Open has no %s", s.name)
		}
		_, variable := s.baseURL()
		t.Setenv(variable, "http://localhost")
		if s.key != "" {
			t.Setenv(s.key, "")
		}
		_, err := Open(s.name+":m", nil)
		want := fmt.Sprintf("models: cannot open %q: %s is not set; set it or pass a key (%s is set)", s.name+":m",
			s.key,
			variable)
		if got := fmt.Sprint(err); s.key == "" && err != nil || s.key != "" && got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if s.key != "" {
			t.Setenv(s.key, "k")
			if _, err := Open(s.name+":m", nil); err != nil {
				t.Error(err)
			}
		}
	}
}

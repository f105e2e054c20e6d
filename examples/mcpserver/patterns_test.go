package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestStrayPatterns has patterns that fit, and some that do not, of tools of both
// kinds.
func TestStrayPatterns(t *testing.T) {
	t.Parallel()
	path, _ := config(t)
	tokens := filepath.Join(t.TempDir(), "tokens.json")
	text := `{"tokens": [
		{"principal": "ada", "token": "adas-token-which-nobody-knows", "tools": ["execute_code", "fs.read_*", "*", "fs.die", "*_file"]},
		{"principal": "bob", "token": "bobs-token-which-nobody-knows", "tools": ["exceute_code", "fs.raed_*", "fs.wrte_file", "mail.*"]},
		{"principal": "cal", "token": "cals-token-which-nobody-knows"}
	]}`
	if err := os.WriteFile(tokens, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, a := web(t, nil, "-config", path, "-tokens", tokens)
	want := []string{
		`-tokens: bob: "exceute_code" fits no tool that there is now; did you mean execute_code?`,
		`-tokens: bob: "fs.raed_*" fits no tool that there is now; did you mean fs.read_*?`,
		`-tokens: bob: "fs.wrte_file" fits no tool that there is now; did you mean fs.write_file?`,
		`-tokens: bob: "mail.*" fits no tool that there is now`,
	}
	if got := a.strayPatterns(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

package codemode

import (
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
		{"principal": "cal", "token": "cals-token-which-nobody-knows"},
		{"principal": "dee", "token": "dees-token-which-nobody-knows", "tools": ["execute_code"]},
		{"principal": "eve", "token": "eves-token-which-nobody-knows", "tools": []}
	]}`
	write(t, tokens, text)
	_, a := web(t, setup{Options: Options{Config: path}, tokens: tokens})
	want := []string{
		`principal bob: "exceute_code" matches no current tool; did you mean execute_code?`,
		`principal bob: "fs.raed_*" matches no current tool`,
		`principal bob: "fs.wrte_file" matches no current tool; did you mean fs.write_file?`,
		`principal bob: "mail.*" matches no current tool`,
		`principal bob: no pattern allows a tool of this server, such as execute_code`,
		`principal dee: no pattern allows a tool that programs can call, such as fs.die`,
	}
	if got := a.strayPatterns(a.serving.Auth); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

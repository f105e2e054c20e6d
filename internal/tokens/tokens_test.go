package tokens

import (
	"strings"
	"testing"
)

// FuzzSplit checks that the tokens and the rest are the source.
func FuzzSplit(f *testing.F) {
	for _, source := range []string{
		"const a = 1 / 2; /* b */ x = /[/]/g.test(`a${b}c`)", "a\n/b/c", "'open", "/[", "}`", "\x00", "é = \"\\u{1F600}\"",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		list, rest := Split(source)
		var all strings.Builder
		for _, token := range list {
			if token.Text == "" {
				t.Fatal("an empty token")
			}
			all.WriteString(token.Text)
		}
		if all.String()+rest != source {
			t.Errorf("%q became %q and the rest %q", source, all.String(), rest)
		}
	})
}

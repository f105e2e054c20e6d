package report

import (
	"strings"
	"testing"
)

// Whatever a program is, its tokens are the whole program.
func FuzzHighlight(f *testing.F) {
	for _, source := range []string{
		"", "const a = /[/\"]/g.test(b) / 2 // c\n/* d */", "`a${`b${c}`}d`", "`a${", "}", "'open", "/open",
		"\x00", "a\x00b", "#", "@", "0x", "1n", "<!-- a\n-->", "\xff\xfe", "a\u2028b", "\\u0061", "x = y /= /z/",
		strings.Repeat("`${", 1000),
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got := ""
		for _, s := range highlight(source) {
			got += s.Text
		}
		if got != source {
			t.Errorf("got %q, want %q", got, source)
		}
	})
}

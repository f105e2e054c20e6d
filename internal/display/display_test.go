package display_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
)

func TestText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "",
		"plain – äöü, 日本, אב \\u0041\tx\n":          "plain – äöü, 日本, אב \\u0041\tx\n",
		"می\u200cخواهم 👩\u200d💻 ❤\ufe0f 1\u00a0000": "می\u200cخواهم 👩\u200d💻 ❤\ufe0f 1\u00a0000",
		"a\r\nb\rc":                           "a\nb\\u000dc",
		"\x1b[1;31mred\x1b[0m \x1b[38:5:9mx":  "red x",
		"\x1b[2J\x1b]0;title\x07\x00\x08\x7f": `\u001b[2J\u001b]0;title\u0007\u0000\u0008\u007f`,
		"\u009b2J\u0085":                      `\u009b2J\u0085`,
		"user\u202etxt.exe \u2066a\u2069":     `user\u202etxt.exe \u2066a\u2069`,
		"a\u2028b\u2029":                      `a\u2028b\u2029`,
		"\U000e0041\ufeff":                    `\udb40\udc41\ufeff`,
		"a\xffb\x9b":                          "a\ufffdb\ufffd",
	} {
		if got := display.Text(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\r\n\u202e\xff")
	f.Add("\x1b\x1b[m[m")
	f.Fuzz(func(t *testing.T, text string) {
		shown := display.Text(text)
		for _, r := range shown {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
				strings.ContainsRune("\u2028\u2029", r) {
				t.Errorf("%q is shown with %U", text, r)
			}
		}
		if !utf8.ValidString(shown) || display.Text(shown) != shown {
			t.Errorf("%q is shown as %q, and that as %q", text, shown, display.Text(shown))
		}
	})
}

package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "",
		"plain – äöü, 日本, אב 😀 \\u0041": "plain – äöü, 日本, אב 😀 \\u0041",
		"a\r\nb\tc":                 `a\u000d\u000ab\u0009c`,
		"\x1b[2K\x00\x7f\u0085":     `\u001b[2K\u0000\u007f\u0085`,
		"user\u202etxt.exe":         `user\u202etxt.exe`,
		"\u2066a\u2069\u200e\u061c": `\u2066a\u2069\u200e\u061c`,
		"a\u2028b\u2029":            `a\u2028b\u2029`,
		"pay\u200bpal\u00ad\ufeff":  `pay\u200bpal\u00ad\ufeff`,
		"a\u00a0b\u3000c":           `a\u00a0b\u3000c`,
		"a\ufe0f\U000e0100":         `a\ufe0f\udb40\udd00`,
		"\U000e0041\U000e007f":      `\udb40\udc41\udb40\udc7f`,
		"\u3164\u115f\u2800\u034f":  `\u3164\u115f\u2800\u034f`,
		"a\xffb":                    `a\ufffdb`,
		"a\xff\nb":                  `a\ufffd\u000ab`,
		"\ue000\U0010ffff":          `\ue000\udbff\udfff`,
	} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %s, not %s", text, got, want)
		}
	}
}

// The function shown returns only visible characters, and the text keeps its meaning as JSON.
func FuzzShown(f *testing.F) {
	f.Add("user\u202etxt.exe \U000e0041")
	f.Add("a\xff\r\n\"\\")
	f.Fuzz(func(t *testing.T, text string) {
		visible := shown(text)
		for _, r := range visible {
			if !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) ||
				unicode.Is(unicode.Variation_Selector, r) {
				t.Errorf("%q is shown with %U", text, r)
			}
		}
		if strings.ContainsAny(text, `"\`) {
			return
		}
		var back string
		if err := json.Unmarshal([]byte(`"`+visible+`"`), &back); err != nil {
			t.Fatal(err)
		}
		if back != string([]rune(text)) {
			t.Errorf("%q is %q as a string of JSON", text, back)
		}
	})
}

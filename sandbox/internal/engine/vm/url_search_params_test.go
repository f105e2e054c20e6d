package vm

import (
	"net/url"
	"testing"
	"unicode/utf8"
)

func TestURLEncoded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":         "",
		"a b+c":    "a+b%2Bc",
		"*-._~!'(": "*-._%7E%21%27%28",
		"é\x00":    "%C3%A9%00",
	} {
		if got := urlEncoded(text); got != want {
			t.Errorf("%q is encoded as %q, want %q", text, got, want)
		}
	}
}

func TestURLDecoded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a+b%2bc":    "a b+c",
		"%":          "%",
		"%4":         "%4",
		"%g0%0g":     "%g0%0g",
		"%E2%82A":    "\ufffdA",
		"%E2%28":     "\ufffd(",
		"%F0%9F%98":  "\ufffd",
		"%ED%A0%80":  "\ufffd\ufffd\ufffd",
		"%FF%FE":     "\ufffd\ufffd",
		"%ef%bf%bd€": "\ufffd€",
	} {
		if got := urlDecoded(text); got != want {
			t.Errorf("%q is decoded as %q, want %q", text, got, want)
		}
	}
}

// Encoded text is decoded to the same text, here and by package url.
func FuzzURLEncoded(f *testing.F) {
	for _, seed := range []string{"", "a b&c=d", "%41%", "é😀\ufffd", "\xff\xe2\x82"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(urlDecoded(text)) {
			t.Errorf("%q is decoded as %q, which is not UTF-8", text, urlDecoded(text))
		}
		if !utf8.ValidString(text) {
			return
		}
		encoded := urlEncoded(text)
		if got := urlDecoded(encoded); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
		if got, err := url.QueryUnescape(encoded); err != nil || got != text {
			t.Errorf("package url reads %q as %q, %v; want %q", encoded, got, err, text)
		}
	})
}

package glob_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/glob"
)

// FuzzMatch compares patterns with equivalent regular expressions.
func FuzzMatch(f *testing.F) {
	f.Add("mail.*", "mail.send")
	f.Add("a*b*b", "abb")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		text := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
		meant, err := regexp.Compile(text)
		if err != nil {
			t.Skip("the pattern is not UTF-8")
		}
		if strings.ToValidUTF8(name, "") != name {
			t.Skip("the name is not UTF-8")
		}
		if got, want := glob.Match(pattern, name), meant.MatchString(name); got != want {
			t.Errorf("%q of %q: %v, want %v", name, pattern, got, want)
		}
	})
}

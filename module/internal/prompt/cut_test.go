package prompt

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/display"
)

func TestCut(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("0123456789\n", 100)
	for _, c := range []struct {
		text, want string
		most       int
	}{
		{"short", "short", 5},
		{lines, "0123456789\n0123456789\n0123456789\n… 1056 characters omitted …\n0123456789\n", 110},
		{strings.Repeat("é", 100),
			strings.Repeat("é", 15) + "\n… 80 characters omitted …\n" + strings.Repeat("é", 5), 100},
		{lines, "… 1100 characters om…", 25},
		{lines, "", 2},
		{lines, "", -1},
	} {
		if got := Cut(c.text, c.most); got != c.want {
			t.Errorf("%d bytes: got\n%q\nwant\n%q", c.most, got, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, seed := range []string{"", "a\nb\nc", "🦉🦉🦉", "\xff\xfe\n", "```\n```", strings.Repeat("`", 500),
		strings.Repeat("é\n", 300)} {
		f.Add(seed, 10)
		f.Add(seed, 80)
		f.Add(seed, 400)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 0 || most > 1<<20 {
			t.Skip()
		}
		half := len(text) / 2
		for what, got := range map[string]string{
			"cut":     Cut(text, most),
			"output":  cutOutput(text[:half], text[half:], len(text)+100, most),
			"shorten": display.Cut(text, most),
			"fenced":  fencedIn(most, func(most int) string { return Cut(text, most) }),
		} {
			if len(got) > most {
				t.Errorf("%s: %d bytes, for %d: %q", what, len(got), most, got)
			}
			if utf8.ValidString(text) && what != "output" && !utf8.ValidString(got) {
				t.Errorf("%s: not UTF-8: %q", what, got)
			}
			if what == "fenced" && !closed(got) {
				t.Errorf("the fence is not closed, or closed within: %q", got)
			}
		}
	})
}

// closed reports whether only the last line of a text closes the fence with which it begins.
func closed(text string) bool {
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	if len(fence) < 3 {
		return true
	}
	body, ends := strings.CutSuffix(strings.TrimPrefix(text, fence), "\n"+fence)
	return ends && !strings.Contains(body, fence)
}

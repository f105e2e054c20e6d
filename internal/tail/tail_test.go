package tail_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/tail"
)

func TestBuffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		writes []string
		want   string
	}{
		{nil, ""},
		{[]string{"short\n"}, "short"},
		{[]string{"first line\n", "second\n", "third\n"}, "second\nthird"},
		{[]string{strings.Repeat("z", 50)}, strings.Repeat("z", 16)},
		{[]string{"begin ", "0123456789\nend"}, "end"},
		{[]string{"\x1b[31mred\x1b[0m\x07\x9b"}, `red\u0007` + "\ufffd"},
	} {
		kept := tail.Buffer{Max: 16}
		for _, w := range c.writes {
			if n, err := kept.Write([]byte(w)); n != len(w) || err != nil {
				t.Fatal(n, err)
			}
		}
		if got := kept.String(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.writes, got, c.want)
		}
	}
}

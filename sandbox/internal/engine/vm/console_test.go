package vm

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A stream keeps how it begins and how it ends, however it is written.
func TestStream(t *testing.T) {
	t.Parallel()
	const limit = 160 // of which ten are kept of the end
	for _, c := range []struct {
		name       string
		writes     []string
		text, tail string
		bytes      int
	}{
		{"fits", []string{strings.Repeat("a", 100), strings.Repeat("b", 60)}, strings.Repeat("a", 100) + strings.Repeat("b", 60), "", 160},
		{"at once", []string{strings.Repeat("a", 1000) + "0123456789"}, strings.Repeat("a", 160), "0123456789", 1010},
		{"little more", []string{strings.Repeat("a", 163)}, strings.Repeat("a", 160), "aaa", 163},
		{"bit by bit", strings.Split(strings.Repeat("a", 1000)+"0123456789", ""), strings.Repeat("a", 160), "0123456789", 1010},
		{"a character across the limit", []string{"x" + strings.Repeat("é", 100)}, "x" + strings.Repeat("é", 79), strings.Repeat("é", 5), 201},
		{"four bytes", []string{"xyz" + strings.Repeat("🦉", 100)}, "xyz" + strings.Repeat("🦉", 39), strings.Repeat("🦉", 2), 403},
		{"long after short", []string{strings.Repeat("a", 170), strings.Repeat("b", 500), "c"}, strings.Repeat("a", 160), strings.Repeat("b", 9) + "c", 671},
	} {
		s := stream{limit: limit}
		for _, text := range c.writes {
			s.write(text)
		}
		if got := s.output(); got != (engine.Output{Text: c.text, Tail: c.tail, Bytes: c.bytes}) {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add("abc", "défg🦉", 3, 20)
	f.Fuzz(func(t *testing.T, a, b string, times, limit int) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || times < 0 || times > 50 || limit < 1 || limit > 1000 || len(a)+len(b) > 500 {
			t.Skip()
		}
		s, all := stream{limit: limit}, ""
		for range times {
			s.write(a)
			s.write(b)
			all += a + b
		}
		got := s.output()
		switch {
		case got.Bytes != len(all), len(got.Text) > limit, len(got.Tail) > limit/tailShare:
			t.Errorf("%d bytes: %+v", len(all), got)
		case !strings.HasPrefix(all, got.Text) || !strings.HasSuffix(all, got.Tail) || !utf8.ValidString(got.Text+got.Tail):
			t.Errorf("%q: %+v", all, got)
		case len(all) <= limit && got.Text != all, len(got.Text)+len(got.Tail) > len(all):
			t.Errorf("%q: %+v", all, got)
		}
	})
}

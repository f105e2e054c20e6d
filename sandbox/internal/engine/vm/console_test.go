package vm

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

var repeat = strings.Repeat

// A stream keeps its beginning and its end, however it is written.
func TestStream(t *testing.T) {
	t.Parallel()
	const limit = 160 // and ten bytes of the end
	for _, c := range []struct {
		name       string
		writes     []string
		text, tail string
		bytes      int
	}{
		{"fits", []string{repeat("a", 100), repeat("b", 60)},
			repeat("a", 100) + repeat("b", 60), "", 160},
		{"at once", []string{repeat("a", 1000) + "0123456789"}, repeat("a", 160), "0123456789", 1010},
		{"little more", []string{repeat("a", 163)}, repeat("a", 160), "aaa", 163},
		{"in small parts", strings.Split(repeat("a", 1000)+"0123456789", ""),
			repeat("a", 160), "0123456789", 1010},
		{"a character across the limit", []string{"x" + repeat("é", 100)},
			"x" + repeat("é", 79), repeat("é", 5), 201},
		{"four bytes", []string{"xyz" + repeat("🦉", 100)},
			"xyz" + repeat("🦉", 39), repeat("🦉", 2), 403},
		{"long after short", []string{repeat("a", 170), repeat("b", 500), "c"},
			repeat("a", 160), repeat("b", 9) + "c", 671},
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
		if !utf8.ValidString(a+b) || times < 0 || times > 50 || limit < 1 || limit > 1000 || len(a)+len(b) > 500 {
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

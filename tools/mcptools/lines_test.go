package mcptools

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readLines(r io.Reader, limit int) (lines []string, err error) {
	l := lineReader{r: bufio.NewReaderSize(r, 16), max: limit}
	for {
		line, long, err := l.next()
		switch {
		case err != nil:
			return lines, err
		case long != nil:
			lines = append(lines, fmt.Sprintf("long %d", long.size))
		default:
			lines = append(lines, string(line))
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  []string
	}{
		{"", 10, nil},
		{"a\nb\r\n\nc", 10, []string{"a", "b", "", "c"}},
		{"1234567890\n12345678901\nx\n", 10, []string{"1234567890", "long 12", "x"}},
		{strings.Repeat("y", 1000) + "\nx", 20, []string{"long 1001", "x"}},
		{strings.Repeat("y", 100), 20, []string{"long 100"}},
	} {
		got, err := readLines(iotest.OneByteReader(strings.NewReader(c.in)), c.limit)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", c.in, err)
		}
		equalLines(t, c.in, got, c.want...)
	}
}

func TestLongLineID(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x", 1000)
	for _, c := range []struct{ name, line, want string }{
		{"id first", `{"jsonrpc":"2.0","id":7,"result":{"a":"` + filler + `"}}`, "7"},
		{"id first, without version", `{"id" : 7, "result":{"a":"` + filler + `"}}`, "7"},
		{"id last", `{"result":{"a":"` + filler + `"},"jsonrpc":"2.0","id":7}`, "7"},
		{"id before the version at the end", `{"result":{"a":"` + filler + `"},"id":7,"jsonrpc":"2.0"}`, "7"},
		{"a notification", `{"jsonrpc":"2.0","method":"m","params":{"a":"` + filler + `","id":7}}`, "none"},
		{"a request", `{"jsonrpc":"2.0","id":7,"method":"m","params":"` + filler + `"}`, "none"},
		{"an id in a string", `{"result":"` + filler + `,\"id\":7}"}`, "none"},
		{"an id of the result", `{"result":{"a":"` + filler + `","id":7}}`, "none"},
	} {
		l := lineReader{r: bufio.NewReader(strings.NewReader(c.line + "\n")), max: 100}
		_, long, err := l.next()
		if err != nil || long == nil {
			t.Fatalf("%s: %v, %v", c.name, long, err)
		}
		got := "none"
		if r := long.response(&sizeError{size: long.size, limit: 100}); r != nil {
			got = fmt.Sprint(r.ID.Raw())
		}
		equal(t, c.name, got, c.want)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n"), 3)
	f.Add([]byte(strings.Repeat("long ", 200)+"\n{}"), 50)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		limit = min(max(limit, 1), 1<<12)
		got, err := readLines(bytes.NewReader(data), limit)
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		want := strings.Split(string(data), "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1] // ended, or empty
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for i, line := range want {
			line = strings.TrimRight(line, "\r")
			if len(line) <= limit && !strings.HasPrefix(got[i], "long ") && got[i] != line {
				t.Fatalf("line %d is %q, want %q", i, got[i], line)
			}
			if len(line) > limit && !strings.HasPrefix(got[i], "long ") {
				t.Fatalf("line %d of %d bytes is not long", i, len(line))
			}
		}
	})
}

func TestTail(t *testing.T) {
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
	} {
		tl := tail{max: 16}
		for _, w := range c.writes {
			if n, err := tl.Write([]byte(w)); n != len(w) || err != nil {
				t.Fatal(n, err)
			}
		}
		equal(t, fmt.Sprint(c.writes), tl.String(), c.want)
	}
}

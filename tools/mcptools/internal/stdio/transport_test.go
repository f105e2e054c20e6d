package stdio

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func readLines(r io.Reader, limit int) (lines []string, err error) {
	l := lineReader{r: bufio.NewReaderSize(r, 16), limit: limit}
	for {
		line, err := l.next()
		switch {
		case err != nil:
			return lines, err
		case line.Err() != nil:
			lines = append(lines, fmt.Sprintf("long %d", line.Size()))
		default:
			lines = append(lines, string(line.Bytes()))
		}
	}
}

func TestLineReader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  []string
	}{
		{"", 10, nil},
		{"a\nb\r\n\nc", 10, []string{"a", "b", "", "c"}},
		{"1234567890\n12345678901\nx\n", 10, []string{"1234567890", "long 11", "x"}},
		{strings.Repeat("y", 1000) + "\nx", 20, []string{"long 1000", "x"}},
		{strings.Repeat("y", 100), 20, []string{"long 100"}},
	} {
		got, err := readLines(iotest.OneByteReader(strings.NewReader(c.in)), c.limit)
		if !errors.Is(err, io.EOF) {
			t.Errorf("%q: %v", c.in, err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzLineReader(f *testing.F) {
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
			want = want[:len(want)-1]
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
		for i, line := range want {
			line = strings.TrimRight(line, "\r")
			if len(line) <= limit && !strings.HasPrefix(got[i], "long ") && strings.TrimRight(got[i], "\r") != line {
				t.Fatalf("line %d is %q, want %q", i, got[i], line)
			}
			if len(line) > limit && !strings.HasPrefix(got[i], "long ") {
				t.Fatalf("line %d of %d bytes is not long", i, len(line))
			}
		}
	})
}

// A process that exits before anything is written to it has its output read.
func TestOutputOfExitedProcessIsRead(t *testing.T) {
	t.Parallel()
	s, err := Start(Command{Path: "/bin/sh", Args: []string{"-c", "echo usage; exit 2"}}, 1<<20, time.Second)
	if err != nil {
		t.Skip(err)
	}
	<-s.process.reaped
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	<-s.broken
	go func() { _, _ = conn.Read(context.Background()) }()
	if err := conn.Write(t.Context(), &jsonrpc.Request{Method: "hello"}); !errors.Is(err, ErrNotSent) {
		t.Errorf("Write returned %v, want ErrNotSent", err)
	}
	if _, first := s.noise.seen(); first != "usage" {
		t.Errorf("the output is %q, want usage", first)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

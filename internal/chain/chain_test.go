package chain_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/writ-go/writ/internal/chain"
)

func lines(texts ...string) []byte {
	var all []byte
	var sum chain.Sum
	for _, text := range texts {
		all, sum = sum.Append(all, []byte(text))
	}
	return all
}

// read returns the texts of the lines up to the first one that is incomplete or damaged.
func read(data []byte) (texts []string, err error) {
	var sum chain.Sum
	for {
		text, size, next, err := sum.Cut(data)
		if size == 0 || err != nil {
			return texts, err
		}
		texts, data, sum = append(texts, string(text)), data[size:], next
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	all := lines("a", "", "c d")
	if got, err := read(all); err != nil || fmt.Sprintf("%q", got) != `["a" "" "c d"]` {
		t.Errorf("%q, %v", got, err)
	}
	for i := range all {
		changed := bytes.Clone(all)
		changed[i] ^= 1
		if got, err := read(changed); len(got) > bytes.Count(all[:i], []byte("\n")) ||
			err == nil && i < len(all)-1 {
			t.Errorf("byte %d changed: %q, %v", i, got, err)
		}
		if got, err := read(all[:i]); err != nil || len(got) != bytes.Count(all[:i], []byte("\n")) {
			t.Errorf("cut at %d: %q, %v", i, got, err)
		}
	}
	first, second := lines("a"), lines("a", "b")[len(lines("a")):]
	for name, data := range map[string][]byte{
		"moved":    append(bytes.Clone(second), first...),
		"repeated": append(bytes.Clone(first), first...),
		"short":    []byte("a\n"),
	} {
		if _, err := read(data); !errors.Is(err, chain.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package lru_test

import (
	"testing"

	"github.com/writ-go/writ/sandbox/internal/lru"
)

func TestCache(t *testing.T) {
	t.Parallel()
	var c lru.Cache[string, int]
	has := func(key string, want int) {
		t.Helper()
		if got, ok := c.Get(key); got != want || ok != (want > 0) {
			t.Errorf("%s: got %d %v, want %d", key, got, ok, want)
		}
	}
	bounds := lru.Bounds{Entries: 2, Size: 10}
	c.Add("a", 1, 4, bounds)
	c.Add("b", 2, 4, bounds)
	has("a", 1)
	c.Add("c", 3, 4, bounds)
	has("b", 0) // the least recently used entry of three
	c.Add("c", 4, 5, bounds)
	has("a", 1)
	has("c", 4)
	if got, ok := c.Take("c"); got != 4 || !ok {
		t.Errorf("took %d %v", got, ok)
	}
	has("c", 0)
	c.Add("d", 5, 20, bounds)
	has("a", 0)
	has("d", 5) // the entry that was added last is kept, whatever its size
}

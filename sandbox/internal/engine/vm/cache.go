package vm

import (
	"slices"
	"sync"
)

// cache keeps what was used last. The zero cache is empty. It is safe for concurrent
// use.
type cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries []cached[K, V] // the most recently used one is last
}

type cached[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// bounds limit a cache, except that the entry added last is always kept.
type bounds struct{ entries, size int }

func (c *cache[K, V]) find(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(e cached[K, V]) bool { return e.key == key })
	if i < 0 {
		return value, false
	}
	found := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), found)
	return found.value, true
}

func (c *cache[K, V]) add(key K, value V, size int, b bounds) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.entries, func(e cached[K, V]) bool { return e.key == key }) {
		return // another run added it meanwhile
	}
	c.entries = append(c.entries, cached[K, V]{key, value, size})
	total := 0
	for i, e := range slices.Backward(c.entries) {
		total += e.size
		if n := len(c.entries) - i; n > 1 && (n > b.entries || total > b.size) {
			c.entries = slices.Delete(c.entries, 0, i+1)
			return
		}
	}
}

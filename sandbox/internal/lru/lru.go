// Package lru has a cache that drops the least recently used entries.
package lru

import (
	"slices"
	"sync"
)

// Cache holds the most recently used entries. The zero Cache is empty. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu      sync.Mutex
	entries []entry[K, V] // the most recently used one is last
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// Bounds limit the number of entries and the sum of their sizes. The entry that was added last is kept even if
// it exceeds the bounds.
type Bounds struct{ Entries, Size int }

// Get returns the value for a key.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.take(key)
	if ok {
		c.entries = append(c.entries, found)
	}
	return found.value, ok
}

// Take returns a key's value and removes it from the cache.
func (c *Cache[K, V]) Take(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.take(key)
	return found.value, ok
}

func (c *Cache[K, V]) take(key K) (found entry[K, V], ok bool) {
	i := slices.IndexFunc(c.entries, func(e entry[K, V]) bool { return e.key == key })
	if i < 0 {
		return found, false
	}
	found = c.entries[i]
	c.entries = slices.Delete(c.entries, i, i+1)
	return found, true
}

// Add sets a key's value and drops the entries that exceed the bounds.
func (c *Cache[K, V]) Add(key K, value V, size int, b Bounds) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(key)
	c.entries = append(c.entries, entry[K, V]{key, value, size})
	total := 0
	for i, e := range slices.Backward(c.entries) {
		total += e.size
		if n := len(c.entries) - i; n > 1 && (n > b.Entries || total > b.Size) {
			c.entries = slices.Delete(c.entries, 0, i+1)
			return
		}
	}
}

package models

import (
	"container/list"
	"sync"
)

// memory stores texts by key and evicts the least recently used.
type memory struct {
	entries, bytes int // limits

	mu    sync.Mutex
	size  int
	order *list.List // of *entry, most recently used first
	byKey map[string]*list.Element
}

type entry struct {
	key  string
	text []byte
}

func newMemory(entries, bytes int) *memory {
	return &memory{entries: entries, bytes: bytes, order: list.New(), byKey: map[string]*list.Element{}}
}

func (m *memory) get(key string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.byKey[key]
	if e == nil {
		return nil
	}
	m.order.MoveToFront(e)
	return e.Value.(*entry).text
}

func (m *memory) put(key string, text []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.byKey[key]; e != nil {
		m.remove(e)
	}
	if len(key)+len(text) > m.bytes { // too large to store
		return
	}
	m.byKey[key] = m.order.PushFront(&entry{key, text})
	m.size += len(key) + len(text)
	for m.order.Len() > 0 && (m.order.Len() > m.entries || m.size > m.bytes) {
		m.remove(m.order.Back())
	}
}

func (m *memory) remove(e *list.Element) {
	gone := m.order.Remove(e).(*entry)
	delete(m.byKey, gone.key)
	m.size -= len(gone.key) + len(gone.text)
}

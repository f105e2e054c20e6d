package models

import "container/list"

// recent keeps the most recently used replies by their keys, up to a number of bytes.
type recent struct {
	limit, size int
	order       *list.List // elements of type *reply, most recently used first
	byKey       map[string]*list.Element
}

type reply struct {
	key  string
	text []byte
}

func newRecent(limit int) *recent {
	return &recent{limit: limit, order: list.New(), byKey: map[string]*list.Element{}}
}

func (m *recent) get(key string) []byte {
	e := m.byKey[key]
	if e == nil {
		return nil
	}
	m.order.MoveToFront(e)
	return e.Value.(*reply).text
}

func (m *recent) put(key string, text []byte) {
	if e := m.byKey[key]; e != nil {
		m.remove(e)
	}
	if len(key)+len(text) > m.limit { // it would displace everything
		return
	}
	m.byKey[key] = m.order.PushFront(&reply{key, text})
	m.size += len(key) + len(text)
	for m.size > m.limit {
		m.remove(m.order.Back())
	}
}

func (m *recent) remove(e *list.Element) {
	gone := m.order.Remove(e).(*reply)
	delete(m.byKey, gone.key)
	m.size -= len(gone.key) + len(gone.text)
}

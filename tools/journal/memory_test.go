package journal_test

import (
	"iter"
	"slices"
	"sync"
)

// memory is a log in memory.
type memory struct {
	mu      sync.Mutex
	records [][]byte
	synced  int   // the number of records that are durable
	err     error // of Append and Sync
}

func (m *memory) Records() iter.Seq2[[]byte, error] {
	records := m.all().records
	return func(yield func([]byte, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (m *memory) Append(record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.records = append(m.records, record)
	}
	return m.err
}

func (m *memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.synced = len(m.records)
	}
	return m.err
}

func (*memory) Close() error { return nil }

// all returns a copy of the log.
func (m *memory) all() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memory{records: slices.Clone(m.records)}
}

// cut returns a log with the first n records.
func (m *memory) cut(n int) *memory {
	c := m.all()
	c.records = c.records[:n]
	return c
}

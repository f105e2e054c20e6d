package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/tools/journal/internal/runid"
)

// NewMemory returns a Store in memory.
func NewMemory() Store { return &memory{files: map[string]*memoryFile{}} }

type memory struct {
	mu    sync.Mutex
	files map[string]*memoryFile
	runs  []string
}

// Open implements [Store].
func (m *memory) Open(_ context.Context, run string) (Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f, err := m.files[run], runid.Check(run)
	if f == nil && err == nil {
		f = &memoryFile{}
		f.data, _ = firstLine(run)
		m.files[run], m.runs = f, append(m.runs, run)
	}
	if err == nil && !f.owned.CompareAndSwap(false, true) {
		err = ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("journal: cannot open run %q: %w", run, err)
	}
	return openLog(run, f.data, f, nil)
}

// Runs implements [Store].
func (m *memory) Runs(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.runs), nil
}

// Remove implements [Store].
func (m *memory) Remove(_ context.Context, run string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.files[run]; f != nil && f.owned.Load() {
		return fmt.Errorf("journal: cannot remove run %q: %w", run, ErrInUse)
	}
	delete(m.files, run)
	m.runs = slices.DeleteFunc(m.runs, func(r string) bool { return r == run })
	return nil
}

// memoryFile implements [file].
type memoryFile struct {
	owned atomic.Bool
	data  []byte
}

// WriteAt implements [file].
func (f *memoryFile) WriteAt(p []byte, at int64) (int, error) {
	f.data = append(f.data[:at], p...)
	return len(p), nil
}

// Truncate implements [file].
func (f *memoryFile) Truncate(size int64) error { f.data = f.data[:size]; return nil }

// Sync implements [file].
func (f *memoryFile) Sync() error { return nil }

// replace implements [file].
func (f *memoryFile) replace(data []byte) error { f.data = data; return nil }

// Close implements [file].
func (f *memoryFile) Close() error { f.owned.Store(false); return nil }

package faults

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/writ-go/writ/tools/journal"
)

var errDead = errors.New("the process has crashed")

// process can crash at any point: after that, nothing it does has an effect.
type process struct {
	mu    sync.Mutex
	left  int // points until it crashes; negative for never
	dead  bool
	crash func()
}

// point is a point at which the process may crash. It reports whether the process is dead.
func (p *process) point() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 && !p.dead {
		p.dead = true
		p.crash()
	}
	p.left--
	return p.dead
}

// store is a journal.Store with one run, whose owner may crash. Records that were not synced may be lost then.
type store struct {
	process *process

	mu      sync.Mutex
	records [][]byte
	synced  int
}

// reboot drops records that had not been synced, from a random one on.
func (s *store) reboot(r *rand.Rand) {
	s.records = s.records[:s.synced+r.IntN(len(s.records)-s.synced+1)]
	s.synced = len(s.records)
}

func (s *store) Open(context.Context, string) (journal.Log, error) {
	return log{s, s.process, len(s.records)}, nil
}
func (s *store) Runs(context.Context) ([]string, error) { return []string{"r"}, nil }
func (s *store) Remove(context.Context, string) error   { return nil }

type log struct {
	store   *store
	process *process
	length  int
}

func (l log) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range l.store.records[:l.length] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (l log) Append(record []byte) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.process.point() {
		return errDead
	}
	l.store.records = append(l.store.records, slices.Clone(record))
	return nil
}

func (l log) Sync() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.process.point() {
		return errDead
	}
	l.store.synced = len(l.store.records)
	if l.process.point() {
		return errDead
	}
	return nil
}

func (l log) Close() error { return nil }

package temporal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/writ-go/writ/tools/journal"
)

// store is the Store of an agent. Its logs can be taken from the runs that have opened them.
type store struct{ journal.Store }

// Open implements [journal.Store].
func (s store) Open(ctx context.Context, run string) (journal.Log, error) {
	log, err := s.Store.Open(ctx, run)
	l, ok := ctx.Value(liveKey{}).(*live)
	if err != nil || !ok {
		return log, err
	}
	owned := &ownedLog{Log: log}
	l.change(func() { l.log = owned })
	return owned, nil
}

// ownedLog is the log of a run. When it is closed, nothing more is recorded, although the run may go on.
type ownedLog struct {
	journal.Log
	mu     sync.RWMutex
	closed bool
	broken atomic.Bool // an error of the log has occurred
}

var errDropped = errors.New("temporal: the worker has dropped the run")

func (o *ownedLog) do(f func() error) error {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.closed {
		return errDropped
	}
	err := f()
	if err != nil {
		o.broken.Store(true)
	}
	return err
}

// Append implements [journal.Log].
func (o *ownedLog) Append(record []byte) error {
	return o.do(func() error { return o.Log.Append(record) })
}

// Sync implements [journal.Log].
func (o *ownedLog) Sync() error { return o.do(o.Log.Sync) }

// Close implements [journal.Log].
func (o *ownedLog) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	return o.Log.Close()
}

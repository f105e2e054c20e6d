package temporal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	switch {
	case !ok:
		return log, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errNotOwned, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped {
		return nil, errors.Join(errNotOwned, log.Close())
	}
	l.log = &ownedLog{Log: log, live: l}
	return l.log, nil
}

// Remove implements [journal.Store]. It keeps the log: a run that was empty may have begun elsewhere meanwhile.
func (store) Remove(context.Context, string) error { return nil }

// ownedLog is the log of a run. When it is closed, nothing more is recorded, although the run may go on.
type ownedLog struct {
	journal.Log
	live    *live
	replies int // of models, that were recorded; guarded by live.mu
	mu      sync.RWMutex
	closed  bool
	broken  atomic.Bool // an error of the log has occurred
	used    atomic.Bool // the run has recorded something
}

var errNotOwned = errors.New("temporal: the worker does not own the run")

func (o *ownedLog) do(f func() error) error {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.closed {
		return errNotOwned
	}
	err := f()
	if err != nil {
		o.broken.Store(true)
	}
	return err
}

// Append implements [journal.Log].
func (o *ownedLog) Append(record []byte) error {
	err := o.do(func() error { return o.Log.Append(record) })
	o.used.Store(true)
	if err == nil && bytes.HasPrefix(record, []byte("model\t")) { // as the package agent writes it
		o.live.change(func() { o.replies++ })
	}
	return err
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

package agent

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Retention says how long [Runs.Prune] keeps runs that have ended. Zero means forever.
type Retention struct {
	Runs    time.Duration // the time after a run's end at which the run is removed
	Replies time.Duration // the time after a run's end at which the replies of models are dropped from its log
}

// Pruned says what [Runs.Prune] has done.
type Pruned struct {
	Removed   []string // the IDs of the runs that were removed
	Compacted []string // the IDs of those whose logs have become smaller
}

// Prune removes runs that have ended, and makes the logs of others smaller, so that a service can run for years. A run
// has ended if it is done, failed, cancelled or rolled back. All others are spared, and so are runs with a call whose
// outcome is unknown, since somebody may have to look at it.
//
// Of a run that has failed, the replies are kept, because it can be resumed. A smaller log still has what List, Calls,
// Rollback and a Resume of a run that is done need. Logs that are not a [journal.Replacer] keep their size. The error
// joins those of runs that cannot be read or removed; the others are pruned all the same.
func (r *Runs) Prune(ctx context.Context, keep Retention) (p Pruned, err error) {
	if r == nil || r.store == nil {
		return p, errNoStore
	}
	ids, err := r.store.Runs(ctx)
	for _, id := range ids {
		remove, compacted, bad := r.prune(ctx, id, keep)
		if remove && bad == nil {
			bad = r.store.Remove(ctx, id)
		}
		switch {
		case errors.Is(bad, journal.ErrInUse), errors.Is(bad, ErrNoRun):
		case bad != nil:
			err = errors.Join(err, bad)
		case remove:
			p.Removed = append(p.Removed, id)
		case compacted:
			p.Compacted = append(p.Compacted, id)
		}
	}
	return p, err
}

// prune reports whether a run is to be removed, or makes its log smaller.
func (r *Runs) prune(ctx context.Context, id string, keep Retention) (remove, compacted bool, err error) {
	owned, err := r.open(ctx, id)
	if err != nil {
		return false, false, err
	}
	defer owned.close()
	info, err := owned.info()
	if err != nil || info.Ended.IsZero() {
		return false, false, err
	}
	if unknown, err := owned.hasUnknown(); err != nil || unknown {
		return false, false, err
	}
	old := func(d time.Duration) bool { return d > 0 && time.Since(info.Ended) > d }
	log, replaces := owned.log.log.(journal.Replacer)
	switch {
	case old(keep.Runs) && replaces:
		return true, false, log.Replace(nil) // nobody can resume it before it is removed
	case old(keep.Runs):
		return true, false, nil
	case !old(keep.Replies) || !replaces || info.State == Failed || owned.log.parts["model"] == nil:
		return false, false, nil
	}
	var records [][]byte
	for record, err := range owned.log.log.Records() {
		if err != nil {
			return false, false, err
		}
		if !bytes.HasPrefix(record, []byte("model\t")) {
			records = append(records, record)
		}
	}
	return false, true, log.Replace(records)
}

// hasUnknown reports whether the outcome of a call that may have had an effect is unknown.
func (r *run) hasUnknown() (bool, error) {
	for _, key := range r.log.journals {
		entries, err := journal.Read(r.log.part(callsOf + key))
		if err != nil || slices.ContainsFunc(entries, func(e journal.Entry) bool {
			return e.Class != tools.Read && (e.State == journal.StateUnknown || e.State == dispatch.StateDispatched)
		}) {
			return true, err
		}
	}
	return false, nil
}

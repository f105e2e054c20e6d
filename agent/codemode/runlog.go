package codemode

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

// runLog is a run's log in [Options.Journal]. Besides the journal's records, it has the times at which the run's
// programs began and ended.
type runLog struct{ journal.Log }

var timePrefix = []byte("time ")

// Records implements [journal.Log]. It leaves out the times.
func (l runLog) Records() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for record, err := range l.Log.Records() {
			if !bytes.HasPrefix(record, timePrefix) && !yield(record, err) {
				return
			}
		}
	}
}

// last returns the last time in the log. The default is the zero time.
func (l runLog) last() (last time.Time, err error) {
	for record, err := range l.Log.Records() {
		if err != nil {
			return last, err
		}
		if text, ok := bytes.CutPrefix(record, timePrefix); ok {
			if last, err = time.Parse(time.RFC3339, string(text)); err != nil {
				return last, err
			}
		}
	}
	return last, nil
}

// touch records that a program of the run begins or ends.
func (r *run) touch() {
	if r.log != nil {
		_ = r.log.Append(time.Now().AppendFormat(slices.Clone(timePrefix), time.RFC3339)) // or the next call fails, too
	}
}

// acted reports whether the run's programs may have had effects.
func (r *run) acted() bool {
	return slices.ContainsFunc(r.journal.Open(), func(e journal.Entry) bool { return e.State != journal.StateRejected })
}

// owner identifies a principal in the IDs of stored runs, so that principals find only their own runs.
func owner(principal string) string {
	sum := sha256.Sum256([]byte(principal))
	return hex.EncodeToString(sum[:16])
}

// storedID matches the IDs of stored runs. The groups are the ID that clients know, and the owner.
var storedID = regexp.MustCompile(`^(r-[a-z2-7]{8})\.([0-9a-f]{32})$`)

func (l *runs) storedID(id string) string { return id + "." + l.owner }

// open returns a run with its log, if logs are stored.
func (l *runs) open(ctx context.Context, id string) (r *run, err error) {
	o := &journal.Options{Run: id}
	if l.logs == nil {
		return &run{id: id, journal: journal.New(o)}, nil
	}
	log, err := l.logs.Open(ctx, l.storedID(id))
	if err != nil {
		return nil, err
	}
	r = &run{id: id, log: &runLog{log}}
	if r.journal, err = journal.Open(r.log, o); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return r, nil
}

// load makes a stored run retryable, whose server has ended. Everything in its log counts as done by earlier programs;
// the outcome of calls that were in progress is unknown. It removes runs that cannot be retried, and returns nil.
func (l *runs) load(ctx context.Context, id string) (*run, error) {
	r, err := l.open(ctx, id)
	if err != nil {
		return nil, err
	}
	last, err := r.log.last()
	if err == nil {
		_, _, err = r.journal.Attempt().Begin([]byte(rand.Text()), nil) // differs from all programs in the log
	}
	if err != nil {
		return nil, errors.Join(err, r.log.Close())
	}
	r.journal.End()
	r.failed = true
	rest := time.Until(last.Add(l.keep))
	if rest <= 0 || !r.acted() || !l.store(r) {
		l.drop(r)
		return nil, nil
	}
	r.expiry.Reset(rest)
	return r, nil
}

// find returns a run that can be retried.
func (l *runs) find(ctx context.Context, id string) (*run, error) {
	if i := slices.IndexFunc(l.all, func(r *run) bool { return r.id == id }); i >= 0 {
		return l.all[i], nil
	}
	var stored []string
	var err error
	if l.logs != nil {
		stored, err = l.logs.Runs(ctx)
	}
	var r *run
	if err == nil && slices.Contains(stored, l.storedID(id)) {
		r, err = l.load(ctx, id)
	}
	switch {
	case r != nil:
		return r, nil
	case errors.Is(err, journal.ErrInUse):
		return nil, &problem{busy, fmt.Sprintf("retry_of: run %q belongs to another server with the same journal, so "+
			"nothing was run; retry it there, or after that server has ended", id)}
	case err != nil:
		l.log.Error("cannot read a run", "run", l.storedID(id), "err", err)
		return nil, &problem{errorServer, fmt.Sprintf("retry_of: the record of run %q cannot be read, so nothing was "+
			"run; the server's log says why. Find out what was done, and do what is missing without retry_of", id)}
	}
	return nil, &problem{notFound, fmt.Sprintf("retry_of: no run %q can be retried, so nothing was run: it has "+
		"succeeded or expired, or never existed. Find out what was done, and do what is missing without retry_of",
		cut(id, 100))}
}

// loadRuns loads the stored runs whose servers have ended.
func (s *Server) loadRuns(ctx context.Context) error {
	if s.options.Journal == nil {
		return nil
	}
	stored, err := s.options.Journal.Runs(ctx)
	for _, name := range stored {
		m := storedID.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		l := s.runsWith(m[2])
		l.mu.Lock()
		_, err := l.load(ctx, m[1])
		l.mu.Unlock()
		if err != nil && !errors.Is(err, journal.ErrInUse) {
			s.log.Error("cannot read a run; it is kept, but cannot be retried", "run", name, "err", err)
		}
	}
	return err
}

// closeRuns closes the logs of all runs, which stay in the store.
func (s *Server) closeRuns() error {
	var errs []error
	s.runs.Range(func(_, value any) bool {
		l := value.(*runs)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.closed = true
		for _, r := range l.all {
			if r.log != nil {
				errs = append(errs, r.log.Close())
			}
		}
		return true
	})
	return errors.Join(errs...)
}

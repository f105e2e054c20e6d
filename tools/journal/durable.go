package journal

import (
	"context"
	"errors"
	"fmt"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/place"
)

// Open returns a journal that records a run in a log. If the log is not empty, the run is repeated: the module and its
// programs do the same as before, and get the recorded results instead of making their calls. When they have done all
// that is recorded, the run goes on. Nil options are the defaults. The error names the record that is invalid, or of
// another version of Writ. The caller closes the log.
func Open(log Log, o *Options) (*Journal, error) {
	j := New(o)
	list, err := j.read(log)
	if err != nil {
		return nil, err
	}
	j.log = log
	if list == nil {
		j.append(&operation{Op: opRun, Format: format, Run: j.run})
		return j, j.failed
	}
	if o != nil && o.Run != "" && o.Run != list[0].Run {
		return nil, fmt.Errorf("journal: the log is that of the run %q, not of %q", list[0].Run, o.Run)
	}
	j.run, j.pending = list[0].Run, list[1:]
	if j.ahead, err = fold(list); err != nil {
		return nil, err
	}
	return j, nil
}

// Read returns the entries of a log, in order of issue, without repeating the run. The state of a call that was in
// progress when the process ended is "dispatched", and that of a call that waits for a person's decision is "intended".
func Read(log Log) ([]Entry, error) {
	j := New(nil)
	list, err := j.read(log)
	if err != nil || list == nil {
		return nil, err
	}
	if j, err = fold(list); err != nil {
		return nil, err
	}
	return j.Entries(), nil
}

// read reads a log. The first operation is the run.
func (j *Journal) read(log Log) (list []*operation, err error) {
	for record, err := range log.Records() {
		if err != nil {
			return nil, fmt.Errorf("journal: reading the log: %w", err)
		}
		j.records++
		op := &operation{number: j.records}
		if err := jsonvalue.Strictly(record, op); err != nil {
			return nil, badRecord(j.records, err)
		}
		if (op.Op == opRun) != (op.number == 1) || op.Op == opRun && op.Format != format {
			return nil, badRecord(op.number, fmt.Errorf("it is not a log of this version of Writ (format %d)", format))
		}
		list = append(list, op)
	}
	return list, nil
}

// fold returns the state of a journal after recorded operations. The first is the run.
func fold(list []*operation) (*Journal, error) {
	j := New(&Options{Run: list[0].Run})
	for _, op := range list[1:] {
		if err := j.apply(op); err != nil {
			return nil, badRecord(op.number, fmt.Errorf("%s: %w", op.Op, err))
		}
	}
	return j, nil
}

func badRecord(number int, err error) error {
	return fmt.Errorf("journal: record %d of the log: %w", number, err)
}

// commit applies a new operation and appends it to the log. While a run is repeated, the operation is applied after
// those that are pending.
func (j *Journal) commit(op *operation) error {
	if j.asked && op.active() { // so that the call in question comes next in the log
		j.fail(place.ErrPaused)
	}
	if j.log != nil {
		j.append(op)
	}
	if j.failed != nil && (op.Op == opIssue || op.Op == opDispatch) {
		return j.failed // the call is not made
	}
	target := j
	if len(j.pending) > 0 {
		j.pending, target = append(j.pending, op), j.ahead
	} else {
		j.ahead = nil
	}
	if err := target.apply(op); err != nil {
		return errors.Join(err, j.failed)
	}
	return j.failed
}

// newOperation returns a copy of an operation. Without a log, operations are not kept, and all use the same memory.
func (j *Journal) newOperation(op operation) *operation {
	if j.log == nil {
		j.scratch = op
		return &j.scratch
	}
	kept := op
	return &kept
}

func (j *Journal) append(op *operation) {
	if j.failed != nil {
		return
	}
	record, err := jsonvalue.Marshal(op)
	if err == nil {
		j.records++
		err = j.log.Append(record)
	}
	if err != nil {
		j.fail(fmt.Errorf("journal: writing the log: %w", err))
	}
}

// Sync makes all that is recorded durable. Call it before the run does anything visible, such as a model request or its
// return. The error is [tools.Fatal]: the log cannot be written, or the repeated run differs from it (see
// [DivergedError]). Without a log, Sync does nothing.
func (j *Journal) Sync(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return j.sync()
}

func (j *Journal) sync() error {
	j.mu.Lock()
	log, err, records := j.log, j.failed, j.records
	synced := records == j.synced
	j.mu.Unlock()
	if log == nil || err != nil || synced {
		return err
	}
	if err = log.Sync(); err != nil {
		err = fmt.Errorf("journal: syncing the log: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.fail(err)
	}
	j.synced = max(j.synced, records)
	return j.failed
}

// Resolve records what a person, or the host, has found out about a call whose outcome is unknown, or that was in
// progress when the process ended. The state is [StateOK] or [StateRejected]. Call it before the run is repeated, or
// between two programs.
func (j *Journal) Resolve(id string, r Reconciled) error {
	j.mu.Lock()
	err := j.resolve(id, r)
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.sync()
}

func (j *Journal) resolve(id string, r Reconciled) error {
	last := j
	if j.ahead != nil {
		last = j.ahead
	}
	e := last.find(id)
	switch {
	case e == nil:
		return fmt.Errorf("journal: the run has no entry %q", id)
	case e.State != StateUnknown && (last == j || e.State != dispatch.StateDispatched):
		return fmt.Errorf("journal: %s is %s; only a call whose outcome is unknown can be resolved", id, e.State)
	case r.State != StateOK && r.State != StateRejected:
		return fmt.Errorf("journal: resolving %s: the state must be %s or %s, not %q",
			id, StateOK, StateRejected, r.State)
	}
	return j.commit(&operation{Op: opResolve, ID: id, State: r.State, Result: compact(r.Result)})
}

package journal

import (
	"context"
	"errors"
	"iter"
)

// Log stores the records of one run. Records are opaque: a Log neither reads nor changes them. After an error of Append
// or Sync, a Log writes nothing more and returns the same error. A Log is safe for concurrent use.
type Log interface {
	// Records returns the records that the log had when it was opened, in the order in which they were appended.
	Records() iter.Seq2[[]byte, error]

	// Append adds a record. It may be lost until Sync has returned.
	Append(record []byte) error

	// Sync makes all records durable that were appended before.
	Sync() error

	// Close ends the ownership of the run.
	Close() error
}

// Store keeps the logs of runs. It is safe for concurrent use.
type Store interface {
	// Open opens the log of a run, and creates it if the run is new. Only one process may own a run at a time: the error
	// wraps [ErrInUse] if another one does.
	Open(ctx context.Context, run string) (Log, error)

	// Runs returns the IDs of the runs, the oldest first.
	Runs(ctx context.Context) ([]string, error)

	// Remove removes a run that nobody owns.
	Remove(ctx context.Context, run string) error
}

// ErrInUse is returned for a run that another process, or another part of this one, owns.
var ErrInUse = errors.New("journal: the run is in use; wait until its owner has ended")

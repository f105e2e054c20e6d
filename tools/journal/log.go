package journal

import (
	"context"
	"errors"
	"iter"
)

// Log stores the records of one run. Records are opaque: a Log neither reads nor changes them. After an error of Append
// or Sync, a Log writes nothing more and returns the same error. A Log is safe for concurrent use.
type Log interface {
	// Records returns the records that the log had when it was opened, in the order in which they were appended. An
	// error ends the sequence. The caller must not change the records.
	Records() iter.Seq2[[]byte, error]

	// Append adds a record of at most 64 MiB without line breaks, and does not retain it. The record may be lost until
	// Sync has returned. If a record is lost, all later ones are lost, too.
	Append(record []byte) error

	// Sync makes all records durable that were appended before.
	Sync() error

	// Close ends the ownership of the run. It does not make records durable.
	Close() error
}

// Replacer is implemented by logs whose records can be replaced, to make the log of a run that has ended smaller.
type Replacer interface {
	// Replace replaces all records of the log by others, durably. After a crash, the log has either the old or the new
	// records. After Replace, even if it has failed, the log can only be closed.
	Replace(records [][]byte) error
}

// Store keeps the logs of runs. It is safe for concurrent use.
//
// The ID of a run has at most 128 letters, digits, periods, hyphens and underscores, and begins with a letter or digit.
type Store interface {
	// Open opens the log of a run, and creates it if the run is new. A run has one owner at a time, until the owner
	// closes the log or its process ends. If the run has an owner, the error wraps [ErrInUse].
	Open(ctx context.Context, run string) (Log, error)

	// Runs returns the IDs of the runs, the oldest first.
	Runs(ctx context.Context) ([]string, error)

	// Remove removes a run, if it exists. The error wraps [ErrInUse] if the run has an owner.
	Remove(ctx context.Context, run string) error
}

// ErrInUse is returned for a run that another process, or another part of this one, owns.
var ErrInUse = errors.New("the run is in use; wait until its owner has ended")

var (
	errClosed   = errors.New("journal: the log is closed")
	errReplaced = errors.New("journal: the records of the log were replaced; close it and open it again")
)

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/filelock"
)

// A folder is locked by locking its file "lock", which the system unlocks if the process that
// holds the lock dies. In each process, only one goroutine at a time waits for this lock, and it must
// first lock the file "next". Therefore, a process that releases the lock cannot take it again before
// a process that already waits for it, although that process polls.
const (
	lockFile = "lock"
	nextFile = "next"
)

var errBusy = errors.New("workspace: locked")

// lock locks a folder, whose path is relative to the common folder of all owners. It waits until ctx is done. The error
// is [os.ErrNotExist] if the folder does not exist.
func (s *Store) lock(ctx context.Context, folder string) (unlock func(), err error) {
	if ctx.Err() != nil { // so that the result does not depend on timing
		return nil, waited(ctx)
	}
	leave, err := s.turns.enter(ctx, folder)
	if err != nil {
		return nil, err
	}
	next, err := s.await(ctx, folder+"/"+nextFile)
	if err != nil {
		leave()
		return nil, err
	}
	file, err := s.await(ctx, folder+"/"+lockFile)
	_ = filelock.Close(next)
	if err != nil {
		leave()
		return nil, err
	}
	return func() {
		_ = filelock.Close(file)
		leave()
	}, nil
}

// tryLock is like lock, but returns errBusy instead of waiting.
func (s *Store) tryLock(folder string) (unlock func(), err error) {
	file, err := s.attempt(folder + "/" + lockFile)
	if err != nil {
		return nil, err
	}
	return func() { _ = filelock.Close(file) }, nil
}

// waited returns the error for a canceled wait.
func waited(ctx context.Context) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("workspace: gave up waiting for a lock: %w", err)
}

// lockable returns an error if the file system does not support locks.
func lockable(root *os.Root, name string) error {
	file, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := filelock.TryLock(file); err != nil {
		return fmt.Errorf("its file system does not support locks; choose a folder on a different file system: %w", err)
	}
	return nil
}

// await opens a file and waits until it has locked it.
func (s *Store) await(ctx context.Context, name string) (*os.File, error) {
	const longest = 16 * time.Millisecond
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		file, err := s.attempt(name)
		if !errors.Is(err, errBusy) {
			return file, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, waited(ctx)
		}
	}
}

// attempt opens a file and locks it, or returns errBusy.
func (s *Store) attempt(name string) (*os.File, error) {
	file, err := s.owners.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, broken("a lock of the storage folder", err)
	}
	ok, err := filelock.TryLock(file)
	switch {
	case err != nil:
		err = broken("a lock of the storage folder", err)
	case !ok:
		err = errBusy
	default:
		err = s.current(name, file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// current returns errBusy if name now refers to a different file.
func (s *Store) current(name string, file *os.File) error {
	have, err := file.Stat()
	if err != nil {
		return err
	}
	now, err := s.owners.Lstat(name)
	switch {
	case err != nil:
		return broken("a lock of the storage folder", err)
	case !os.SameFile(have, now):
		return errBusy // it was replaced
	}
	return nil
}

// turns is a set of named locks within a process. Goroutines get a lock in the order in which they called enter.
type turns struct {
	mu    sync.Mutex
	queue map[string]*turn
}

type turn struct {
	held  chan struct{}
	users int // goroutines that hold the lock or wait for it
}

// enter takes a lock, which leave releases.
func (t *turns) enter(ctx context.Context, name string) (leave func(), err error) {
	t.mu.Lock()
	if t.queue == nil {
		t.queue = map[string]*turn{}
	}
	mine := t.queue[name]
	if mine == nil {
		mine = &turn{held: make(chan struct{}, 1)}
		t.queue[name] = mine
	}
	mine.users++
	t.mu.Unlock()
	select {
	case mine.held <- struct{}{}:
		return func() { <-mine.held; t.done(name, mine) }, nil
	case <-ctx.Done():
		t.done(name, mine)
		return nil, waited(ctx)
	}
}

func (t *turns) done(name string, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.users--; mine.users == 0 {
		delete(t.queue, name)
	}
}

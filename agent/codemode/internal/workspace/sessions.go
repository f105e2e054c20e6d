package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/writ-go/writ/internal/atomicfile"
	"github.com/writ-go/writ/sandbox"
)

const recordFile = "record"

// ErrNotStored is returned together with the outcome of a program if the session could
// not be stored. The session then continues as if the program had not run.
var ErrNotStored = errors.New("workspace: the program ran, but the session could not be stored and is unchanged")

// NewSession creates an empty session for [Space.RunSession]. It returns [ErrLimit] if the owner has too many.
func (s *Space) NewSession(ctx context.Context) (handle string, err error) {
	err = s.change(ctx, sessions, func(folder *os.Root) (err error) {
		var have amount
		err = s.folders(ctx, sessions, func(handle string, used time.Time) { have.add(handle, used, 0) })
		if err != nil {
			return err
		}
		if limit := s.store.limits.sessions; have.count >= limit {
			return fmt.Errorf("%w: you have %d sessions and the limit is %d; nothing was created. Remove one that is "+
				"no longer needed; %s has been unused the longest", ErrLimit, have.count, limit, have.oldest)
		}
		handle, err = createFolder(folder, "session")
		return err
	})
	return handle, err
}

// RemoveSession waits for a program in progress and removes a session. It returns
// [ErrNotFound] if the session does not exist.
func (s *Space) RemoveSession(ctx context.Context, handle string) error {
	s.store.warm.drop(s.path(sessions, handle))
	return s.remove(ctx, sessions, handle)
}

// RunSession runs a session's next program, like [sandbox.Session.Run]. A session's programs may run in different
// processes, one after the other. Before RunSession returns, it stores a record with which the program can be replayed
// after a crash. If the process dies earlier, the session is unchanged, except for the effects of its tool calls.
//
// In addition to the errors that [sandbox.Session.Run] returns, it returns [ErrNotFound], [ErrLimit] if the record has
// become too large, and [ErrNotStored] together with the outcome. It returns [sandbox.ErrSessionLost] if the sandbox
// has a different version, isolation or rules than the sandbox of the previous program.
func (s *Space) RunSession(ctx context.Context, handle string, box *sandbox.Sandbox,
	p sandbox.Program) (*sandbox.Outcome, error) {
	release, err := s.lockEntry(ctx, sessions, handle)
	if err != nil {
		return nil, err
	}
	defer release()
	root, err := s.inside(sessions, handle)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	record, err := openRecord(root)
	if err != nil {
		return nil, broken("the session's record", err)
	}
	defer record.close()
	if limit := s.store.limits.sessionBytes; record.size > limit {
		return nil,
			fmt.Errorf("%w: the session's record has %d bytes and the limit is %d; nothing was run. Start a new "+
				"session", ErrLimit, record.size, limit)
	}
	session, err := s.restored(handle, box, record)
	if err != nil {
		return nil, err
	}
	return s.store.runStored(ctx, s.path(sessions, handle), session, record, p)
}

// restored returns the session for a record, from memory if the session there is current.
func (s *Space) restored(handle string, box *sandbox.Sandbox, r *record) (warmed, error) {
	end, err := r.end()
	if err != nil {
		return warmed{}, broken("the session's record", err)
	}
	if w, ok := s.store.warm.take(s.path(sessions, handle)); ok && w.box == box && w.size == r.size && w.end == end {
		return w, nil
	}
	text, err := r.all()
	if err != nil {
		return warmed{}, broken("the session's record", err)
	}
	if bytes.IndexByte(text, '\n') < 0 { // there is no complete line, so no program was recorded
		return warmed{box: box, session: box.NewSession(nil)}, nil
	}
	session, whole, err := box.RestoreSession(text)
	if err != nil {
		return warmed{}, fmt.Errorf("workspace: %w", err)
	}
	return warmed{box: box, session: session, size: int64(whole), end: tail(text[:whole])}, nil
}

// runStored runs a program and appends it to the record.
func (s *Store) runStored(ctx context.Context, name string, w warmed, r *record,
	p sandbox.Program) (*sandbox.Outcome, error) {
	before := w.session.Len()
	out, err := w.session.Run(ctx, p)
	if w.session.Len() == before { // the program is not part of the session
		if !errors.Is(err, sandbox.ErrSessionLost) {
			s.warm.put(name, w)
		}
		return out, err
	}
	text, failed := w.session.AppendRecord(nil, before)
	if failed == nil {
		failed = r.add(w.size, text)
	}
	if failed != nil {
		return out, fmt.Errorf("%w: %w", ErrNotStored, broken("the session's record", failed))
	}
	w.size, w.end = w.size+int64(len(text)), tail(text)
	s.warm.put(name, w)
	return out, err
}

// record is a session's record on disk.
type record struct {
	file *os.File
	size int64
}

func openRecord(root *os.Root) (*record, error) {
	seen, err := root.Lstat(recordFile)
	if err == nil && !seen.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	file, err := root.OpenFile(recordFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && seen == nil {
		err = atomicfile.SyncFolder(root.Open("."))
	}
	if lock, bad := root.Lstat(lockFile); bad == nil {
		use(root, lockFile, lock)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &record{file: file, size: info.Size()}, nil
}

func (r *record) close() { r.file.Close() }

// lineEnd is the number of bytes at the end of a record that identify it.
const lineEnd = 64 + 1

type ending [lineEnd]byte

// tail returns the end of a record.
func tail(text []byte) (end ending) {
	copy(end[:], text[max(0, len(text)-lineEnd):])
	return end
}

func (r *record) end() (ending, error) {
	text := make([]byte, min(r.size, lineEnd))
	_, err := r.file.ReadAt(text, r.size-int64(len(text)))
	if err == io.EOF {
		err = nil
	}
	return tail(text), err
}

func (r *record) all() ([]byte, error) {
	text := make([]byte, r.size)
	_, err := r.file.ReadAt(text, 0)
	if err == io.EOF {
		err = nil
	}
	return text, err
}

// add writes lines at the offset at which the complete lines end. If it fails, the complete lines remain.
func (r *record) add(at int64, lines []byte) error {
	var err error
	if r.size > at {
		err = r.file.Truncate(at)
	}
	if err == nil {
		_, err = r.file.WriteAt(lines, at)
	}
	if err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		_ = r.file.Truncate(at)
	}
	return err
}

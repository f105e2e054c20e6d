package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/writ-go/writ/sandbox"
)

// SessionInfo is a session as it is stored.
type SessionInfo struct {
	Handle string
	Size   int64     // bytes of its record
	Used   time.Time // when it last ran a program, to the hour
}

const recordFile = "record"

// ErrNotStored is returned together with the outcome of a program that ran but whose
// session could not be stored: it goes on as if the program had not been.
var ErrNotStored = errors.New("workspace: the program ran, and its outcome is here, but the session could not " +
	"be stored and is as it was before")

// NewSession makes an empty session, in which [Space.RunSession] runs programs. The
// error is [ErrLimit] where the owner has too many.
func (s *Space) NewSession(ctx context.Context) (handle string, err error) {
	err = s.change(ctx, sessions, func(folder *os.Root) (err error) {
		var have amount
		if err := s.folders(ctx, sessions, func(handle string, used time.Time) { have.add(handle, used, 0) }); err != nil {
			return err
		}
		if most := s.store.limits.Sessions; have.count >= most {
			return fmt.Errorf("%w: you have %d sessions, and may have %d; nothing was made. Remove one that is no longer "+
				"needed; %s was unused for longest", ErrLimit, have.count, most, have.oldest)
		}
		handle, err = establish(folder, "session")
		return err
	})
	return handle, err
}

// Sessions returns the owner's sessions.
func (s *Space) Sessions(ctx context.Context) ([]SessionInfo, error) {
	var found []SessionInfo
	err := s.folders(ctx, sessions, func(handle string, used time.Time) {
		found = append(found, SessionInfo{Handle: handle, Used: used, Size: s.recorded(handle)})
	})
	slices.SortFunc(found, func(a, b SessionInfo) int { return strings.Compare(a.Handle, b.Handle) })
	return found, err
}

func (s *Space) recorded(handle string) int64 {
	info, err := s.store.owners.Lstat(s.path(sessions, handle) + "/" + recordFile)
	if err != nil {
		return 0
	}
	return info.Size()
}

// RemoveSession removes a session, when it runs no program. The error is
// [ErrNotFound] where there is none.
func (s *Space) RemoveSession(ctx context.Context, handle string) error {
	s.store.warm.drop(s.path(sessions, handle))
	return s.remove(ctx, sessions, handle)
}

// RunSession runs the next program of a session, as [sandbox.Session.Run] does, in a
// sandbox of any process that has the folder open: one program after the other, in
// whichever. What the program needs to be made again is stored, and outlives a
// crash, before its outcome is given. A process that dies in the middle leaves the
// session as it was, but for what tools did.
//
// Besides the errors of [sandbox.Session.Run] there are [ErrNotFound], [ErrLimit]
// where the record has become too large, and [ErrNotStored] together with the outcome.
// It is [sandbox.ErrSessionLost] where the sandbox is another version, or the other
// tier, or has other rules than the one before.
func (s *Space) RunSession(ctx context.Context, handle string, box *sandbox.Sandbox,
	p sandbox.Program) (*sandbox.Outcome, error) {
	release, err := s.hold(ctx, sessions, handle)
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
	if most := s.store.limits.SessionBytes; record.size > most {
		return nil, fmt.Errorf("%w: the session has recorded %d bytes, and may record %d; nothing was run. Start another",
			ErrLimit, record.size, most)
	}
	session, err := s.restored(handle, box, record)
	if err != nil {
		return nil, err
	}
	return s.store.runStored(ctx, s.path(sessions, handle), session, record, p)
}

// restored is the session of a record: the one that this process has, if it is that.
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
	if bytes.IndexByte(text, '\n') < 0 { // the first program never ended
		return warmed{box: box, session: box.NewSession(nil)}, nil
	}
	session, whole, err := box.RestoreSession(text)
	if err != nil {
		return warmed{}, fmt.Errorf("workspace: %w", err)
	}
	return warmed{box: box, session: session, size: int64(whole), end: tail(text[:whole])}, nil
}

// runStored runs a program and stores what there is of it then.
func (s *Store) runStored(ctx context.Context, name string, w warmed, r *record, p sandbox.Program) (*sandbox.Outcome,
	error) {
	before := w.session.Len()
	out, err := w.session.Run(ctx, p)
	if w.session.Len() == before { // it failed, and left no trace
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

// record is a session's record on the disk.
type record struct {
	file *os.File
	size int64
}

func openRecord(root *os.Root) (*record, error) {
	seen, err := root.Lstat(recordFile)
	if err == nil && !seen.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	file, err := root.OpenFile(recordFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && seen == nil {
		err = persist(root)
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

// lineEnd is how long the end of a record is that tells it from all others.
const lineEnd = 64 + 1

type ending [lineEnd]byte

// tail is the end of a record.
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

// add writes lines where the whole ones end. If it can't, it leaves those.
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

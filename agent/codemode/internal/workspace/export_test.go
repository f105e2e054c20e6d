package workspace

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"
	"time"
)

// SessionInfo describes a stored session.
type SessionInfo struct {
	Handle string
	Size   int64     // bytes of its record
	Used   time.Time // when it last ran a program, to the hour
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

// Files returns the owner's code files, sorted by handle.
func (s *Space) Files(context.Context) ([]File, error) {
	var found []File
	folder, err := s.openKind(files)
	if err != nil {
		return nil, nil
	}
	defer folder.Close()
	err = entries(folder, func(handle string, info os.FileInfo) {
		if info.Mode().IsRegular() {
			found = append(found, fileOf(handle, info))
		}
	})
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Handle, b.Handle) })
	return found, err
}

// Limits are the limits of a test. Zero fields mean the usual limits.
type Limits struct {
	FileBytes    int64
	Files        int
	Bytes        int64
	Environments int
	Sessions     int
	SessionBytes int64
	Unused       time.Duration
}

// Limited is like Open.
func Limited(dir string, l Limits) (*Store, error) {
	s, err := Open(dir)
	if err == nil {
		d := defaults
		s.limits = limits{cmp.Or(l.FileBytes, d.fileBytes), cmp.Or(l.Files, d.files), cmp.Or(l.Bytes, d.bytes),
			cmp.Or(l.Environments, d.environments), cmp.Or(l.Sessions, d.sessions),
			cmp.Or(l.SessionBytes, d.sessionBytes), cmp.Or(l.Unused, d.unused)}
	}
	return s, err
}

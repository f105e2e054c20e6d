package workspace

import (
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
func (s *Space) Files(ctx context.Context) ([]File, error) {
	var found []File
	err := s.each(ctx, files, func(handle string, info os.FileInfo) {
		if info.Mode().IsRegular() {
			found = append(found, fileOf(handle, info))
		}
	})
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Handle, b.Handle) })
	return found, err
}

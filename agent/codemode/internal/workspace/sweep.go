package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Sweep removes code files, environments and sessions that have not been used for 30 days, and
// what crashed processes have left. Reading, running and looking up count as uses;
// listing does not. Sweep does not remove locked entries. It returns the number of entries
// that it removed. Call it about once a day. Several processes may call it at the same time.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	owners, err := list(s.owners)
	if err != nil {
		return 0, broken("the storage folder", err)
	}
	var errs []error
	for _, owner := range owners {
		if ctx.Err() != nil {
			errs = append(errs, fmt.Errorf("workspace: the sweep was not completed: %w", ctx.Err()))
			return removed, errors.Join(errs...)
		}
		n, err := s.sweepOwner(ctx, owner)
		removed += n
		if err != nil && !errors.Is(err, os.ErrNotExist) { // another process may have removed it
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

func (s *Store) sweepOwner(ctx context.Context, owner string) (removed int, err error) {
	if strings.HasPrefix(owner, leftover) {
		return 0, s.owners.RemoveAll(owner)
	}
	unlock, err := s.lock(ctx, owner)
	if err != nil {
		return 0, err
	}
	defer unlock()
	left := 0
	for _, kind := range []string{files, environments, sessions} {
		gone, stays, err := s.sweepKind(owner, kind)
		removed, left = removed+gone, left+stays
		if err != nil {
			return removed, err
		}
	}
	if left == 0 {
		err = discard(s.owners, owner)
	}
	return removed, err
}

func (s *Store) sweepKind(owner, kind string) (gone, left int, err error) {
	space := &Space{store: s, dir: owner}
	folder, err := space.openKind(kind)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, broken("the storage folder", err)
	}
	defer folder.Close()
	if err := clean(folder); err != nil {
		return 0, 0, broken("the storage folder", err)
	}
	var errs []error
	err = entries(folder, func(handle string, info os.FileInfo) {
		switch err := s.expire(folder, space.path(kind, handle), handle, info); {
		case err == nil:
			gone++
		default:
			left++
			if !errors.Is(err, errBusy) {
				errs = append(errs, broken("an entry was not removed", err))
			}
		}
	})
	return gone, left, errors.Join(append(errs, err)...)
}

// expire removes an entry that has been unused for too long. It returns errBusy if the entry was
// used recently or is in use.
func (s *Store) expire(folder *os.Root, path, handle string, info os.FileInfo) error {
	if !info.IsDir() {
		if s.young(info) {
			return errBusy
		}
		return folder.Remove(handle)
	}
	lock, err := folder.Lstat(handle + "/" + lockFile)
	if err == nil && s.young(lock) {
		return errBusy
	}
	unlock, err := s.tryLock(path)
	if err != nil {
		return err
	}
	defer unlock()
	s.warm.drop(path)
	return discard(folder, handle)
}

func (s *Store) young(info os.FileInfo) bool { return time.Since(info.ModTime()) <= s.limits.unused }

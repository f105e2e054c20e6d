package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Environment is a named folder whose content another package manages, such as
// [github.com/writ-go/writ/agent/codemode/internal/packages].
type Environment struct {
	Handle string
	Name   string
	Dir    string // an absolute path; the folder exists and is empty at first

	space *Space
}

const packages = "packages"

// NewEnvironment creates an environment. It returns [ErrName], [ErrLimit], or [ErrExists]
// if the owner already has an environment with that name.
func (s *Space) NewEnvironment(ctx context.Context, name string) (Environment, error) {
	if err := validName(name); err != nil {
		return Environment{}, err
	}
	var made Environment
	err := s.change(ctx, environments, func(folder *os.Root) error {
		if err := s.vacant(folder, name); err != nil {
			return err
		}
		handle, err := createFolder(folder, name, packages)
		if err == nil {
			made = s.environment(handle)
		}
		return err
	})
	return made, err
}

// vacant returns an error if the owner may not create an environment with that name.
func (s *Space) vacant(folder *os.Root, name string) error {
	count, limit, taken := 0, s.store.limits.environments, false
	err := entries(folder, func(handle string, _ os.FileInfo) {
		other, _ := nameOf(handle)
		count++
		taken = taken || other == name || handle == name
	})
	switch {
	case err != nil:
		return err
	case taken:
		return fmt.Errorf("%w: you already have an environment %q; use it or choose a different name", ErrExists, name)
	case count >= limit:
		return fmt.Errorf("%w: you have %d environments and the limit is %d; nothing was created. Remove one that is "+
			"no longer needed", ErrLimit, count, limit)
	}
	return nil
}

func (s *Space) environment(handle string) Environment {
	name, _ := nameOf(handle)
	dir := filepath.Join(s.store.path, "owners", s.dir, environments, handle, packages)
	return Environment{Handle: handle, Name: name, Dir: dir, space: s}
}

// Environment returns an environment by its handle or name, or [ErrNotFound]. The call counts
// as a use of the environment; see [Store.Sweep].
func (s *Space) Environment(ctx context.Context, handleOrName string) (Environment, error) {
	e, err := s.find(ctx, handleOrName)
	if err == nil {
		err = e.use()
	}
	if err != nil {
		return Environment{}, err
	}
	return e, nil
}

func (s *Space) find(ctx context.Context, handleOrName string) (Environment, error) {
	list, err := s.Environments(ctx)
	if err != nil {
		return Environment{}, err
	}
	i := slices.IndexFunc(list, func(e Environment) bool { return e.Handle == handleOrName })
	if i < 0 {
		i = slices.IndexFunc(list, func(e Environment) bool { return e.Name == handleOrName })
	}
	if i < 0 {
		return Environment{}, notFound(words[environments], handleOrName)
	}
	return list[i], nil
}

// use records a use of the environment.
func (e *Environment) use() error {
	root, err := e.space.inside(environments, e.Handle)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(packages); err != nil || !info.IsDir() {
		return fmt.Errorf("workspace: the environment %s has no folder for packages; remove the environment", e.Handle)
	}
	if info, err := root.Lstat(lockFile); err == nil {
		use(root, lockFile, info)
	}
	return nil
}

// Environments returns the owner's environments, sorted by handle.
func (s *Space) Environments(ctx context.Context) ([]Environment, error) {
	var found []Environment
	err := s.folders(ctx, environments, func(handle string, _ time.Time) {
		found = append(found, s.environment(handle))
	})
	slices.SortFunc(found, func(a, b Environment) int { return strings.Compare(a.Handle, b.Handle) })
	return found, err
}

// folders visits the owner's environments or sessions.
func (s *Space) folders(ctx context.Context, kind string, visit func(handle string, used time.Time)) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("workspace: listing %s: %w", kind, err)
	}
	folder, err := s.openKind(kind)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return broken("the storage folder", err)
	}
	defer folder.Close()
	return entries(folder, func(handle string, info os.FileInfo) {
		if lock, err := folder.Lstat(handle + "/" + lockFile); info.IsDir() && err == nil {
			visit(handle, lock.ModTime())
		}
	})
}

// RemoveEnvironment removes an environment, by its handle or name. It waits for the
// environment's lock. It returns [ErrNotFound] if the environment does not exist.
func (s *Space) RemoveEnvironment(ctx context.Context, handleOrName string) error {
	e, err := s.find(ctx, handleOrName)
	if err != nil {
		return err
	}
	return s.remove(ctx, environments, e.Handle)
}

// Lock locks the environment, for all goroutines and processes, so that the caller can change its folder's content and
// nobody removes the environment in the meantime. The system releases the lock if the process dies. Lock returns
// [ErrNotFound] if the environment has been removed.
func (e Environment) Lock(ctx context.Context) (unlock func(), err error) {
	return e.space.lockEntry(ctx, environments, e.Handle)
}

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

// Environment is a named folder, such as one of npm packages: who has it and what it is
// called are kept here, what its folder holds is an affair of others, such as
// [github.com/writ-go/writ/sandbox/npm], whose Environment is opened by npm.New(e.Dir, …).
type Environment struct {
	Handle string
	Name   string
	Dir    string    // absolute; there, empty at first, and for the caller to fill
	Used   time.Time // when it was last looked up, to the hour

	space *Space
}

const packages = "packages"

// NewEnvironment makes an environment. No two of an owner have the same name:
// [ErrExists]. The other errors are [ErrName] and [ErrLimit], as for files.
func (s *Space) NewEnvironment(ctx context.Context, name string) (Environment, error) {
	if err := validName(name); err != nil {
		return Environment{}, err
	}
	var made Environment
	err := s.change(ctx, environments, func(folder *os.Root) error {
		if err := s.vacant(folder, name); err != nil {
			return err
		}
		handle, err := establish(folder, name, packages)
		if err == nil {
			made = s.environment(handle, time.Now())
		}
		return err
	})
	return made, err
}

// vacant reports whether there may be an environment more, of that name.
func (s *Space) vacant(folder *os.Root, name string) error {
	count, most, taken := 0, s.store.limits.Environments, false
	err := entries(folder, func(handle string, _ os.FileInfo) {
		other, _ := nameOf(handle)
		count++
		taken = taken || other == name || handle == name
	})
	switch {
	case err != nil:
		return err
	case taken:
		return fmt.Errorf("%w: you have an environment %q; use it, or choose another name", ErrExists, name)
	case count >= most:
		return fmt.Errorf("%w: you have %d environments, and may have %d; nothing was made. Remove one that is no "+
			"longer needed", ErrLimit, count, most)
	}
	return nil
}

func (s *Space) environment(handle string, used time.Time) Environment {
	name, _ := nameOf(handle)
	dir := filepath.Join(s.store.path, "owners", s.dir, environments, handle, packages)
	return Environment{Handle: handle, Name: name, Dir: dir, Used: used, space: s}
}

// Environment finds an environment of the owner by its handle or by its name, which
// counts as using it. The error is [ErrNotFound] where there is none.
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

// use notes that the environment is used.
func (e *Environment) use() error {
	root, err := e.space.inside(environments, e.Handle)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(packages); err != nil || !info.IsDir() {
		return fmt.Errorf("workspace: the folder of the environment %s is gone, or no folder; remove the environment",
			e.Handle)
	}
	if info, err := root.Lstat(lockFile); err == nil {
		use(root, lockFile, info)
	}
	return nil
}

// Environments returns the owner's environments, by their names.
func (s *Space) Environments(ctx context.Context) ([]Environment, error) {
	var found []Environment
	err := s.folders(ctx, environments, func(handle string, used time.Time) {
		found = append(found, s.environment(handle, used))
	})
	slices.SortFunc(found, func(a, b Environment) int { return strings.Compare(a.Handle, b.Handle) })
	return found, err
}

// folders visits the owner's environments or sessions.
func (s *Space) folders(ctx context.Context, kind string, visit func(handle string, used time.Time)) error {
	folder, err := s.look(kind)
	if errors.Is(err, os.ErrNotExist) {
		return ctx.Err()
	}
	if err != nil {
		return broken("the storage folder", err)
	}
	defer folder.Close()
	return s.each(ctx, kind, func(handle string, info os.FileInfo) {
		if lock, err := folder.Lstat(handle + "/" + lockFile); info.IsDir() && err == nil {
			visit(handle, lock.ModTime())
		}
	})
}

// RemoveEnvironment removes an environment with its folder, by its handle or name,
// when nobody holds its lock. The error is [ErrNotFound] where there is none.
func (s *Space) RemoveEnvironment(ctx context.Context, handleOrName string) error {
	e, err := s.find(ctx, handleOrName)
	if err != nil {
		return err
	}
	return s.remove(ctx, environments, e.Handle)
}

var errNoEnvironment = errors.New("workspace: this environment is empty; get one by Space.Environment")

// Lock waits until nobody else holds the environment's lock, in any process, and
// takes it: for changing what is in its folder. The system takes it back from a
// process that dies. The error is [ErrNotFound] where the environment has been
// removed.
//
// Changes by package npm take turns of themselves, so that they need this lock only to
// keep the environment from being removed meanwhile.
func (e Environment) Lock(ctx context.Context) (unlock func(), err error) {
	if e.space == nil {
		return nil, errNoEnvironment
	}
	return e.space.hold(ctx, environments, e.Handle)
}

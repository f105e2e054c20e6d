package workspace

import (
	"context"
	"errors"
	"os"

	"github.com/writ-go/writ/internal/atomicfile"
)

// entries visits those entries of a folder that have handles as names.
func entries(folder *os.Root, visit func(handle string, info os.FileInfo)) error {
	names, err := list(folder)
	if err != nil {
		return broken("the storage folder", err)
	}
	for _, name := range names {
		if _, ok := nameOf(name); !ok {
			continue
		}
		info, err := folder.Lstat(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return broken("the storage folder", err)
		}
		visit(name, info)
	}
	return nil
}

// words maps each kind to its name in messages.
var words = map[string]string{files: "file", environments: "environment", sessions: "session"}

// present returns an error if the owner does not have the handle. It creates nothing and locks nothing.
func (s *Space) present(kind, handle string) error {
	folder, err := s.openKind(kind)
	if err == nil {
		_, err = folder.Lstat(entry(handle))
		folder.Close()
	}
	if err != nil {
		return missing(words[kind], handle, err)
	}
	return nil
}

// path returns an entry's path, relative to the common folder of all owners.
func (s *Space) path(kind, handle string) string {
	return s.dir + "/" + kind + "/" + entry(handle)
}

// lockEntry locks an environment or session.
func (s *Space) lockEntry(ctx context.Context, kind, handle string) (release func(), err error) {
	if err := s.present(kind, handle); err != nil {
		return nil, err
	}
	release, err = s.store.lock(ctx, s.path(kind, handle))
	if errors.Is(err, os.ErrNotExist) {
		err = notFound(words[kind], handle)
	}
	return release, err
}

// inside opens the folder of an environment or session.
func (s *Space) inside(kind, handle string) (*os.Root, error) {
	folder, err := s.openKind(kind)
	if err != nil {
		return nil, missing(words[kind], handle, err)
	}
	defer folder.Close()
	root, err := within(folder, entry(handle))
	if err != nil {
		return nil, missing(words[kind], handle, err)
	}
	return root, nil
}

// createFolder atomically creates the folder of an environment or session with its initial content.
func createFolder(folder *os.Root, name string, subfolders ...string) (handle string, err error) {
	temp := temporary()
	if err := folder.Mkdir(temp, 0o700); err != nil {
		return "", broken("the storage folder", err)
	}
	handle = unused(folder, name)
	err = populate(folder, temp, subfolders)
	if err == nil {
		err = folder.Rename(temp, handle)
	}
	if err == nil {
		err = atomicfile.SyncFolder(folder.Open("."))
	}
	if err != nil {
		return "", broken("nothing was created", errors.Join(err, folder.RemoveAll(temp)))
	}
	return handle, nil
}

func populate(folder *os.Root, name string, subfolders []string) error {
	root, err := folder.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, sub := range subfolders {
		if err := root.Mkdir(sub, 0o700); err != nil {
			return err
		}
	}
	lock, err := root.OpenFile(lockFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(lock.Close(), atomicfile.SyncFolder(root.Open(".")))
}

// remove waits until an environment or session is no longer in use, and removes it.
func (s *Space) remove(ctx context.Context, kind, handle string) error {
	release, err := s.lockEntry(ctx, kind, handle)
	if err != nil {
		return err
	}
	defer release()
	return s.change(ctx, kind, func(folder *os.Root) error {
		if err := discard(folder, entry(handle)); err != nil {
			return missing(words[kind], handle, err)
		}
		return nil
	})
}

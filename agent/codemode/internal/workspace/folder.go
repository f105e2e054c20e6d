package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/writ-go/writ/internal/atomicfile"
)

// Every operation works in an os.Root of the folder that contains the entry, and does not
// follow symbolic links, so that nothing in the storage folder can refer to a place outside it.

// leftover is the name prefix of files and folders that are being created or removed. Only the holder of the folder's
// lock creates them, so if it finds such a file or folder, a process that crashed has left it.
const leftover = ".tmp-"

func temporary() string { return leftover + rand.Text() }

// within opens a subfolder.
func within(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", name)
	}
	return root.OpenRoot(name)
}

// ensure creates a subfolder if it does not exist.
func ensure(root *os.Root, name string) error {
	for {
		err := root.Mkdir(name, 0o700)
		if err == nil {
			return atomicfile.SyncFolder(root.Open("."))
		}
		info, bad := root.Lstat(name)
		switch {
		case errors.Is(err, os.ErrExist) && errors.Is(bad, os.ErrNotExist): // removed in the meantime
		case bad != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is not a folder", name)
		default:
			return nil
		}
	}
}

// regular opens a file for reading. Links, devices and pipes count as missing.
func regular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	for {
		seen, err := root.Lstat(name)
		if err != nil {
			return nil, nil, err
		}
		if !seen.Mode().IsRegular() {
			return nil, nil, os.ErrNotExist
		}
		file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return nil, nil, err
		}
		info, err := file.Stat()
		if err == nil && os.SameFile(seen, info) {
			return file, info, nil
		}
		file.Close()
		if err != nil {
			return nil, nil, err
		} // otherwise the file has just been replaced: try again
	}
}

// contents reads a whole file.
func contents(root *os.Root, name string) ([]byte, os.FileInfo, error) {
	file, info, err := regular(root, name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	text := make([]byte, info.Size())
	n, err := io.ReadFull(file, text)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return text[:n], info, err
}

// discard removes a file, or a folder with its content. It renames the entry, which therefore
// disappears at once, and then deletes the entry. If deleting fails, Sweep tries again and reports
// the error. The caller holds the folder's lock.
func discard(root *os.Root, name string) error {
	temp := temporary()
	if err := root.Rename(name, temp); err != nil {
		return err
	}
	_ = root.RemoveAll(temp)
	return atomicfile.SyncFolder(root.Open("."))
}

// list returns the entries of a folder.
func list(root *os.Root) ([]string, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// clean removes what crashed processes have left. The caller holds the folder's lock.
func clean(root *os.Root) error {
	names, err := list(root)
	for _, name := range names {
		if strings.HasPrefix(name, leftover) {
			err = errors.Join(err, root.RemoveAll(name))
		}
	}
	return err
}

// grain is the precision with which use times are recorded.
const grain = time.Hour

// use records that a file is used.
func use(root *os.Root, name string, info os.FileInfo) {
	if now := time.Now(); now.Sub(info.ModTime()) > grain {
		_ = root.Chtimes(name, now, now) // if this fails, a later operation on the file reports the reason
	}
}

// broken returns a file system error without the path of the storage folder, which is confidential.
func broken(what string, err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = fmt.Errorf("%s %s: %w", path.Op, filepath.Base(path.Path), path.Err)
	case errors.As(err, &link):
		err = fmt.Errorf("%s %s: %w", link.Op, filepath.Base(link.New), link.Err)
	}
	return fmt.Errorf("workspace: %s: %w", what, err)
}

// The kinds of entries, which are also their folder names.
const (
	files        = "files"
	environments = "environments"
	sessions     = "sessions"
)

// openKind opens the owner's folder for a kind of entry. The error is [os.ErrNotExist] if the owner never had an entry
// of that kind.
func (s *Space) openKind(kind string) (*os.Root, error) {
	owner, err := within(s.store.owners, s.dir)
	if err != nil {
		return nil, err
	}
	defer owner.Close()
	return within(owner, kind)
}

// change runs f in the owner's folder for a kind of entry. It holds the owner's lock, so that only one process at a
// time changes the folder.
func (s *Space) change(ctx context.Context, kind string, f func(folder *os.Root) error) error {
	for ctx.Err() == nil {
		if err := ensure(s.store.owners, s.dir); err != nil {
			return broken("the storage folder", err)
		}
		unlock, err := s.store.lock(ctx, s.dir)
		if errors.Is(err, os.ErrNotExist) {
			continue // Sweep has just removed the folder
		}
		if err != nil {
			return err
		}
		defer unlock()
		owner, err := within(s.store.owners, s.dir)
		if err != nil {
			return broken("the storage folder", err)
		}
		defer owner.Close()
		return s.changeIn(owner, kind, f)
	}
	return waited(ctx)
}

func (s *Space) changeIn(owner *os.Root, kind string, f func(folder *os.Root) error) error {
	if err := ensure(owner, kind); err != nil {
		return broken("the storage folder", err)
	}
	folder, err := within(owner, kind)
	if err != nil {
		return broken("the storage folder", err)
	}
	defer folder.Close()
	_ = clean(folder) // if this fails, Sweep reports the error
	return f(folder)
}

package workspace

import (
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options bounds what each owner may keep. A zero field means its default; there is
// no way to say "unlimited".
type Options struct {
	FileBytes    int64 // of one code file; default 1 MiB
	Files        int   // code files; default 200
	Bytes        int64 // of all code files together; default 32 MiB
	Environments int   // default 20
	Sessions     int   // default 50
	SessionBytes int64 // of one session's record, which may exceed it by one program; default 8 MiB

	// Unused is how long what nobody uses is kept: see [Store.Sweep]. Default 30 days.
	Unused time.Duration

	// Warm is how many sessions this process keeps in memory, so that it need not
	// read their records again. Default 64.
	Warm int
}

func (o *Options) withDefaults() (Options, error) {
	if o == nil {
		o = &Options{}
	}
	least := min(o.FileBytes, int64(o.Files), o.Bytes, int64(o.Environments), int64(o.Sessions), o.SessionBytes,
		int64(o.Unused), int64(o.Warm))
	if least < 0 {
		return Options{}, fmt.Errorf("workspace: a limit is negative: %+v; leave it zero for the default", *o)
	}
	return Options{
		FileBytes:    or(o.FileBytes, 1<<20),
		Files:        or(o.Files, 200),
		Bytes:        or(o.Bytes, 32<<20),
		Environments: or(o.Environments, 20),
		Sessions:     or(o.Sessions, 50),
		SessionBytes: or(o.SessionBytes, 8<<20),
		Unused:       or(o.Unused, 30*24*time.Hour),
		Warm:         or(o.Warm, 64),
	}, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Store is a storage folder. Several processes may have the same one open. It is
// safe for concurrent use.
type Store struct {
	limits Options
	path   string   // absolute
	owners *os.Root // a folder for each owner
	turns  turns
	warm   warm
}

// format is what the file of that name says.
const format = "writ workspace 1\n"

// Open opens a storage folder and makes it if there is none. Its parent must exist.
// Nil options are the defaults; all who share the folder should have the same. The
// caller closes it. A folder that holds something else is refused.
func Open(dir string, o *Options) (*Store, error) {
	limits, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("workspace: the storage folder: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("workspace: the storage folder: %w", err)
	}
	defer root.Close()
	if err = claim(root); err == nil {
		err = lockable(root, "format")
	}
	if err != nil {
		return nil, fmt.Errorf("workspace: the storage folder %s: %w", path, err)
	}
	owners, err := within(root, "owners")
	if err != nil {
		return nil, fmt.Errorf("workspace: the storage folder %s: %w", path, err)
	}
	return &Store{limits: limits, path: path, owners: owners, warm: warm{most: limits.Warm}}, nil
}

// claim makes a folder a storage folder, if it is none and empty.
func claim(root *os.Root) error {
	text, err := root.ReadFile("format")
	switch {
	case err == nil && string(text) == format:
		return nil
	case err == nil:
		return fmt.Errorf("its format is %.50q, and this is %q", text, format)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := empty(root); err != nil {
		return err
	}
	if err := ensure(root, "owners"); err != nil {
		return err
	}
	return replace(root, "format", []byte(format))
}

// empty reports what stands in the way of making a folder a storage folder. Another
// process may be doing the same.
func empty(root *os.Root) error {
	names, err := list(root)
	for _, name := range names {
		if name != "owners" && name != "format" && !strings.HasPrefix(name, leftover) {
			return fmt.Errorf("it is no storage folder, and not empty: it has %q; choose another one", name)
		}
	}
	return err
}

// Close gives up what the process holds of the folder, after which the store can't
// be used. What is stored stays.
func (s *Store) Close() error {
	s.warm.clear()
	return s.owners.Close()
}

// Space is what one owner keeps. It is safe for concurrent use, and costs nothing to
// make.
type Space struct {
	store *Store
	dir   string // in the folder of owners
}

// Space returns what an owner keeps. An owner is any text, such as a principal's
// name; two texts are two owners.
func (s *Store) Space(owner string) *Space {
	sum := sha256.Sum256([]byte(owner))
	return &Space{store: s, dir: strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))}
}

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

	"github.com/writ-go/writ/internal/atomicfile"
)

// limits bound what each owner may store. There is deliberately no "unlimited".
type limits struct {
	fileBytes    int64 // of one code file
	files        int   // code files
	bytes        int64 // of all code files together
	environments int
	sessions     int
	sessionBytes int64         // of one session's record, not counting its last program
	unused       time.Duration // after which [Store.Sweep] removes files, environments and sessions
}

var defaults = limits{
	fileBytes: 1 << 20, files: 200, bytes: 32 << 20, environments: 20, sessions: 50, sessionBytes: 8 << 20,
	unused: 30 * 24 * time.Hour,
}

// Store is a storage folder, which several processes may have open at the same time. It is safe for concurrent use.
type Store struct {
	limits limits
	path   string   // absolute
	owners *os.Root // a folder for each owner
	turns  turns    // by folder
	warm   warm
}

// format is the content of the file "format" in a storage folder.
const format = "writ workspace 1\n"

// Open opens a storage folder, and creates it if it does not exist; its parent must
// exist. It rejects a folder with other content. The caller must close the store.
func Open(dir string) (*Store, error) {
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
	return &Store{limits: defaults, path: path, owners: owners}, nil
}

// claim turns an empty folder into a storage folder. It accepts an existing storage folder.
func claim(root *os.Root) error {
	text, err := root.ReadFile("format")
	switch {
	case err == nil && string(text) == format:
		return nil
	case err == nil:
		return fmt.Errorf("its format is %.50q, but this version needs %q; choose a different folder", text, format)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := empty(root); err != nil {
		return err
	}
	if err := ensure(root, "owners"); err != nil {
		return err
	}
	return atomicfile.Write(root, temporary(), "format", []byte(format))
}

// empty returns an error if a folder is not empty. It ignores files from other processes that are claiming the folder
// at the same time.
func empty(root *os.Root) error {
	names, err := list(root)
	for _, name := range names {
		if name != "owners" && name != "format" && !strings.HasPrefix(name, leftover) {
			return fmt.Errorf("it contains %q, so it is not a storage folder; choose a different folder", name)
		}
	}
	return err
}

// Close releases the store's resources. It does not remove anything.
func (s *Store) Close() error {
	s.warm.clear()
	return s.owners.Close()
}

// Space is one owner's storage. It is safe for concurrent use and cheap to create.
type Space struct {
	store *Store
	dir   string // in the owners' folder
}

// Space returns an owner's storage. The owner is any string, such as a user's name.
func (s *Store) Space(owner string) *Space {
	sum := sha256.Sum256([]byte(owner))
	return &Space{store: s, dir: strings.ToLower(base32.StdEncoding.EncodeToString(sum[:20]))}
}

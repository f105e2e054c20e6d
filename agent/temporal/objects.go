package temporal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/writ-go/writ/internal/atomicfile"
)

// maxInline is the number of bytes up to which a value is part of a workflow's history.
const maxInline = 64 << 10

// Objects keeps values that are too large for the history of a workflow: arguments, results, requests to models and
// answers with more than 64 KB. All workers must reach it. It is safe for concurrent use.
type Objects interface {
	// Put stores an object. The key, a hash of the object, has only letters and digits. An object may be stored again.
	Put(ctx context.Context, key string, object []byte) error

	// Get returns an object.
	Get(ctx context.Context, key string) ([]byte, error)
}

// OpenDir returns Objects in the files of a folder, which is created if it does not exist. Nothing is ever removed.
func OpenDir(path string) (Objects, error) {
	err := os.MkdirAll(path, 0o700)
	root, bad := os.OpenRoot(path)
	if err = errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("temporal: cannot open the folder of objects: %w", err)
	}
	return folder{root}, nil
}

type folder struct{ root *os.Root }

// Put implements [Objects].
func (f folder) Put(_ context.Context, key string, object []byte) error {
	if _, err := f.root.Stat(key); err == nil {
		return nil
	}
	return atomicfile.Write(f.root, key+"-"+rand.Text(), key, object)
}

// Get implements [Objects].
func (f folder) Get(_ context.Context, key string) ([]byte, error) {
	return fs.ReadFile(f.root.FS(), key)
}

// value is a JSON value in the history of a workflow, or a reference to it.
type value struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Key  string          `json:"key,omitempty"` // of the object, if the value is large
}

// keep returns a value for JSON text, and stores the text if it has more bytes than limit.
func keep(ctx context.Context, o Objects, text json.RawMessage, limit int) (value, error) {
	if len(text) <= limit {
		var escaped bytes.Buffer // as it is in the history
		if json.HTMLEscape(&escaped, text); escaped.Len() <= limit {
			return value{JSON: text}, nil
		}
	}
	sum := sha256.Sum256(text)
	key := hex.EncodeToString(sum[:])
	if err := o.Put(ctx, key, text); err != nil {
		return value{}, fmt.Errorf("%w (%d bytes): %w", errNotStored, len(text), err)
	}
	return value{Key: key}, nil
}

var errNotStored = errors.New("temporal: a value cannot be stored")

var errDamaged = errors.New("temporal: a stored value is damaged")

// load returns the JSON text of a value.
func load(ctx context.Context, o Objects, v value) (json.RawMessage, error) {
	if v.Key == "" {
		return v.JSON, nil
	}
	text, err := o.Get(ctx, v.Key)
	if err != nil {
		return nil, fmt.Errorf("temporal: the stored value %s cannot be read: %w", v.Key, err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != v.Key {
		return nil, fmt.Errorf("%w: %s; restore it from a backup", errDamaged, v.Key)
	}
	return text, nil
}

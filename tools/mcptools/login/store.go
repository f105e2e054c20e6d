package login

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/writ-go/writ/internal/atomicfile"
	"github.com/writ-go/writ/internal/filelock"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/zalando/go-keyring"
	"golang.org/x/oauth2"
)

// record is a login to one server.
type record struct {
	Server, Resource        string
	ClientID, ClientSecret  string
	TokenURL, RevocationURL string
	AuthStyle               oauth2.AuthStyle
	Token                   oauth2.Token
}

// usable reports whether the access token is valid and is not the one that the server has refused.
func (r *record) usable(refused string) bool {
	return r.Token.Valid() && r.Token.AccessToken != refused
}

// keyOf returns the name of a login. It depends on the URL, so that another server of the same name gets no tokens.
func keyOf(s mcptools.ServerConfig) string {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.URL))
	return fmt.Sprintf("%x", sum[:16])
}

func (l *Logins) path(key, suffix string) string { return filepath.Join(l.o.Folder, key+suffix) }

// lock waits for up to a minute until no process or goroutine has the lock of the key. Only the holder may save.
func (l *Logins) lock(ctx context.Context, key string) (unlock func(), err error) {
	_ = os.MkdirAll(l.o.Folder, 0o700) // if it fails, opening the file fails
	file, err := os.OpenFile(l.path(key, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the lock of a login: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for err = filelock.Own(file); errors.Is(err, filelock.ErrInUse) && ctx.Err() == nil; err = filelock.Own(file) {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("the lock of a login: %w", err)
	}
	return func() { _ = filelock.Close(file) }, nil
}

const service = "writ" // in the keyring

// load returns the stored record, or nil if it does not exist. Errors do not quote the record, since it contains tokens.
func (l *Logins) load(key string) (*record, error) {
	text := ""
	if !l.o.NoKeyring {
		text, _ = keyring.Get(service, key) // without a keyring, there may be a file
	}
	if text == "" {
		file, err := os.ReadFile(l.path(key, ".json"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading a login: %w", err)
		}
		text = string(file)
	}
	r := new(record)
	if json.Unmarshal([]byte(text), r) != nil || r.Token.AccessToken == "" || r.TokenURL == "" {
		return nil, errors.New("the stored login is damaged; log in again")
	}
	return r, nil
}

// save replaces the record. Nil removes it.
func (l *Logins) save(key string, r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if !l.o.NoKeyring {
		_ = keyring.Delete(service, key) // there may be none
		if r != nil && keyring.Set(service, key, string(text)) == nil {
			r = nil // there is no need for a file
		}
	}
	root, err := os.OpenRoot(l.o.Folder)
	if err != nil {
		return fmt.Errorf("saving a login: %w", err)
	}
	defer root.Close()
	if r != nil {
		err = atomicfile.Write(root, key+".tmp", key+".json", text)
	} else if err = root.Remove(key + ".json"); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		err = fmt.Errorf("saving a login: %w", err)
	}
	return err
}

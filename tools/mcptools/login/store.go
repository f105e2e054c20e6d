package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/internal/atomicfile"
	"github.com/writ-go/writ/internal/filelock"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/zalando/go-keyring"
	"golang.org/x/oauth2"
)

// record is a login to one server.
type record struct {
	Server        string           `json:"server"` // for people who look at the file
	Resource      string           `json:"resource"`
	ClientID      string           `json:"client_id"`
	ClientSecret  string           `json:"client_secret,omitempty"`
	TokenURL      string           `json:"token_endpoint"`
	RevocationURL string           `json:"revocation_endpoint,omitempty"`
	AuthStyle     oauth2.AuthStyle `json:"auth_style"`
	Token         oauth2.Token     `json:"token"`
}

// usable reports whether the access token is valid and is not the one that the server has refused.
func (r *record) usable(refused string) bool {
	return r.Token.Valid() && r.Token.AccessToken != refused
}

// source returns a source of the token, or nil if there is no usable token.
func (r *record) source() oauth2.TokenSource {
	if r == nil || !r.usable("") {
		return nil
	}
	return oauth2.StaticTokenSource(&r.Token)
}

// hide removes the secrets of the record from an error.
func (r *record) hide(err error) error {
	text := err.Error()
	for _, secret := range []string{r.Token.AccessToken, r.Token.RefreshToken, r.ClientSecret} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return &briefError{text, err}
}

// key identifies a login. It depends on the server's URL, so that another server of the same name gets no tokens.
type key string

func keyOf(s mcptools.ServerConfig) key {
	sum := sha256.Sum256([]byte(s.Name + "\x00" + s.URL))
	return key(hex.EncodeToString(sum[:16]))
}

// store keeps records in the system's keyring, or in one file for each. Only the holder of a key's lock may save or
// remove its record.
type store struct {
	folder    string
	noKeyring bool
	silent    atomic.Bool // the keyring does not answer
}

const (
	service     = "writ" // in the keyring
	lockTimeout = time.Minute
)

// open returns the folder. If create is false, the folder may not exist.
func (s *store) open(create bool) (*os.Root, error) {
	folder := s.folder
	if folder == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("finding the folder of logins: %w", err)
		}
		folder = filepath.Join(base, "writ", "logins")
	}
	if create {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
	}
	return os.OpenRoot(folder)
}

// lock waits until no other process or goroutine has the lock of the key.
func (s *store) lock(ctx context.Context, k key) (unlock func(), err error) {
	root, err := s.open(true)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(string(k)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := filelock.Own(file)
		if err == nil {
			return func() { _ = filelock.Close(file) }, nil
		}
		if !errors.Is(err, filelock.ErrInUse) {
			return nil, errors.Join(err, file.Close())
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("waiting for another process that is using the login: %w", context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// load returns a record, or nil if there is none.
func (s *store) load(k key) (*record, error) {
	text, err := s.ring(func() (string, error) { return keyring.Get(service, string(k)) })
	if err == nil {
		return parse([]byte(text), "the entry in the keyring")
	}
	root, err := s.open(false)
	if err != nil {
		return nil, absent(err)
	}
	defer root.Close()
	name := string(k) + ".json"
	file, err := root.Open(name)
	if err != nil {
		return nil, absent(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(root.Name(), name)
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("other users can read the tokens in %s; run chmod 600 on it, or log in again", path)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxResponse))
	if err != nil {
		return nil, err
	}
	return parse(content, path)
}

func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// parse parses a record. Its errors do not quote the text, which contains tokens.
func parse(text []byte, from string) (*record, error) {
	r := new(record)
	if json.Unmarshal(text, r) != nil || r.Token.AccessToken == "" || r.TokenURL == "" {
		return nil, fmt.Errorf("%s is damaged; log in again", from)
	}
	return r, nil
}

func (s *store) save(k key, r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := s.ring(func() (string, error) { return "", keyring.Set(service, string(k), string(text)) }); err == nil {
		return s.removeFile(k)
	}
	s.removeEntry(k) // it would be outdated
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	return atomicfile.Write(root, string(k)+".tmp", string(k)+".json", text)
}

func (s *store) remove(k key) error {
	s.removeEntry(k)
	return s.removeFile(k)
}

func (s *store) removeEntry(k key) {
	_, _ = s.ring(func() (string, error) { return "", keyring.Delete(service, string(k)) })
}

func (s *store) removeFile(k key) error {
	root, err := s.open(false)
	if err != nil {
		return absent(err)
	}
	defer root.Close()
	return absent(root.Remove(string(k) + ".json"))
}

// ring calls the keyring, which may ask the user to unlock it. If nobody answers, the keyring is not used any more.
func (s *store) ring(call func() (string, error)) (string, error) {
	if s.noKeyring || s.silent.Load() {
		return "", keyring.ErrUnsupportedPlatform
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := call()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-time.After(lockTimeout):
		s.silent.Store(true)
		return "", errors.New("the keyring does not answer")
	}
}

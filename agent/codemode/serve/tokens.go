package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// Tokens returns an [Auth] for a token file's content; see [TokenFile].
func Tokens(text []byte) (*Auth, error) {
	known, err := parseTokens(text)
	if err != nil {
		return nil, err
	}
	return known.auth(), nil
}

func (ts tokens) auth() *Auth {
	return &Auth{
		forever:  true,
		current:  func() tokens { return ts },
		Verifier: ts.verify,
		Principal: func(info *auth.TokenInfo) (Principal, error) {
			p, ok := info.Extra[principalExtra].(Principal)
			if !ok {
				return Principal{}, errors.New("the token is not in the token file")
			}
			return p, nil
		},
	}
}

// parseTokens parses a token file's content. Its errors do not quote the content, which may contain tokens.
func parseTokens(text []byte) (tokens, error) {
	var file struct {
		Tokens []tokenEntry `json:"tokens"`
	}
	if !utf8.Valid(text) {
		return nil, errors.New("tokens: not UTF-8; save the file as UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("tokens: %w", withoutValue(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("tokens: there is text after the JSON document; remove it")
	}
	return readTokens(file.Tokens)
}

// withoutValue returns a decoding error without the value that the decoder quotes.
func withoutValue(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s is of the wrong type", cmp.Or(wrong.Field, "the document"))
	}
	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("unknown field %.20s", field)
	}
	return errors.New("not JSON")
}

type tokenEntry struct {
	Principal string          `json:"principal"`
	Token     string          `json:"token"`
	SHA256    string          `json:"sha256"`
	Tools     json.RawMessage `json:"tools"` // nil allows all tools
	Expires   json.RawMessage `json:"expires"`
}

type token struct {
	sum       [sha256.Size]byte
	principal Principal
	expires   time.Time
}

type tokens []token

func readTokens(entries []tokenEntry) (tokens, error) {
	if len(entries) == 0 {
		return nil, errors.New("token file is empty: no client could authenticate")
	}
	var known tokens
	var all []error
	seen := map[[sha256.Size]byte]bool{}
	principals := map[string]Principal{}
	for i, entry := range entries {
		t, err := entry.read()
		first, again := principals[t.principal.Name]
		switch {
		case err != nil:
		case seen[t.sum]:
			err = errors.New("the token is listed twice")
		case again && !first.same(t.principal):
			err = errors.New("the tokens of one principal must have the same tools")
		default:
			seen[t.sum] = true
			principals[t.principal.Name] = t.principal
			known = append(known, t)
			continue
		}
		all = append(all, fmt.Errorf("token %d (%.40q): %w", i+1, entry.Principal, err))
	}
	return known, errors.Join(all...)
}

func (e tokenEntry) read() (t token, err error) {
	t.principal.Name = e.Principal
	if strings.TrimSpace(e.Principal) == "" {
		return t, errors.New("principal is missing")
	}
	malformed := e.Tools != nil && json.Unmarshal(e.Tools, &t.principal.Tools) != nil
	if malformed || e.Tools != nil && t.principal.Tools == nil { // null would allow all tools
		return t, errors.New("tools must be a list of patterns; omit it for all tools")
	}
	if e.Expires != nil && json.Unmarshal(e.Expires, &t.expires) != nil {
		return t, errors.New("expires must be like 2027-01-01T00:00:00Z")
	}
	t.sum, err = e.sum()
	return t, err
}

// sum returns the SHA-256 of the token.
func (e tokenEntry) sum() (sum [sha256.Size]byte, err error) {
	switch {
	case (e.Token == "") == (e.SHA256 == ""):
		return sum, errors.New("write either token or sha256")
	case e.Token != "" && (len(e.Token) < 20 || strings.ContainsAny(e.Token, " \t\r\n")):
		return sum, errors.New("token must have at least 20 characters and no spaces; create one with " +
			"openssl rand -hex 32")
	case e.Token != "":
		return sha256.Sum256([]byte(e.Token)), nil
	}
	digits, err := hex.DecodeString(e.SHA256)
	if err != nil || len(digits) != sha256.Size {
		return sum, errors.New("sha256 must have 64 hexadecimal digits")
	}
	copy(sum[:], digits)
	return sum, nil
}

// verify compares a token with all known tokens, each in constant time, so that the duration
// reveals nothing.
func (ts tokens) verify(_ context.Context, text string, _ *http.Request) (*auth.TokenInfo, error) {
	sum := sha256.Sum256([]byte(text))
	found := -1
	for i := range ts {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], ts[i].sum[:]), i, found)
	}
	if found < 0 {
		return nil, auth.ErrInvalidToken
	}
	t := ts[found]
	extra := map[string]any{principalExtra: t.principal}
	return &auth.TokenInfo{UserID: t.principal.Name, Expiration: t.expires, Extra: extra}, nil
}

// checkInterval is the minimum interval between checks of a token file.
const checkInterval = time.Second

// TokenFile returns an [Auth] for a token file:
//
//	{"tokens": [
//	  {"principal": "ada", "sha256": "9f86d081884c7d65…", "tools": ["execute_code"],
//	   "expires": "2027-01-01T00:00:00Z"},
//	  {"principal": "bob", "token": "at least 20 characters"}
//	]}
//
// The file contains each token or, better, its hexadecimal SHA-256, which this command prints:
// printf %s "$token" | sha256sum. A principal may have several tokens, which must have the same
// tools. If the field tools is missing, the principal may use all tools (see [Principal].Tools);
// if expires is missing, the token does not expire. The error describes all problems of the file
// without quoting a token.
//
// A change of the file takes effect with the first request that arrives at least a second later: a removed token is
// rejected, and if a principal was removed or its tools have changed, its sessions no longer exist. Running calls and
// open streams continue. If the new file is invalid or missing, the current tokens stay valid, and an error is logged.
// Replace the file by renaming a new file, so that no half-written file is read.
func TokenFile(path string) (*Auth, error) {
	f := &tokenFile{path: path}
	if err := f.read(); err != nil {
		return nil, err
	}
	a := f.known.auth()
	a.Verifier, a.refresh, a.current = f.verify, f.refresh, f.current
	return a, nil
}

// tokenFile holds the tokens that a file contained when it was last read.
type tokenFile struct {
	path    string
	mu      sync.Mutex
	known   tokens
	info    os.FileInfo // nil after a failure
	checked time.Time
	failed  string // the last logged error
}

func (f *tokenFile) verify(ctx context.Context, text string, r *http.Request) (*auth.TokenInfo, error) {
	return f.current().verify(ctx, text, r)
}

func (f *tokenFile) current() tokens {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known
}

// refresh reads the file if it has changed. It logs each error once.
func (f *tokenFile) refresh(log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) < checkInterval {
		return
	}
	before := f.info
	switch err := f.read(); {
	case err != nil && err.Error() != f.failed:
		f.failed = err.Error()
		log.Error("cannot reload the token file; keeping the current tokens", "error", err)
	case err == nil && f.info != before:
		f.failed = ""
		log.Info("reloaded the token file", "file", f.path, "tokens", len(f.known))
	}
}

// read reads the file if it has changed.
func (f *tokenFile) read() error {
	f.checked = time.Now()
	before := f.info
	f.info = nil
	info, err := os.Stat(f.path) // before reading, so that the next check notices a change in the meantime
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if before != nil && info.Size() == before.Size() && info.ModTime().Equal(before.ModTime()) &&
		os.SameFile(info, before) {
		f.info = before
		return nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	known, err := parseTokens(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.known, f.info = known, info
	return nil
}

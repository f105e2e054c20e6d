package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// lookAgain is how often a file of tokens is looked at, at most.
const lookAgain = time.Second

// TokenFile makes an [Auth] of a file of tokens:
//
//	{"tokens": [
//	  {"principal": "ada", "sha256": "9f86d081884c7d65…", "tools": ["execute_code"], "expires": "2027-01-01T00:00:00Z"},
//	  {"principal": "bob", "token": "no fewer than 20 characters"}
//	]}
//
// A token stands there itself or, better, as the hexadecimal SHA-256 of it:
// printf %s "$token" | sha256sum. A principal may have several, with the same tools.
// Without tools it may use all of them (see [Principal].Tools); without expires,
// forever. The error names everything that is wrong with the file, and quotes no
// token.
//
// While [Run] serves, a change of the file holds from the next request on that comes
// a second after it: a token that was taken out is refused, and the sessions of a
// principal that is gone, or has other tools, are not found any more. Calls that run
// and streams that are open go on to their end. If the new file is bad or gone, the
// tokens stay as they were, and Options.Logger is told at level error. Replace the
// file by renaming, so that nobody reads half of it.
func TokenFile(path string) (*Auth, error) {
	f := &tokenFile{path: path}
	if err := f.read(); err != nil {
		return nil, err
	}
	a := f.known.auth()
	a.Verifier, a.refresh = f.verify, f.refresh
	return a, nil
}

// tokenFile is what a file said when it was read last.
type tokenFile struct {
	path   string
	mu     sync.Mutex
	known  tokens
	info   os.FileInfo // nil after a failure
	looked time.Time
	failed string // what was logged last
}

func (f *tokenFile) verify(ctx context.Context, text string, r *http.Request) (*auth.TokenInfo, error) {
	f.mu.Lock()
	known := f.known
	f.mu.Unlock()
	return known.verify(ctx, text, r)
}

// refresh reads the file if it has changed. What is wrong is logged once.
func (f *tokenFile) refresh(log *slog.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) < lookAgain {
		return
	}
	before := f.info
	switch err := f.read(); {
	case err != nil && err.Error() != f.failed:
		f.failed = err.Error()
		log.Error("the token file is of no use; the tokens stay as they were", "error", err)
	case err == nil && f.info != before:
		f.failed = ""
		log.Info("the token file was read again", "file", f.path, "tokens", len(f.known))
	}
}

// read takes what the file says now, unless it is the one that was read before.
func (f *tokenFile) read() error {
	f.looked = time.Now()
	before := f.info
	f.info = nil
	info, err := os.Stat(f.path) // before it is read: a change meanwhile is seen the next time
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if before != nil && info.Size() == before.Size() && info.ModTime().Equal(before.ModTime()) && os.SameFile(info, before) {
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

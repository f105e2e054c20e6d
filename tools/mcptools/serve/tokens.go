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
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// Tokens makes an [Auth] of what is in a [TokenFile].
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
		Verifier: ts.verify,
		Principal: func(info *auth.TokenInfo) (Principal, error) {
			p, ok := info.Extra[principalExtra].(Principal)
			if !ok {
				return Principal{}, errors.New("the token is not from a list of tokens")
			}
			return p, nil
		},
	}
}

func parseTokens(text []byte) (tokens, error) {
	var file struct {
		Tokens []tokenEntry `json:"tokens"`
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("tokens: %w", withoutValue(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("tokens: something follows the JSON document")
	}
	return readTokens(file.Tokens)
}

// withoutValue keeps what stands in the file out of the error: it may be a token.
func withoutValue(err error) error {
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s is of the wrong type (at byte %d)", cmp.Or(wrong.Field, "the document"), wrong.Offset)
	}
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("not JSON (at byte %d)", bad.Offset)
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
	Tools     json.RawMessage `json:"tools"` // nil if the token allows all of them
	Expires   time.Time       `json:"expires"`
}

type token struct {
	sum       [sha256.Size]byte
	principal Principal
	expires   time.Time
}

type tokens []token

func readTokens(entries []tokenEntry) (tokens, error) {
	if len(entries) == 0 {
		return nil, errors.New("tokens: there are none; nobody could ask")
	}
	var known tokens
	var errs []error
	seen := map[[sha256.Size]byte]bool{}
	principals := map[string]Principal{}
	for i, e := range entries {
		t, err := e.read()
		first, again := principals[e.Principal]
		switch {
		case err != nil:
		case seen[t.sum]:
			err = errors.New("the token stands there twice")
		case again && !first.same(t.principal):
			err = errors.New("another token of the principal has other tools")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("token %d (%.40q): %w", i+1, e.Principal, err))
			continue
		}
		seen[t.sum] = true
		principals[e.Principal] = t.principal
		known = append(known, t)
	}
	return known, errors.Join(errs...)
}

func (e tokenEntry) read() (token, error) {
	t := token{principal: Principal{Name: e.Principal}, expires: e.Expires}
	malformed := e.Tools != nil && json.Unmarshal(e.Tools, &t.principal.Tools) != nil
	switch {
	case malformed, e.Tools != nil && t.principal.Tools == nil: // null would be all tools
		return t, errors.New("tools must be a list of patterns; leave it out for all tools")
	case strings.TrimSpace(e.Principal) == "":
		return t, errors.New("principal is missing")
	case (e.Token == "") == (e.SHA256 == ""):
		return t, errors.New("needs either token or sha256")
	case e.Token != "" && (len(e.Token) < 20 || strings.ContainsAny(e.Token, " \t\r\n")):
		return t, errors.New("token must have 20 characters or more, and no spaces; openssl rand -hex 32 makes one")
	case e.Token != "":
		t.sum = sha256.Sum256([]byte(e.Token))
		return t, nil
	}
	sum, err := hex.DecodeString(e.SHA256)
	if err != nil || len(sum) != sha256.Size {
		return t, errors.New("sha256 must have 64 hexadecimal digits")
	}
	copy(t.sum[:], sum)
	return t, nil
}

// verify compares with every token there is, and each in constant time: how long
// it takes says nothing of how near a guess was.
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
	return &auth.TokenInfo{UserID: t.principal.Name, Expiration: t.expires, Extra: map[string]any{principalExtra: t.principal}}, nil
}

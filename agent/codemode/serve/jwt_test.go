package serve_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/writ-go/writ/agent/codemode/serve"
)

const (
	jwtIssuer   = "https://login.example/tenant"
	jwtResource = "https://writ.example/mcp"
)

// signer is an authorization server's key.
type signer struct {
	id, alg string
	key     crypto.Signer
}

func encode(v any) string {
	text, ok := v.([]byte)
	if !ok {
		text, _ = json.Marshal(v)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// sign returns a token with the claims, and with a header that is changed.
func (s signer) sign(claims any, header map[string]any) string {
	head := map[string]any{"alg": s.alg, "kid": s.id, "typ": "at+jwt"}
	maps.Copy(head, header)
	signed := encode(head) + "." + encode(claims)
	sum := sha256.Sum256([]byte(signed))
	var signature []byte
	switch key := s.key.(type) {
	case *rsa.PrivateKey:
		signature, _ = rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	case *ecdsa.PrivateKey:
		r, t, _ := ecdsa.Sign(rand.Reader, key, sum[:])
		signature = append(r.FillBytes(make([]byte, 32)), t.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		signature = ed25519.Sign(key, []byte(signed))
	}
	return signed + "." + encode(signature)
}

func (s signer) public() map[string]any {
	key := map[string]any{"kid": s.id, "alg": s.alg, "use": "sig"}
	switch public := s.key.Public().(type) {
	case *rsa.PublicKey:
		key["kty"], key["n"], key["e"] = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, _ := public.Bytes()
		key["kty"], key["crv"], key["x"], key["y"] = "EC", "P-256", encode(point[1:33]), encode(point[33:])
	case ed25519.PublicKey:
		key["kty"], key["crv"], key["x"] = "OKP", "Ed25519", encode([]byte(public))
	}
	return key
}

func newSigners(t *testing.T) (rs, es, ed signer) {
	t.Helper()
	r, err1 := rsa.GenerateKey(rand.Reader, 2048)
	e, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, d, err3 := ed25519.GenerateKey(rand.Reader)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	return signer{"r", "RS256", r}, signer{"e", "ES256", e}, signer{"d", "EdDSA", d}
}

// publisher is an authorization server in memory.
type publisher struct {
	mu       sync.Mutex
	keys     []signer
	metadata map[string]any
	broken   map[string]http.HandlerFunc // by path
	fetched  map[string]int              // by path
}

func newPublisher(keys ...signer) *publisher {
	metadata := map[string]any{
		"issuer": jwtIssuer, "jwks_uri": "https://keys.example/keys",
		"code_challenge_methods_supported": []string{"S256"},
	}
	return &publisher{
		keys: keys, fetched: map[string]int{}, broken: map[string]http.HandlerFunc{}, metadata: metadata,
	}
}

func (p *publisher) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetched[r.URL.Path]++
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	var content any
	switch r.URL.Path {
	case "/tenant/.well-known/openid-configuration":
		content = p.metadata
	case "/keys":
		var list []any
		for _, k := range p.keys {
			list = append(list, k.public())
		}
		content = map[string]any{"keys": list}
	}
	switch broken := p.broken[r.URL.Path]; {
	case broken != nil:
		broken(w, r)
	case content == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		_ = json.NewEncoder(w).Encode(content)
	}
	return w.Result(), nil
}

// verifier returns the verifier of an Auth.
func (p *publisher) verifier(t *testing.T) func(token string) (string, error) {
	t.Helper()
	a, err := serve.JWT{Issuer: jwtIssuer, Resource: jwtResource, HTTPClient: &http.Client{Transport: p}}.Auth()
	if err != nil {
		t.Fatal(err)
	}
	return func(token string) (string, error) {
		info, err := a.Verifier(context.Background(), token, nil)
		if err != nil {
			return "", err
		}
		return info.UserID + "; " + strings.Join(info.Scopes, " "), nil
	}
}

type claims map[string]any

// with returns good claims with changes. Nil removes a claim.
func with(changes claims) claims {
	c := claims{
		"iss": jwtIssuer, "aud": []string{"https://other.example", jwtResource}, "sub": "ada", "scope": "a b",
		"exp": time.Now().Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func TestJWT(t *testing.T) {
	t.Parallel()
	rs, es, ed := newSigners(t)
	verify := newPublisher(rs, es, ed).verifier(t)
	for name, c := range map[string]struct {
		token, want string
	}{
		"RS256": {rs.sign(with(nil), nil), jwtIssuer + " ada; a b"},
		"ES256": {es.sign(with(claims{"aud": jwtResource}), nil), jwtIssuer + " ada; a b"},
		"EdDSA": {ed.sign(with(nil), nil), jwtIssuer + " ada; a b"},
		"client": {
			rs.sign(with(claims{"sub": nil, "client_id": "cli", "scope": nil}), nil), "client " + jwtIssuer + " cli; ",
		},
	} {
		if got, err := verify(c.token); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.want)
		}
	}
	other, _, _ := newSigners(t)
	good := rs.sign(with(nil), nil)
	parts := strings.Split(good, ".")
	mac := hmac.New(sha256.New, rs.key.(*rsa.PrivateKey).N.Bytes())
	confused := encode(map[string]any{"alg": "HS256", "kid": "r"}) + "." + parts[1]
	mac.Write([]byte(confused))
	for name, token := range map[string]string{
		"empty": "", "opaque": "opaque", "garbage": "a.b.c", "huge": strings.Repeat("x", 900_000) + ".b.c",
		"other key":        other.sign(with(nil), nil),
		"unsigned":         encode(map[string]any{"alg": "none"}) + "." + parts[1] + ".",
		"no signature":     parts[0] + "." + parts[1] + ".",
		"HS256":            confused + "." + encode(mac.Sum(nil)),
		"own key":          other.sign(with(nil), map[string]any{"jwk": other.public(), "kid": nil}),
		"other algorithm":  rs.sign(with(nil), map[string]any{"alg": "PS256"}),
		"other claims":     parts[0] + "." + encode(with(claims{"sub": "eve"})) + "." + parts[2],
		"other issuer":     rs.sign(with(claims{"iss": "https://evil.example"}), nil),
		"no issuer":        rs.sign(with(claims{"iss": nil}), nil),
		"other audience":   rs.sign(with(claims{"aud": "https://other.example"}), nil),
		"no audience":      rs.sign(with(claims{"aud": nil}), nil),
		"longer audience":  rs.sign(with(claims{"aud": jwtResource + "/x"}), nil),
		"expired":          rs.sign(with(claims{"exp": time.Now().Add(-time.Second).Unix()}), nil),
		"no expiry":        rs.sign(with(claims{"exp": nil}), nil),
		"not yet":          rs.sign(with(claims{"nbf": time.Now().Add(time.Minute).Unix()}), nil),
		"nobody":           rs.sign(with(claims{"sub": nil}), nil),
		"blank":            rs.sign(with(claims{"sub": " ", "client_id": "cli"}), nil),
		"a claim twice":    rs.sign([]byte(`{"sub": "eve", `+string(mustJSON(with(nil)))[1:]), nil),
		"another spelling": rs.sign(with(claims{"SUB": "eve"}), nil),
		"a wrong type":     rs.sign(with(claims{"scope": []string{"a"}}), nil),
		"no object":        rs.sign([]byte(`["x"]`), nil),
	} {
		if got, err := verify(token); !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// TestJWTRotation replaces keys. They are fetched again, but not for each token with an unknown key.
func TestJWTRotation(t *testing.T) {
	t.Parallel()
	old, next, _ := newSigners(t)
	synctest.Test(t, func(t *testing.T) {
		p := newPublisher(old)
		verify := p.verifier(t)
		for range 100 {
			if _, err := verify(old.sign(with(nil), nil)); err != nil {
				t.Fatal(err)
			}
		}
		for range 100 {
			if _, err := verify(next.sign(with(nil), nil)); !errors.Is(err, auth.ErrInvalidToken) {
				t.Fatal(err)
			}
		}
		if p.fetched["/keys"] != 1 || p.fetched["/tenant/.well-known/openid-configuration"] != 1 {
			t.Errorf("fetched: %v", p.fetched)
		}
		p.keys = []signer{next}
		time.Sleep(30 * time.Second)
		if _, err := verify(next.sign(with(nil), nil)); err != nil || p.fetched["/keys"] != 2 {
			t.Errorf("the new key: %v; fetched: %v", err, p.fetched)
		}
		if _, err := verify(old.sign(with(nil), nil)); !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("the old key: %v", err)
		}

		p.broken["/keys"] = http.NotFound
		time.Sleep(30 * time.Second)
		if _, err := verify(old.sign(with(nil), nil)); err == nil || errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("the old key, when keys cannot be fetched: %v", err)
		}
		if _, err := verify(next.sign(with(claims{"exp": 1}), nil)); !errors.Is(err, auth.ErrInvalidToken) {
			t.Errorf("an expired token then: %v", err)
		}
		if _, err := verify(next.sign(with(nil), nil)); err != nil {
			t.Errorf("a good token then: %v", err)
		}
	})
}

// TestJWTUnavailable has an authorization server that fails. Tokens are not called invalid, and the next attempt is
// made after a while.
func TestJWTUnavailable(t *testing.T) {
	t.Parallel()
	rs, _, _ := newSigners(t)
	large := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(" ", 2<<20) + "{}"))
	}
	page := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }
	failing := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://evil.example", http.StatusFound)
	}
	value := func(v map[string]any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			m := newPublisher().metadata
			maps.Copy(m, v)
			_ = json.NewEncoder(w).Encode(m)
		}
	}
	const metadata = "/tenant/.well-known/openid-configuration"
	for name, c := range map[string]struct {
		path   string
		answer http.HandlerFunc
	}{
		"metadata large": {metadata, large}, "metadata page": {metadata, page}, "metadata failing": {metadata, failing},
		"metadata moved": {metadata, redirect}, "metadata missing": {metadata, http.NotFound},
		"other issuer": {metadata, value(map[string]any{"issuer": "https://evil.example"})},
		"plain keys":   {metadata, value(map[string]any{"jwks_uri": "http://evil.example/keys"})},
		"no keys":      {metadata, value(map[string]any{"jwks_uri": ""})},
		"keys large":   {"/keys", large}, "keys page": {"/keys", page}, "keys failing": {"/keys", failing},
		"keys moved": {"/keys", redirect}, "keys missing": {"/keys", http.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPublisher(rs)
				verify := p.verifier(t)
				p.broken[c.path] = c.answer
				token := rs.sign(with(nil), nil)
				for range 10 {
					if _, err := verify(token); err == nil || errors.Is(err, auth.ErrInvalidToken) ||
						strings.Contains(err.Error(), token) || len(err.Error()) > 500 {
						t.Errorf("got %v", err)
					} else if strings.HasSuffix(name, "failing") && !strings.Contains(err.Error(), "502") {
						t.Errorf("the error does not say why: %v", err)
					}
				}
				if p.fetched[c.path] != 1 {
					t.Errorf("fetched %d times", p.fetched[c.path])
				}
				delete(p.broken, c.path)
				time.Sleep(30 * time.Second)
				if _, err := verify(token); err != nil {
					t.Errorf("later: %v", err)
				}
			})
		})
	}
}

func TestJWTErrors(t *testing.T) {
	t.Parallel()
	for _, j := range []serve.JWT{
		{Issuer: "http://login.example", Resource: jwtResource}, {Issuer: jwtIssuer},
		{Issuer: jwtIssuer, Resource: "x"},
	} {
		if _, err := j.Auth(); err == nil || !strings.Contains(err.Error(), "must be URLs with https") {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// TestJWTServed serves with JWTs: a client without a token learns where to get one.
func TestJWTServed(t *testing.T) {
	t.Parallel()
	rs, _, _ := newSigners(t)
	a, err := serve.JWT{
		Issuer: jwtIssuer, Resource: jwtResource, HTTPClient: &http.Client{Transport: newPublisher(rs)},
	}.Auth()
	if err != nil {
		t.Fatal(err)
	}
	r, _ := mount(t, &serve.Options{Auth: a}, bare, plain)
	if got := mustCall(t, r.client(newEra, rs.sign(with(nil), nil), nil), "who"); got != jwtIssuer+" ada" {
		t.Errorf("the principal is %q", got)
	}
	w := r.post(initialize)
	const want = "https://writ.example/.well-known/oauth-protected-resource/mcp"
	if w.status != http.StatusUnauthorized || !strings.Contains(w.header.Get("WWW-Authenticate"), want) {
		t.Errorf("without a token: %d %v", w.status, w.header)
	}
}

// transport is an [http.RoundTripper].
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestJWTCanceled has a client that disconnects while the metadata is fetched. Other clients are served.
func TestJWTCanceled(t *testing.T) {
	t.Parallel()
	rs, _, _ := newSigners(t)
	p := newPublisher(rs)
	ctx, cancel := context.WithCancel(t.Context())
	a, err := serve.JWT{Issuer: jwtIssuer, Resource: jwtResource, HTTPClient: &http.Client{
		Transport: transport(func(r *http.Request) (*http.Response, error) {
			cancel()
			if r.Context().Err() != nil {
				return nil, r.Context().Err()
			}
			return p.RoundTrip(r)
		}),
	}}.Auth()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = a.Verifier(ctx, "a.b.c", nil)
	if _, err := a.Verifier(t.Context(), rs.sign(with(nil), nil), nil); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestJWTKeysMoved has keys that are moved to a server of somebody else.
func TestJWTKeysMoved(t *testing.T) {
	t.Parallel()
	rs, _, _ := newSigners(t)
	other, _, _ := newSigners(t)
	p := newPublisher(rs)
	p.broken["/keys"] = func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://evil.example/evil", http.StatusFound)
	}
	p.broken["/evil"] = func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{other.public()}})
	}
	if got, err := p.verifier(t)(other.sign(with(nil), nil)); err == nil || p.fetched["/evil"] != 0 {
		t.Errorf("got %s; fetched %v", got, p.fetched)
	}
}

// TestJWTSlowKeys has a token with an unknown key and slow keys. Tokens with known keys do not wait.
func TestJWTSlowKeys(t *testing.T) {
	t.Parallel()
	rs, es, _ := newSigners(t)
	synctest.Test(t, func(t *testing.T) {
		p, slow := newPublisher(rs), false
		a, err := serve.JWT{Issuer: jwtIssuer, Resource: jwtResource, HTTPClient: &http.Client{
			Transport: transport(func(r *http.Request) (*http.Response, error) {
				if slow {
					<-r.Context().Done()
					return nil, errors.New("slow")
				}
				return p.RoundTrip(r)
			}),
		}}.Auth()
		if err != nil {
			t.Fatal(err)
		}
		verify := func(s signer) error {
			_, err := a.Verifier(t.Context(), s.sign(with(nil), nil), nil)
			return err
		}
		if err := verify(rs); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		slow = true
		go func() { _ = verify(es) }()
		synctest.Wait()
		start := time.Now()
		if err := verify(rs); err != nil || time.Since(start) > 0 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		time.Sleep(time.Minute)
	})
}

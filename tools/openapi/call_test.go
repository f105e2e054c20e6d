package openapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/openapi"
)

const orders = "shop.orders_list"

// answer answers every request alike.
func answer(status int, contentType, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// bomb returns compressed zeros.
func bomb(size int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(bytes.Repeat([]byte("0"), size))
	_ = w.Close()
	return b.String()
}

func TestResults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tool string
		handler    http.HandlerFunc
		want       string
	}{
		{"JSON", orders, answer(200, "application/json", " [1]\n"), "[1]"},
		{"JSON with a wrong type", orders, answer(200, "text/html", "[1]"), "[1]"},
		{"nothing", "shop.orders_delete", answer(204, "", ""), "null"},
		{"text", "shop.orders_list_2", answer(200, "text/plain", "[1]"), `"[1]"`},
		{"undescribed JSON", "shop.post_orders_id_pay", answer(200, "application/json", "{}"), "{}"},
		{"undescribed text", "shop.post_orders_id_pay", answer(200, "text/plain", "1"), `"1"`},
		{"HTML", orders, answer(200, "text/html", "<p>Log in"),
			`invalid_result: the call was made, but its response is not JSON, as the document says, but "text/html"`},
		{"no text", "shop.orders_list_2", answer(200, "image/png", "\xff\xfe"),
			`invalid_result: the call was made, but its response is not text, but "image/png"`},
		{"huge", orders, answer(200, "application/json", "["+strings.Repeat("1,", 5<<19)+"1]"),
			"too_large: the call was made, but its response has more than 4194304 bytes; ask for less"},
		{"too many values", orders, answer(200, "application/json", "["+strings.Repeat("1,", 3<<19)+"1]"),
			"too_large: the call was made, but its response has too many JSON values; ask for less"},
		{"gzip bomb", orders, answer(200, "application/json", bomb(64<<20), "Content-Encoding", "gzip"),
			"too_large: the call was made, but its response has more than 4194304 bytes; ask for less"},
		{"error", orders, answer(422, "application/json", `{"message":"no such status"}`),
			`failed: 422 Unprocessable Entity: {"message":"no such status"} {"message":"no such status"}`},
		{"error in HTML", orders, answer(500, "text/html", "<h1>oops"), "failed: 500 Internal Server Error"},
		{"huge error", orders, answer(500, "application/json", bomb(64<<20), "Content-Encoding", "gzip"),
			"failed: 500 Internal Server Error: " + strings.Repeat("0", 497) + "…"},
		{"credentials", orders, answer(401, "text/plain", "who are you?"),
			"unavailable: 401 Unauthorized: who are you?; the call was not made"},
		{"not found", orders, answer(404, "text/plain", ""), "failed: 404 Not Found"},
		{"gateway", orders, answer(504, "text/plain", ""),
			"unknown: 504 Gateway Timeout; whether the call took effect is unknown"},
		{"other origin", "shop.orders_delete", answer(307, "", "", "Location", "http://evil.example.com/x?key=1"),
			"unavailable: the server redirects with status 307 to http://evil.example.com; the call was not made"},
		{"loop", orders, answer(302, "", "", "Location", "/again"),
			"unavailable: the server redirects in a loop; the call was not made"},
		{"to the result", "shop.orders_delete", answer(303, "", "", "Location", "/v1/result"),
			"unknown: the server redirects with status 303 to http://HOST; whether the call took effect is unknown"},
		{"lost", "shop.orders_delete", func(w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, "unknown: the connection to the API was lost; whether the call took effect is unknown"},
		{"broken off", orders, answer(200, "application/json", "[1", "Content-Length", "100"),
			"invalid_result: the call was made, but its response broke off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var host atomic.Value
			host.Store("")
			set := shop(t, func(w http.ResponseWriter, r *http.Request) {
				host.Store(r.Host)
				c.handler(w, r)
			}, nil)
			args := `{"id":"1"}`
			if c.tool == orders {
				args = `{}`
			}
			got, err := call(t, set, c.tool, args)
			if te, ok := errors.AsType[*tools.ToolError](err); ok {
				got = strings.TrimSpace(fmt.Sprintf("%s: %s %s", te.Kind, te.Message, te.Data))
			}
			equal(t, c.tool, strings.ReplaceAll(got, host.Load().(string), "HOST"), c.want)
		})
	}
}

// A request that provably did not reach the API was not made; after a timeout, nobody knows.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	refuses := roundTripper(func(r *http.Request) (*http.Response, error) {
		return (&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no route")
		}}).RoundTrip(r)
	})
	wait := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, c := range []struct {
		name string
		o    openapi.Options
		want string
	}{
		{"dial", openapi.Options{Transport: refuses}, tools.KindUnavailable},
		{"timeout", openapi.Options{Timeout: 50 * time.Millisecond}, tools.KindTimeout},
		{"prepare", openapi.Options{Prepare: func(*http.Request) error { return errors.New("no token") }},
			tools.KindUnavailable},
		{"other host", openapi.Options{Prepare: func(r *http.Request) error {
			r.URL.Host = "evil.example.com"
			return nil
		}}, tools.KindUnavailable},
	} {
		_, err := call(t, shop(t, wait, &c.o), "shop.orders_delete", `{"id":"1"}`)
		if te, ok := errors.AsType[*tools.ToolError](err); !ok || te.Kind != c.want {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Nothing that the host sets reaches the program.
func TestSecrets(t *testing.T) {
	t.Parallel()
	set := shop(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf(`{"message":"bad %s %s"}`, r.Header.Get("X-Key"), r.URL.Query().Get("key")), http.StatusBadRequest)
	}, &openapi.Options{Prepare: func(r *http.Request) error {
		r.Header.Set("X-Key", "header-secret")
		q := r.URL.Query()
		q.Set("key", "query-secret")
		r.URL.RawQuery = q.Encode()
		return nil
	}})
	_, err := call(t, set, orders, `{}`)
	te, ok := errors.AsType[*tools.ToolError](err)
	if !ok || strings.Contains(te.Message+string(te.Data)+te.Unwrap().Error(), "secret") || te.Data == nil {
		t.Errorf("got %v with %s", err, te.Data)
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	var keys []string
	set := shop(t, func(_ http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}, nil)
	create := binding(t, set, "shop.orders_create")
	ctx := effect.With(t.Context(), effect.ID{Run: "r-7f3a", Entry: "E7"})
	for _, ctx := range []context.Context{ctx, ctx, t.Context()} {
		if _, err := create.Handler(ctx, json.RawMessage(`{"body_item":"tea"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if keys[0] != "r-7f3a:E7" || keys[1] != keys[0] || keys[2] == "" || keys[2] == keys[0] {
		t.Errorf("got %q", keys)
	}
}

// Credentials are sent to one origin only, also if operations name servers of their own.
func TestOneOrigin(t *testing.T) {
	t.Parallel()
	api, err := openapi.Open("testdata/shop.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "shop: 1 operation left out, because the server is https://files.example.com, and not that of the " +
		"API: GET /files"
	if all := strings.Join(api.Warnings(), "\n"); !strings.Contains(all, want) {
		t.Errorf("got\n%s", all)
	}
	var hosts []string
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Host)
		w := httptest.NewRecorder()
		return w.Result(), nil
	})
	if api, err = openapi.Open("testdata/shop.yaml", &openapi.Options{Transport: transport}); err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(t.Context(), api)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, set, orders, `{}`); err != nil || hosts[0] != "eu.example.com" {
		t.Errorf("%v was requested: %v", hosts, err)
	}
}

// policy.Retry waits as long as the API asks.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "-1": 0, "soon": 0, "99999999999999999": time.Hour, "86400": time.Hour,
	} {
		set := shop(t, answer(429, "text/plain", "slow down", "Retry-After", text), nil)
		_, err := call(t, set, orders, `{}`)
		var wait interface{ RetryAfter() time.Duration }
		if !errors.As(err, &wait) || wait.RetryAfter() != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

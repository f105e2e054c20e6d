package mcptools

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Errors do not contain headers that a server repeats.
func TestHeadersAreHiddenInErrors(t *testing.T) {
	t.Parallel()
	const token = "Bearer SECRET-TOKEN-12345"
	dashed := func(r *http.Request) string { return strings.ReplaceAll(r.Header.Get("Authorization"), " ", "-") }
	for _, c := range []struct {
		name, want string
		serve      http.HandlerFunc
	}{
		{"an error", `handshake: calling "initialize": invalid credentials [hidden]`,
			func(w http.ResponseWriter, r *http.Request) {
				asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"invalid credentials %s"}}`,
					read(r).ID, r.Header.Get("Authorization")))
			}},
		{"a type", "it returned text/bearer-[hidden] instead of JSON; check that the URL points to an MCP server",
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/"+dashed(r))
			}},
		{"a redirect",
			"it redirects to http://Bearer-[hidden].example, but its headers are sent only to its own origin; if that is the right server," +
				" use its URL in the configuration", func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "http://"+dashed(r)+".example/")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}},
		{"a delay", `it returned 503 Service Unavailable; try again after "[hidden]"`,
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", r.Header.Get("Authorization"))
				w.WriteHeader(http.StatusServiceUnavailable)
			}},
		{"a version", `handshake: unsupported protocol version: "[hidden]"`, func(w http.ResponseWriter, r *http.Request) {
			asJSON(w,
				fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},`+
					`"serverInfo":{"name":"x","version":"1"}}}`, read(r).ID, r.Header.Get("Authorization")))
		}},
	} {
		config := ServerConfig{URL: serveWeb(t, c.serve), Headers: map[string]string{"Authorization": token}}
		equal(t, c.name, fails(t, config, nil), `mcp server "s": `+c.want)
	}
}

func TestHeadersAreHiddenInCallErrors(t *testing.T) {
	t.Parallel()
	n := 0
	f := script{"tools/call": func(json.RawMessage) string {
		n++
		return []string{
			`"error":{"code":-32000,"message":"SECRET-token-12345 is no token"}`,
			`"result":{"isError":true,"content":[{"type":"text","text":"secret-token-12345 is no token"}]}`,
		}[n%2]
	}}
	s := open(t, ServerConfig{URL: serveWeb(t, f.handler(asEvents, nil)),
		Headers: map[string]string{"X-Key": "Secret-Token-12345", "X-Short": "token"}}, nil)
	for range 2 {
		equal(t, "call", call(t.Context(), list(t, s)["t"], `{}`), "failed: [hidden] is no token")
	}
}

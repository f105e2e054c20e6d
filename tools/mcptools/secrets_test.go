package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// What a server repeats of our headers is not told in errors.
func TestEchoesAreHidden(t *testing.T) {
	t.Parallel()
	const token = "Bearer SECRET-TOKEN-12345"
	dashed := func(r *http.Request) string { return strings.ReplaceAll(r.Header.Get("Authorization"), " ", "-") }
	for _, c := range []struct {
		name, want string
		serve      http.HandlerFunc
	}{
		{"an error", `handshake: calling "initialize": invalid credentials [hidden]`, func(w http.ResponseWriter, r *http.Request) {
			asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"invalid credentials %s"}}`, read(r).ID, r.Header.Get("Authorization")))
		}},
		{"a type", "it answers with text/bearer-[hidden] instead of JSON; see that the URL is that of an MCP server", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/"+dashed(r))
		}},
		{"a redirect", "it redirects to http://Bearer-[hidden].example, where its headers are not sent; if that is the right place, put it into the configuration", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+dashed(r)+".example/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
		{"a delay", `it answers 503 Service Unavailable; try again after "[hidden]"`, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", r.Header.Get("Authorization"))
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		{"a version", `handshake: unsupported protocol version: "[hidden]"`, func(w http.ResponseWriter, r *http.Request) {
			asJSON(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, read(r).ID, r.Header.Get("Authorization")))
		}},
	} {
		config := ServerConfig{URL: serveWeb(t, c.serve), Headers: map[string]string{"Authorization": token}}
		equal(t, c.name, fails(t, config, nil), `mcp server "s": `+c.want)
	}
}

func TestEchoesInCallsAreHidden(t *testing.T) {
	t.Parallel()
	n := 0
	f := script{"tools/call": func(json.RawMessage) string {
		n++
		return []string{
			`"error":{"code":-32000,"message":"SECRET-token-12345 is no token"}`,
			`"result":{"isError":true,"content":[{"type":"text","text":"secret-token-12345 is no token"}]}`,
		}[n%2]
	}}
	s := open(t, ServerConfig{URL: serveWeb(t, f.handler(asEvents, nil)), Headers: map[string]string{"X-Key": "Secret-Token-12345", "X-Short": "token"}}, nil)
	for range 2 {
		equal(t, "call", call(t.Context(), list(t, s)["t"], `{}`), "failed: [hidden] is no token")
	}
}

func TestHide(t *testing.T) {
	t.Parallel()
	var s secrets
	for i := range 2 * maxSecrets {
		s.note(http.Header{"X": {fmt.Sprintf("Bearer value-%04d", i), "short"}})
	}
	equal(t, "kept", fmt.Sprint(len(s.values)), fmt.Sprint(maxSecrets))
	equal(t, "text", s.hide("éVALUE-0511value-0510 bearer value-0509, value-0000 short"), "é[hidden][hidden] [hidden], value-0000 short")
	equal(t, "none", (*secrets)(nil).hide("x"), "x")
}

func TestConfigurationsPrintNoSecrets(t *testing.T) {
	t.Parallel()
	c := ServerConfig{
		Name: "s", Args: []string{"--key", "s3cret"}, URL: "https://example.com/?key=s3cret",
		Env: map[string]string{"KEY": "s3cret"}, Headers: map[string]string{"X-Key": "s3cret"},
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("config", "one", c)
	for _, text := range []string{fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprintf("%+v", &c), fmt.Sprintf("%+v", Config{Servers: []ServerConfig{c}}), logged.String()} {
		if strings.Contains(text, "s3cret") || !strings.Contains(text, "X-Key") {
			t.Error(text)
		}
	}
	equal(t, "the configuration itself", c.Headers["X-Key"], "s3cret")
	equal(t, "text", c.String(), "{Name:s Description: Command: Args:[[2 hidden]] Env:map[KEY:[hidden]] Dir: URL:[hidden] Type: Headers:map[X-Key:[hidden]] Timeout:0s Allow:[] Deny:[] AutoApprove:[] Disabled:false keys:map[]}")
}

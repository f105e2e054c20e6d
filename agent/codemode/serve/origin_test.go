package serve_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/serve"
)

// TestOriginPolicy sends requests for all kinds of host names, from all kinds of pages, to every path.
func TestOriginPolicy(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{
		Hosts:   []string{"mcp.example.com"},
		Origins: []string{"http://localhost:6274", "https://app.example.com"},
	})
	u, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	port := ":" + u.Port()
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"127.0.0.1" + port, "", true},
		{"localhost" + port, "", true},
		{"LOCALHOST" + port, "", true},
		{"localhost", "", true},
		{"mcp.example.com", "", true},
		{"mcp.example.com:443", "", true},
		{"MCP.Example.com", "", true},
		{"evil.example.com", "", false},
		{"mcp.example.com.evil.com", "", false},
		{"evil.com" + port, "", false},
		{"localhost.evil.com" + port, "", false},
		{"127.0.0.1.evil.com" + port, "", false},
		{"127.0.0.2" + port, "", false}, // another address than it came to
		{"[::1]" + port, "", false},
		{"2130706433" + port, "", false},
		{"0x7f.1" + port, "", false},
		{"", "", false},
		{":8080", "", false},
		{"localhost@evil.com", "", false},
		{"127.0.0.1" + port, "http://localhost:6274", true},
		{"127.0.0.1" + port, "https://app.example.com", true},
		{"127.0.0.1" + port, "http://127.0.0.1" + port, true},
		{"localhost" + port, "http://localhost" + port, true},
		{"127.0.0.1" + port, "http://localhost" + port, false},
		{"127.0.0.1" + port, "http://localhost:6275", false},
		{"127.0.0.1" + port, "https://localhost:6274", false},
		{"127.0.0.1" + port, "https://app.example.com.evil.com", false},
		{"127.0.0.1" + port, "https://evil.com", false},
		{"127.0.0.1" + port, "null", false},
		{"localhost", "tauri://localhost", false},
		{"localhost", "localhost", false},
		{"localhost", "https://localhost", true},
		{"evil.com" + port, "http://evil.com" + port, false},
	} {
		for path, body := range map[string]string{"/mcp": initialize, "/healthz": "", "/readyz": ""} {
			method := http.MethodGet
			headers := []string{"Host", c.host}
			if c.origin != "" {
				headers = append(headers, "Origin", c.origin)
			}
			if body != "" {
				method = http.MethodPost
			}
			if c.host == "" { // net/http's client would fill it in
				continue
			}
			want := http.StatusForbidden
			if c.ok {
				want = http.StatusOK
			}
			a := r.send(method, path, body, headers...)
			if a.status != want {
				t.Errorf("host %q origin %q at %s: %d %q, want %d", c.host, c.origin, path, a.status, a.body, want)
			}
			shared := a.header.Get("Access-Control-Allow-Origin")
			if c.ok && shared != c.origin || !c.ok && shared != "" {
				t.Errorf("host %q origin %q at %s: shared with %q", c.host, c.origin, path, shared)
			}
		}
	}
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200} {
		if a := r.send(http.MethodGet, "/healthz", "", "Sec-Fetch-Site", site); a.status != want {
			t.Errorf("an image of a page that is %s: %d, want %d", site, a.status, want)
		}
	}
	if a := r.post(initialize, "Sec-Fetch-Site", "cross-site", "Origin",
		"https://app.example.com"); a.status != http.StatusOK {
		t.Errorf("a page that may ask: %d", a.status)
	}
	twice := r.post(initialize, "Origin", "https://app.example.com", "Origin", "https://evil.com")
	if twice.status != http.StatusForbidden {
		t.Errorf("two origins: %d, want 403", twice.status)
	}
	for _, want := range []string{
		`msg="refused a host name that is not in Options.Hosts" host=mcp.example.com.evil.com` + "\n",
		`msg="refused a web page whose origin is not in Options.Origins" origin=http://localhost:6275` + "\n",
	} {
		if log := r.log.String(); !strings.Contains(log, want) {
			t.Errorf("%s is missing in\n%s", want, log)
		}
	}
}

// TestPreflight sends the requests of a browser before those of a page.
func TestPreflight(t *testing.T) {
	t.Parallel()
	r := start(t, serve.Options{Auth: authorized(t), Origins: []string{"https://app.example.com"}})
	a := r.send(http.MethodOptions, "/mcp", "", "Origin", "https://app.example.com",
		"Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization, content-type, Mcp-Protocol-Version, mcp-param-x, x-evil")
	if got, want := a.header.Get("Access-Control-Allow-Headers"),
		"authorization, content-type, mcp-protocol-version, mcp-param-x"; a.status != http.StatusNoContent || got != want {
		t.Errorf("%d, allowed %q, want %q", a.status, got, want)
	}
	a = r.send(http.MethodOptions, "/mcp", "", "Origin", "https://evil.com", "Access-Control-Request-Method", "POST")
	if a.status != http.StatusForbidden || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("evil: %d %v", a.status, a.header)
	}
	if a = r.send(http.MethodOptions, "/mcp", "", "Origin",
		"https://app.example.com"); a.status != http.StatusUnauthorized {
		t.Errorf("no preflight: %d, want 401", a.status)
	}
}

// TestLoopbackOnly checks that other addresses require authentication.
func TestLoopbackOnly(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:0":           "",
		"127.1.2.3:0":           "",
		"localhost:0":           "",
		"[::ffff:127.0.0.1]:0":  "",
		"0.0.0.0:0":             exposed,
		"[::]:0":                exposed,
		":0":                    exposed,
		"192.0.2.1:0":           exposed,
		"[2001:db8::1]:0":       exposed,
		"[::ffff:192.0.2.1]:0":  exposed,
		"no.such.host.invalid:": `addr "no.such.host.invalid:":`,
		"127.0.0.1":             "addr must be host:port, such as 127.0.0.1:8080:",
		"127.0.0.1:nonsense":    `addr "127.0.0.1:nonsense":`,
	} {
		o := &serve.Options{Transport: serve.HTTP, Addr: addr}
		err := o.Check(t.Context())
		if want == "" && err != nil || want != "" &&
			(err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), addr, "ADDR"),
				strings.ReplaceAll(want, addr, "ADDR"))) {
			t.Errorf("%s: %v, want %q", addr, err, want)
		}
		if want == "" {
			continue
		}
		if err := serve.Run(t.Context(), newWorks().server, o); err == nil {
			t.Errorf("%s: Run returned nil", addr)
		}
	}
}

const exposed = `"ADDR" can be reached from other machines, which requires authentication; listen on 127.0.0.1, ` +
	`or set up tokens or OAuth`

package serve

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// originPolicy rejects requests from web pages on other sites, and requests for other host names: an attacker may own
// such a name and make it resolve to this machine (DNS rebinding).
type originPolicy struct {
	hosts   []string
	origins []string
	log     *slog.Logger
}

func newOriginPolicy(o *Options) originPolicy {
	p := originPolicy{hosts: []string{"localhost"}, origins: o.Origins, log: o.Logger}
	if host, _, err := net.SplitHostPort(o.Addr); err == nil && host != "" && o.Listener == nil {
		p.hosts = append(p.hosts, strings.ToLower(host))
	}
	for _, h := range o.Hosts {
		p.hosts = append(p.hosts, strings.ToLower(h))
	}
	return p
}

func (p originPolicy) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !p.allowsHost(r):
			p.log.Debug("refused a host name that is not in Options.Hosts", "host", cut(hostname(r.Host)))
			http.Error(w, "this host name is not allowed", http.StatusForbidden)
		case !p.allowsOrigin(r):
			origin := cut(r.Header.Get("Origin"))
			p.log.Debug("refused a web page whose origin is not in Options.Origins", "origin", origin)
			http.Error(w, "this origin is not allowed", http.StatusForbidden)
		case allowPage(w, r):
			w.WriteHeader(http.StatusNoContent)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// cut shortens a client's text for the log.
func cut(text string) string { return fmt.Sprintf("%.100s", text) }

// allowsHost reports whether the Host header contains one of the server's names.
func (p originPolicy) allowsHost(r *http.Request) bool {
	name := hostname(r.Host)
	return slices.Contains(p.hosts, name) || isLocalAddr(r, name)
}

// isLocalAddr reports whether the name is the IP address at which the connection arrived. If so,
// the client did not resolve a name that an attacker may control.
func isLocalAddr(r *http.Request, name string) bool {
	want, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.AddrPort().Addr().Unmap().WithZone("") == want.Unmap().WithZone("")
}

// hostname returns the host in a Host header, without the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// allowsOrigin reports whether a request comes from an allowed web page, from a page at the server's own
// address, or from a client other than a browser.
func (p originPolicy) allowsOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return !embedded(r)
	}
	origin := origins[0]
	if len(origins) > 1 {
		return false
	}
	scheme, host, _ := strings.Cut(origin, "://")
	web := scheme == "http" || scheme == "https" // excludes apps such as tauri://localhost
	return slices.Contains(p.origins, origin) || web && host != "" && strings.EqualFold(host, r.Host)
}

// embedded reports whether a browser requests a resource such as an image, without an Origin header, for a
// page of another site. The page cannot read the response, but it could begin sessions.
func embedded(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// allowPage adds the CORS headers for an allowed page. It reports whether the request is a
// preflight request.
func allowPage(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", protocolHeaders(r.Header.Get("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", "600")
	return true
}

// protocolHeaders returns the headers in a comma-separated list that the protocol's clients send.
func protocolHeaders(requested string) string {
	var allowed []string
	for h := range strings.SplitSeq(requested, ",") {
		h = strings.ToLower(strings.TrimSpace(h))
		switch h {
		case "accept", "authorization", "content-type", "last-event-id":
			allowed = append(allowed, h)
		default:
			if strings.HasPrefix(h, "mcp-") {
				allowed = append(allowed, h)
			}
		}
	}
	return strings.Join(allowed, ", ")
}

func checkOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
		return fmt.Errorf("origin must be like https://app.example.com, without a path, not %q", origin)
	}
	return nil
}

func checkHost(host string) error {
	if host == "" || strings.ContainsAny(host, "/*@[]") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return fmt.Errorf("host must be a name like mcp.example.com, without a port, not %q", host)
	}
	return nil
}

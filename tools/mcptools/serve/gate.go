package serve

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// gate keeps out what a browser was tricked into sending: by a page of somebody
// else, or by a name that was made to mean this machine.
type gate struct {
	hosts   []string
	origins []string
}

func newGate(o *Options) gate {
	g := gate{hosts: []string{"localhost"}, origins: o.Origins}
	if host, _, err := net.SplitHostPort(o.Addr); err == nil && host != "" && o.Listener == nil {
		g.hosts = append(g.hosts, strings.ToLower(host))
	}
	for _, h := range o.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

func (g gate) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.knows(r):
			http.Error(w, "this host name is not served here", http.StatusForbidden)
		case !g.admits(r):
			http.Error(w, "this origin is not served here", http.StatusForbidden)
		case share(w, r):
			w.WriteHeader(http.StatusNoContent)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// knows reports whether the client asked for a name that the server has.
func (g gate) knows(r *http.Request) bool {
	name := hostname(r.Host)
	return slices.Contains(g.hosts, name) || arrived(r, name)
}

// arrived reports whether the name is the IP address that the connection came to:
// no name was resolved then that could have been somebody else's.
func arrived(r *http.Request, name string) bool {
	want, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && addr.AddrPort().Addr().Unmap().WithZone("") == want.Unmap().WithZone("")
}

// hostname is the host of a Host header, without the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// admits reports whether the request comes from no page, one of the server's own
// address, or one that may ask.
func (g gate) admits(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return !embedded(r)
	}
	origin := origins[0]
	if len(origins) > 1 {
		return false
	}
	_, host, _ := strings.Cut(origin, "://")
	return slices.Contains(g.origins, origin) || host != "" && strings.EqualFold(host, r.Host)
}

// embedded reports whether a browser asks for what a page of somebody else shows, such
// as an image, for which it sends no origin. The page can't read the answer, but it
// could begin sessions.
func embedded(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// share tells the browser of a page that may ask, that it may. It reports whether
// that was all that the browser wanted to know.
func share(w http.ResponseWriter, r *http.Request) bool {
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
	h.Set("Access-Control-Allow-Headers", strings.Join(wanted(r.Header.Get("Access-Control-Request-Headers")), ", "))
	h.Set("Access-Control-Max-Age", "600")
	return true
}

// wanted are those of the headers that a client of the protocol sends.
func wanted(headers string) []string {
	var allowed []string
	for h := range strings.SplitSeq(headers, ",") {
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
	return allowed
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

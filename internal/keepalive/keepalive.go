// Package keepalive keeps HTTP connections for further requests.
package keepalive

import (
	"math"
	"net/http"
	"sync"
)

// Transport returns [http.DefaultTransport], but with as many idle connections to a host as there were concurrent
// requests. The default is two, so most concurrent requests would open a new connection.
var Transport = sync.OnceValue(func() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the program has replaced it
		return http.DefaultTransport
	}
	t := standard.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, math.MaxInt
	return t
})

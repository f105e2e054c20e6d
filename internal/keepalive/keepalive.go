// Package keepalive keeps idle HTTP connections open for further requests.
package keepalive

import (
	"math"
	"net/http"
	"sync"
)

// Transport returns a copy of [http.DefaultTransport] that keeps any number of idle connections to a host. The
// default transport keeps two, so that most concurrent requests would open a new connection.
var Transport = sync.OnceValue(func() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the program has replaced the default
		return http.DefaultTransport
	}
	t := standard.Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, math.MaxInt
	return t
})

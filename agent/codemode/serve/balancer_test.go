package serve_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

type ctx = context.Context

// roundRobin is a simple load balancer that does not know the protocol.
func roundRobin(t *testing.T, servers []string) string {
	t.Helper()
	var next atomic.Int64
	carrier := &http.Transport{}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Transport: carrier,
		Rewrite: func(r *httputil.ProxyRequest) {
			to, err := url.Parse(servers[int(next.Add(1))%len(servers)])
			if err != nil {
				t.Error(err)
			}
			r.SetURL(to)
		},
		FlushInterval: -1,
	})
	t.Cleanup(func() {
		proxy.Close()
		carrier.CloseIdleConnections()
	})
	return proxy.URL
}

package keepalive_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/writ-go/writ/internal/keepalive"
)

// Rounds of concurrent requests reuse the connections of the first.
func TestTransport(t *testing.T) {
	t.Parallel()
	const requests, rounds = 20, 10
	var connections atomic.Int32
	var arrived sync.WaitGroup // in a round; no request is answered before all have arrived
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived.Done()
		arrived.Wait()
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: keepalive.Transport()}
	for range rounds {
		var answered sync.WaitGroup
		arrived.Add(requests)
		for range requests {
			answered.Go(func() {
				response, err := client.Get(server.URL)
				if err != nil {
					t.Error(err)
					arrived.Done()
					return
				}
				defer response.Body.Close()
				_, _ = io.Copy(io.Discard, response.Body)
			})
		}
		answered.Wait()
	}
	if n := connections.Load(); n > 3*requests { // with two idle ones it is 182
		t.Errorf("%d connections for %d concurrent requests", n, requests)
	}
}

package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// A standalone stream that a proxy cuts is opened again where it ended.
func TestStandaloneIsReopened(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := opened.Add(1)
		if n == 4 { // no stream any more
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: %d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m%d\",\"params\":{\"after\":%q}}\n\n", n, n,
			r.Header.Get("Last-Event-ID"))
	}))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	responses := &responses{Config: &Config{Exchange: &message.Exchange{}, Limit: 1000}, next: http.DefaultTransport}
	s := &standalone{responses: responses, req: req, out: w, first: time.Millisecond, pause: time.Millisecond}
	done := make(chan struct{})
	go func() {
		s.run()
		_ = w.Close()
		close(done)
	}()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	equal(t, "events", string(text), `id: 1
data: {"jsonrpc":"2.0","method":"m1","params":{"after":""}}

id: 2
data: {"jsonrpc":"2.0","method":"m2","params":{"after":"1"}}

id: 3
data: {"jsonrpc":"2.0","method":"m3","params":{"after":"2"}}

`)
}

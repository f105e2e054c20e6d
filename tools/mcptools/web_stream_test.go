package mcptools

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// A standalone stream that never sends its headers blocks nothing.
func TestSilentStandaloneStream(t *testing.T) {
	leaks(t)
	asked := make(chan struct{}, 1)
	inner := script{"tools/call": result(oddResult)}.handler(asJSON, nil)
	url := serveWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		inner.ServeHTTP(w, r)
	}))
	s := open(t, ServerConfig{URL: url}, nil)
	equal(t, "result", call(t.Context(), list(t, s)["t"], `{}`), oddValue)
	<-asked
}

// A response that is interrupted is resumed if the server supports that.
func TestResumption(t *testing.T) {
	t.Parallel()
	var id atomic.Value
	resumed := make(chan string, 1)
	inner := script{}.handler(asEvents, func(w http.ResponseWriter, _ *http.Request, msg request) {
		id.Store(string(msg.ID))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: first\nretry: 1\ndata:\n\n")
	})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		last := r.Header.Get("Last-Event-ID")
		if r.Method != http.MethodGet || last == "" {
			inner.ServeHTTP(w, r)
			return
		}
		select {
		case resumed <- last:
			asEvents(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id.Load(), oddResult))
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	})
	s := open(t, ServerConfig{URL: serveWeb(t, h)}, nil)
	tool := list(t, s)["t"]
	equal(t, "resumed", call(t.Context(), tool, `{}`), oddValue)
	equal(t, "from", <-resumed, "first")
	resumed <- "full"
	equal(t, "not resumed", call(t.Context(), tool, `{}`),
		"unknown: the connection to the tool's server was lost; whether the call took effect is unknown")
	<-resumed
	equal(t, "resumed again", call(t.Context(), tool, `{}`), oddValue)
}

// The open requests of a server over HTTP are bounded: those beyond the limit are dropped.
func TestRequestsOverTheStandaloneStream(t *testing.T) {
	t.Parallel()
	const many = 1000
	var seen atomic.Int32
	full, release, all := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := open(t, ServerConfig{URL: serveWeb(t, sessions(func(w http.ResponseWriter, r *http.Request, msg request) bool {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range many {
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"method\":\"ping\"}\n\n", i)
			}
			_ = http.NewResponseController(w).Flush()
			<-full
			close(all)
			<-r.Context().Done()
		case r.Method == http.MethodPost && msg.Method == "":
			if seen.Add(1) == message.MaxOpen {
				close(full)
			}
			<-release
		default:
			return false
		}
		return true
	}))}, nil)
	<-all
	equal(t, "result", fmt.Sprint(len(list(t, s))), "1")
	equal(t, "answers under way", fmt.Sprint(seen.Load()), fmt.Sprint(message.MaxOpen))
	close(release)
}

// If a server does not respond to the end of its session, Close waits only for the grace
// period.
func TestCloseWaitsForGrace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := sessions(func(_ http.ResponseWriter, r *http.Request, _ request) bool {
			if r.Method == http.MethodDelete {
				<-r.Context().Done()
			}
			return r.Method == http.MethodDelete
		})
		s := open(t, ServerConfig{URL: "http://127.0.0.1/mcp"},
			&Options{Grace: 10 * time.Millisecond, HTTPClient: &http.Client{Transport: direct{h}}})
		begin := time.Now()
		equal(t, "closing", fmt.Sprint(s.Close()), "<nil>")
		equal(t, "it took", time.Since(begin).String(), "10ms") // the SDK waits for five seconds
	})
}

// direct calls a handler without a network, for tests with fake time.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), r.Context().Err()
}

package serve

import (
	"crypto/rand"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// linger is how long a stream stays open after its last response when the server ends.
const linger = 100 * time.Millisecond

// sseServer serves the protocol of 2024-11-05: a stream for the server's messages, and an
// address for the client's. The SDK's own handler accepts messages for a session from any
// client.
type sseServer struct {
	limits Limits
	mu     sync.Mutex
	all    map[string]*stream
	closed bool // no more sessions are accepted
}

type stream struct {
	owner Principal
	post  *mcp.SSEServerTransport
	conn  *drainer
}

// open serves a session, which lives as long as its stream.
func (s *sseServer) open(w http.ResponseWriter, r *http.Request, p Principal, server *mcp.Server) *refusal {
	id := rand.Text()
	post := &mcp.SSEServerTransport{
		Endpoint: sentPath(r) + "?sessionid=" + id, Response: w, MaxRequestBodyBytes: s.limits.Body,
	}
	one := &stream{owner: p, post: post, conn: newDrainer(post)}
	if refused := s.add(id, one); refused != nil {
		return refused
	}
	defer s.remove(id)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	live, err := server.Connect(r.Context(), one.conn, nil)
	if err != nil {
		return busy("cannot begin a session")
	}
	ended := make(chan struct{})
	go func() {
		_ = live.Wait() // its error does not matter
		close(ended)
	}()
	select {
	case <-r.Context().Done():
		one.conn.giveUp() // the responses cannot be delivered
		<-ended
	case <-ended:
	}
	return nil
}

// sentPath returns the path as the client sent it: the host may have stripped a prefix.
func sentPath(r *http.Request) string {
	if u, err := url.ParseRequestURI(r.RequestURI); err == nil {
		return u.EscapedPath()
	}
	return r.URL.EscapedPath()
}

// send passes a message to a session. A session of another principal is not found.
func (s *sseServer) send(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be 'application/json'", http.StatusUnsupportedMediaType)
		return nil
	}
	s.mu.Lock()
	one := s.all[r.URL.Query().Get("sessionid")]
	s.mu.Unlock()
	if one == nil || !one.owner.same(p) {
		http.Error(w, "session not found", http.StatusNotFound)
		return nil
	}
	call := callOf(r.Context())
	if call == nil {
		one.post.ServeHTTP(w, r)
		return nil
	}
	call.stays = true // until its response is sent over the stream
	id := one.conn.expect(m.id, call.leave)
	accepted := &response{ResponseWriter: w, control: http.NewResponseController(w), stall: s.limits.StallTimeout}
	if one.post.ServeHTTP(accepted, r); accepted.status() != http.StatusAccepted {
		one.conn.abandon(id)
	}
	return nil
}

func (s *sseServer) add(id string, one *stream) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return busy(errDraining.Message)
	}
	count := 0
	for _, other := range s.all {
		if other.owner.Name == one.owner.Name {
			count++
		}
	}
	if count >= s.limits.Sessions {
		return busy("you have too many sessions")
	}
	s.all[id] = one
	return nil
}

func (s *sseServer) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

func (s *sseServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// calls returns the number of calls without a response.
func (s *sseServer) calls() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		n += one.conn.calls()
	}
	return n
}

// drain ends all sessions, each after its calls.
func (s *sseServer) drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, one := range s.all {
		go one.conn.drain(linger)
	}
}

// giveUp ends all sessions immediately.
func (s *sseServer) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		one.conn.giveUp()
	}
}

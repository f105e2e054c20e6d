package serve

import (
	"crypto/rand"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lingering is how long a stream outlives its last answer when the server ends.
const lingering = 100 * time.Millisecond

// events serves the protocol of 2024-11-05: a stream for what the server says, and
// an address for what the client does. The SDK's own handler takes messages for a
// session from anybody.
type events struct {
	limits Limits
	mu     sync.Mutex
	all    map[string]*stream
	over   bool // no more begin
}

type stream struct {
	owner Principal
	post  *mcp.SSEServerTransport
	conn  *settling
}

// open serves a session: it lives as long as its stream.
func (e *events) open(w http.ResponseWriter, r *http.Request, p Principal, server *mcp.Server) *refusal {
	id := rand.Text()
	post := &mcp.SSEServerTransport{
		Endpoint: r.URL.Path + "?sessionid=" + id, Response: w, MaxRequestBodyBytes: e.limits.Body,
	}
	one := &stream{owner: p, post: post, conn: newSettling(post)}
	if refused := e.add(id, one); refused != nil {
		return refused
	}
	defer e.remove(id)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	live, err := server.Connect(r.Context(), one.conn, nil)
	if err != nil {
		return busy("the session could not be begun")
	}
	ended := make(chan struct{})
	go func() {
		_ = live.Wait() // however it ended
		close(ended)
	}()
	select {
	case <-r.Context().Done():
		one.conn.giveUp() // nobody is there to read the answers
		<-ended
	case <-ended:
	}
	return nil
}

// send hands a message to a session. One of somebody else is as if there were none.
func (e *events) send(w http.ResponseWriter, r *http.Request, p Principal, m message) *refusal {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be 'application/json'", http.StatusUnsupportedMediaType)
		return nil
	}
	e.mu.Lock()
	one := e.all[r.URL.Query().Get("sessionid")]
	e.mu.Unlock()
	if one == nil || !one.owner.same(p) {
		http.Error(w, "session not found", http.StatusNotFound)
		return nil
	}
	call := callOf(r.Context())
	if call == nil {
		one.post.ServeHTTP(w, r)
		return nil
	}
	call.stays = true // until it is answered, over the stream
	id := one.conn.expect(m.id, call.leave)
	accepted := &response{ResponseWriter: w, control: http.NewResponseController(w), stall: e.limits.Stall}
	if one.post.ServeHTTP(accepted, r); accepted.status() != http.StatusAccepted {
		one.conn.abandon(id)
	}
	return nil
}

func (e *events) add(id string, one *stream) *refusal {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return busy(errDraining.Message)
	}
	count := 0
	for _, other := range e.all {
		if other.owner.Name == one.owner.Name {
			count++
		}
	}
	if count >= e.limits.Sessions {
		return busy("you have too many sessions")
	}
	e.all[id] = one
	return nil
}

func (e *events) remove(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.all, id)
}

func (e *events) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.all)
}

// calls is how many of all sessions have no answer yet.
func (e *events) calls() (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.all {
		n += one.conn.calls()
	}
	return n
}

// drain ends all sessions, each after its calls.
func (e *events) drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
	for _, one := range e.all {
		go one.conn.drain(lingering)
	}
}

// giveUp ends them now.
func (e *events) giveUp() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.all {
		one.conn.giveUp()
	}
}

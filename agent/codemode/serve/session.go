package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const sessionHeader = "Mcp-Session-Id"

// sessions are the sessions of clients that use the older protocols. The SDK does not know their owners and does not
// bound their number.
type sessions struct {
	limits  limits
	meters  *meters
	handler http.Handler // the SDK's
	mu      sync.Mutex
	all     map[string]*session
	closed  bool // no more sessions are accepted
	ending  sync.WaitGroup
}

type session struct {
	id       string
	owner    Principal
	server   *mcp.Server
	live     *mcp.ServerSession
	open     int       // number of open requests
	lastUsed time.Time // when the last request ended
	idle     *time.Timer
}

// begin handles the first request in a session.
func (s *sessions) begin(w http.ResponseWriter, r *http.Request, p Principal, server *mcp.Server) *refusal {
	s.mu.Lock()
	room := s.trim(p.Name, s.limits.sessions-1)
	s.mu.Unlock()
	if !room {
		return busy("you have too many sessions, and all of them are in use; end one and try again")
	}
	var begun *session
	o := &idRecorder{ResponseWriter: w, found: func(id string) {
		begun = s.add(id, p, server)
	}}
	defer func() {
		if begun != nil {
			s.release(begun)
		}
	}()
	s.handler.ServeHTTP(o, withServer(r, server))
	o.record() // in case the client disconnected before anything was written
	return nil
}

// use handles a further request in a session. For other principals, the session does not exist.
func (s *sessions) use(w http.ResponseWriter, r *http.Request, p Principal) {
	one := s.acquire(r.Header.Get(sessionHeader), p)
	if one == nil {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	defer s.release(one)
	s.handler.ServeHTTP(w, withServer(r, one.server))
}

func (s *sessions) add(id string, owner Principal, server *mcp.Server) *session {
	one := &session{id: id, owner: owner, server: server, open: 1}
	for live := range server.Sessions() {
		if live.ID() == id {
			one.live = live
		}
	}
	if one.live == nil {
		return nil // the session has already ended
	}
	one.idle = time.AfterFunc(s.limits.idle, func() { s.expire(one) })
	one.idle.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go one.live.Close() // Close waits for the request that began the session
		return nil
	}
	s.all[id] = one
	ended := s.meters.session()
	s.ending.Go(func() {
		_ = one.live.Wait() // how the session ended does not matter
		s.forget(one)
		ended()
	})
	return one
}

func (s *sessions) acquire(id string, p Principal) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[id]
	if one == nil || !one.owner.same(p) {
		return nil
	}
	one.open++
	one.idle.Stop()
	return one
}

func (s *sessions) release(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.open--
	one.lastUsed = time.Now()
	if one.open == 0 && s.all[one.id] == one {
		one.idle.Reset(s.limits.idle)
		s.trim(one.owner.Name, s.limits.sessions) // sessions that began at the same time may exceed the limit
	}
}

func (s *sessions) forget(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.idle.Stop()
	delete(s.all, one.id)
}

func (s *sessions) expire(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.open == 0 && s.all[one.id] == one {
		s.end(one)
	}
}

// trim ends idle sessions of the owner, beginning with the session that has been idle for the longest time,
// until at most max sessions are left. It returns false if too many are in use. The caller must hold s.mu.
func (s *sessions) trim(owner string, max int) bool {
	for {
		count := 0
		var oldest *session
		for _, one := range s.all {
			if one.owner.Name != owner {
				continue
			}
			count++
			if one.open == 0 && (oldest == nil || one.lastUsed.Before(oldest.lastUsed)) {
				oldest = one
			}
		}
		if count <= max || oldest == nil {
			return count <= max
		}
		s.end(oldest)
	}
}

// end ends a session when its running calls have ended. The caller must hold s.mu.
func (s *sessions) end(one *session) {
	one.idle.Stop()
	delete(s.all, one.id)
	s.ending.Go(func() { _ = one.live.Close() })
}

// close ends each session when its running calls have ended. It reports whether all sessions ended before
// ctx.
func (s *sessions) close(ctx context.Context) bool {
	s.mu.Lock()
	s.closed = true
	for _, one := range s.all {
		s.end(one)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		s.ending.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// idRecorder is an [http.ResponseWriter] that calls found with the ID of a new session before the client receives it.
type idRecorder struct {
	http.ResponseWriter
	once  sync.Once
	found func(id string)
}

// Unwrap is for [http.ResponseController].
func (o *idRecorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *idRecorder) record() {
	o.once.Do(func() {
		if id := o.Header().Get(sessionHeader); id != "" {
			o.found(id)
		}
	})
}

// WriteHeader implements [http.ResponseWriter].
func (o *idRecorder) WriteHeader(code int) {
	o.record()
	o.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (o *idRecorder) Write(p []byte) (int, error) {
	o.record()
	return o.ResponseWriter.Write(p)
}

type serverKey struct{}

// withServer returns a request with the server that the SDK uses for it.
func withServer(r *http.Request, server *mcp.Server) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), serverKey{}, server))
}

func serverOf(r *http.Request) *mcp.Server {
	server, _ := r.Context().Value(serverKey{}).(*mcp.Server)
	return server
}

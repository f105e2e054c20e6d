package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Progress is what a server says of a call that it is working on.
type Progress struct {
	Server  string
	Tool    string  // its name as the server knows it
	Done    float64 // so far, in a unit of the server's own; it should grow
	Total   float64 // 0 if unknown
	Message string
}

// Log is a line of a server's log.
type Log struct {
	Server string
	Level  string          // debug, info, notice, warning, error, critical, alert or emergency
	Logger string          // the part of the server that wrote it; may be empty
	Data   json.RawMessage // what was logged: text or any other JSON
}

const (
	eventsKept = 4 << 20                // bytes of notifications that wait for the host
	eventCost  = 256                    // bytes that each counts at least
	settleTime = 500 * time.Millisecond // after a change of tools, for more of them
)

// events hands the notifications of one server to the host: in order, one at a
// time, and beside the connection, which a slow host must not hold up. A server
// that says more than the host takes in is heard in part.
type events struct {
	server *server

	mu      sync.Mutex
	queue   []event
	size    int
	running bool
	ended   bool
	changed *time.Timer        // runs while changes of tools settle
	calls   map[string]*ticket // by progress token
	tokens  int
}

type event struct {
	size int
	tell func()
}

// ticket is a call whose progress is wanted.
type ticket struct {
	ctx  context.Context
	tool string
}

func newEvents(s *server) *events { return &events{server: s, calls: map[string]*ticket{}} }

// post queues an event, or drops it if there are too many.
func (e *events) post(size int, tell func()) {
	e.mu.Lock()
	size += eventCost
	full := e.size+size > eventsKept
	if !full && !e.ended {
		e.queue = append(e.queue, event{size, tell})
		e.size += size
		if !e.running {
			e.running = true
			go e.deliver()
		}
	}
	e.mu.Unlock()
	if full {
		e.server.warn("it sends notifications faster than they are handled; some were dropped")
	}
}

// deliver empties the queue.
func (e *events) deliver() {
	for {
		e.mu.Lock()
		if len(e.queue) == 0 {
			e.queue, e.running = nil, false
			e.mu.Unlock()
			return
		}
		next := e.queue[0]
		e.queue = e.queue[1:]
		e.size -= next.size
		e.mu.Unlock()
		next.tell()
	}
}

// close drops what has not been delivered.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended, e.queue, e.size = true, nil, 0
	if e.changed != nil {
		e.changed.Stop()
	}
}

// note takes in a notification that was received. What is malformed, unknown
// or not asked for is ignored.
func (e *events) note(method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		e.progress(params)
	case "notifications/message":
		e.log(params)
	case "notifications/tools/list_changed":
		e.toolsChanged()
	}
}

// expect asks for the progress of a call, and returns its token and what ends
// the interest in it.
func (e *events) expect(ctx context.Context, tool string) (token string, forget func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tokens++
	token = strconv.Itoa(e.tokens)
	e.calls[token] = &ticket{ctx: ctx, tool: tool}
	return token, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.calls, token)
	}
}

func (e *events) progress(params json.RawMessage) {
	var p mcp.ProgressNotificationParams
	tell := e.server.o.OnProgress
	if tell == nil || json.Unmarshal(params, &p) != nil {
		return
	}
	e.mu.Lock()
	call := e.calls[fmt.Sprint(p.ProgressToken)]
	e.mu.Unlock()
	if call == nil {
		return
	}
	progress := Progress{Server: e.server.name, Tool: call.tool, Done: p.Progress, Total: p.Total, Message: p.Message}
	e.post(len(p.Message), func() { tell(call.ctx, progress) })
}

func (e *events) log(params json.RawMessage) {
	var l struct {
		Level, Logger string
		Data          json.RawMessage
	}
	tell := e.server.o.OnLog
	if tell == nil || json.Unmarshal(params, &l) != nil {
		return
	}
	log := Log{Server: e.server.name, Level: l.Level, Logger: l.Logger, Data: l.Data}
	e.post(len(params), func() { tell(log) })
}

// toolsChanged tells the host once of all changes in a while.
func (e *events) toolsChanged() {
	tell := e.server.o.OnToolsChanged
	if tell == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.changed != nil || e.ended {
		return
	}
	e.changed = time.AfterFunc(settleTime, func() {
		e.mu.Lock()
		e.changed = nil
		e.mu.Unlock()
		e.post(0, func() { tell(e.server.name) })
	})
}

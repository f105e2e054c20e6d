package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"
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
	noticesKept = 4 << 20                // bytes of notifications that wait for the host
	noticeCost  = 256                    // bytes that each counts at least
	settleTime  = 500 * time.Millisecond // after a change of tools, for more of them
)

// notices hands the notifications of one server to the host: in order, one at a
// time, and beside the connection, which a slow host must not hold up. A server
// that says more than the host takes in is heard in part.
type notices struct {
	server *server

	mu      sync.Mutex
	queue   []notice
	size    int
	running bool
	ended   bool
	changed *time.Timer        // runs while changes of tools settle
	calls   map[string]*ticket // by progress token
	tokens  int
}

type notice struct {
	size int
	tell func()
}

// ticket is a call whose progress is wanted.
type ticket struct {
	ctx  context.Context
	tool string
}

func newNotices(s *server) *notices { return &notices{server: s, calls: map[string]*ticket{}} }

// post queues a notice, or drops it if there are too many.
func (n *notices) post(size int, tell func()) {
	n.mu.Lock()
	size += noticeCost
	full := n.size+size > noticesKept
	if !full && !n.ended {
		n.queue = append(n.queue, notice{size, tell})
		n.size += size
		if !n.running {
			n.running = true
			go n.deliver()
		}
	}
	n.mu.Unlock()
	if full {
		n.server.warn("it sends notifications faster than they are handled; some were dropped")
	}
}

// deliver empties the queue.
func (n *notices) deliver() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.queue, n.running = nil, false
			n.mu.Unlock()
			return
		}
		next := n.queue[0]
		n.queue = n.queue[1:]
		n.size -= next.size
		n.mu.Unlock()
		next.tell()
	}
}

// close drops what has not been delivered.
func (n *notices) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended, n.queue, n.size = true, nil, 0
	if n.changed != nil {
		n.changed.Stop()
	}
}

// note takes in a notification that was received. What is malformed, unknown
// or not asked for is ignored.
func (n *notices) note(method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		n.progress(params)
	case "notifications/message":
		n.log(params)
	case "notifications/tools/list_changed":
		if n.server.keeper != nil { // which tells the host, if they have
			n.server.keeper.wake()
			return
		}
		n.toolsChanged()
	}
}

// expect asks for the progress of a call, and returns its token and what ends
// the interest in it.
func (n *notices) expect(ctx context.Context, tool string) (token string, forget func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tokens++
	token = strconv.Itoa(n.tokens)
	n.calls[token] = &ticket{ctx: ctx, tool: tool}
	return token, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.calls, token)
	}
}

func (n *notices) progress(params json.RawMessage) {
	p := Progress{Server: n.server.name}
	var token json.RawMessage
	tell := n.server.o.OnProgress
	if tell == nil || decodeExactly(params, field{"progressToken", &token},
		field{"progress", &p.Done}, field{"total", &p.Total}, field{"message", &p.Message}) != nil {
		return
	}
	n.mu.Lock()
	call := n.calls[string(bytes.Trim(token, `"`))]
	n.mu.Unlock()
	if call == nil {
		return
	}
	p.Tool = call.tool
	n.post(len(p.Message), func() { tell(call.ctx, p) })
}

func (n *notices) log(params json.RawMessage) {
	var l struct {
		Level, Logger string
		Data          json.RawMessage
	}
	tell := n.server.o.OnLog
	if tell == nil || json.Unmarshal(params, &l) != nil {
		return
	}
	log := Log{Server: n.server.name, Level: l.Level, Logger: l.Logger, Data: l.Data}
	n.post(len(params), func() { tell(log) })
}

// toolsChanged tells the host once of all changes in a while.
func (n *notices) toolsChanged() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server.o.OnToolsChanged == nil || n.changed != nil || n.ended {
		return
	}
	n.changed = time.AfterFunc(settleTime, func() {
		n.mu.Lock()
		n.changed = nil
		n.mu.Unlock()
		n.tellChanged()
	})
}

func (n *notices) tellChanged() {
	if tell := n.server.o.OnToolsChanged; tell != nil {
		n.post(0, func() { tell(n.server.name) })
	}
}

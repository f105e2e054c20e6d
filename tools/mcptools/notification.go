package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/writ-go/writ/internal/jsonscan"
)

// Progress is a report about a call that a server is working on.
type Progress struct {
	Server  string
	Tool    string  // the tool's name on the server
	Done    float64 // so far, in a unit that the server chooses
	Total   float64 // 0 if unknown
	Message string
}

const (
	maxQueued        = 4 << 20                // bytes of notifications that wait for the host
	notificationCost = 256                    // bytes added to each notification's size
	settleTime       = 500 * time.Millisecond // how long to wait for further changes of tools
)

// notifications passes the notifications of one server to the host: in order, one at a time, and
// without blocking the connection. If the host is too slow, some notifications are dropped.
type notifications struct {
	server *server

	mu      sync.Mutex
	queue   []notification
	size    int
	running bool
	closed  bool
	changed *time.Timer               // runs from the first change of the tools until it is reported
	calls   map[string]func(Progress) // by progress token
	tokens  int
}

type notification struct {
	size   int
	report func()
}

type progressKey struct{}

// WithProgress returns a context for tool calls whose progress is passed to report. Without it, servers are not asked
// to report progress. For one server, report and [Options].OnToolsChanged are called one at a time, in order, and
// possibly after the call has ended. If they are too slow, some notifications are dropped, with a warning.
func WithProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

func newNotifications(s *server) *notifications {
	return &notifications{server: s, calls: map[string]func(Progress){}}
}

// post queues a notification, or drops it if the queue is full.
func (n *notifications) post(size int, report func()) {
	n.mu.Lock()
	size += notificationCost
	full := n.size+size > maxQueued
	if !full && !n.closed {
		n.queue = append(n.queue, notification{size, report})
		n.size += size
		if !n.running {
			n.running = true
			go n.deliver()
		}
	}
	n.mu.Unlock()
	if full {
		n.server.warn("it sends notifications faster than the host handles them; some were dropped")
	}
}

// deliver passes the queued notifications to the host.
func (n *notifications) deliver() {
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
		next.report()
	}
}

// close drops the notifications that have not been delivered.
func (n *notifications) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed, n.queue, n.size = true, nil, 0
	if n.changed != nil {
		n.changed.Stop()
	}
}

// receive handles a notification. It ignores malformed, unknown and unwanted notifications.
func (n *notifications) receive(method string, params json.RawMessage) {
	switch method {
	case "notifications/progress":
		n.progress(params)
	case "notifications/tools/list_changed":
		if n.server.refresher != nil { // the refresher reports the change after a listing
			n.server.refresher.wake()
			return
		}
		n.toolsChanged()
	}
}

// expectProgress returns a progress token for a call, and a function that invalidates the token.
func (n *notifications) expectProgress(tool string, report func(Progress)) (token string, forget func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tokens++
	token = strconv.Itoa(n.tokens)
	n.calls[token] = func(p Progress) {
		p.Tool = tool
		report(p)
	}
	return token, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.calls, token)
	}
}

func (n *notifications) progress(params json.RawMessage) {
	p := Progress{Server: n.server.name}
	var token json.RawMessage
	if jsonscan.Object(params, jsonscan.Fields{
		"progressToken": &token, "progress": &p.Done, "total": &p.Total, "message": &p.Message,
	}) != nil {
		return
	}
	n.mu.Lock()
	report := n.calls[string(bytes.Trim(token, `"`))]
	n.mu.Unlock()
	if report != nil {
		n.post(len(p.Message), func() { report(p) })
	}
}

// toolsChanged reports a change of the tools after [settleTime], together with all changes until then.
func (n *notifications) toolsChanged() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server.o.OnToolsChanged == nil || n.changed != nil || n.closed {
		return
	}
	n.changed = time.AfterFunc(settleTime, func() {
		n.mu.Lock()
		n.changed = nil
		n.mu.Unlock()
		n.reportChange()
	})
}

func (n *notifications) reportChange() {
	if report := n.server.o.OnToolsChanged; report != nil {
		n.post(0, func() { report(n.server.name) })
	}
}

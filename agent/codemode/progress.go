package codemode

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/mcptools"
	"golang.org/x/time/rate"
)

// progressInterval is the minimum time between the progress reports of servers that are forwarded during one call.
const progressInterval = time.Second

// progress returns a context in which servers' progress reports are forwarded to the client, a function that notifies
// the client of other progress, and a function that the caller must call at the end. Clients are notified only if they
// sent a progress token. Notifications are dropped if they are too frequent, or if the client reads too slowly.
func (c *client) progress(ctx context.Context, r *mcp.CallToolRequest) (_ context.Context, tell func(string),
	end func()) {
	token, done := r.Params.GetProgressToken(), 0.0
	if token == nil {
		return ctx, func(string) {}, func() {}
	}
	var mu sync.Mutex
	limit := rate.NewLimiter(10, 20) // a program may make calls in a loop
	tell = func(message string) {
		mu.Lock()
		defer mu.Unlock()
		if token == nil || message == "" || !limit.Allow() {
			return
		}
		done++
		// The error is ignored: other code notices that a client has disconnected.
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done,
			Message: message})
	}
	var passing atomic.Bool
	pass := func(p mcptools.Progress) {
		if passing.CompareAndSwap(false, true) {
			go func() {
				message := fmt.Sprintf("%s.%s: %s", p.Server, p.Tool, cmp.Or(p.Message, fmt.Sprint(p.Done)))
				tell(cut(c.app.secrets.text(message), 500))
				time.AfterFunc(progressInterval, func() { passing.Store(false) })
			}()
		}
	}
	return mcptools.WithProgress(ctx, pass), tell, func() {
		mu.Lock()
		defer mu.Unlock()
		token = nil
	}
}

// onCall returns the handler for tool calls that have ended.
func (c *client) onCall(tell func(message string)) func(sandbox.Call) {
	return func(call sandbox.Call) {
		c.logCause(call)
		tell(called(call))
	}
}

// logCause logs the cause of a failed call if the message for the model omits it, such as a panic's stack.
func (c *client) logCause(call sandbox.Call) {
	if call.Error == nil {
		return
	}
	if cause := call.Error.Unwrap(); cause != nil && !strings.Contains(call.Error.Message, cause.Error()) {
		c.app.log.Error("a tool failed", "tool", call.Tool, "client", c.principal.Name, "err", cause)
	}
}

// onEvent returns the handler for a task's events.
func (c *client) onEvent(tell func(message string)) func(context.Context, event.Event) {
	return func(_ context.Context, e event.Event) {
		if end, ok := e.(event.ToolCallEnd); ok {
			c.logCause(end.Call)
		}
		tell(happening(e))
	}
}

func happening(e event.Event) string {
	switch e := e.(type) {
	case event.ModelRequest:
		return fmt.Sprintf("step %d: asking the model", e.Step)
	case event.ProgramStart:
		return fmt.Sprintf("step %d: running a program", e.Step)
	case event.ToolCallEnd:
		return called(e.Call)
	case event.ProgramEnd:
		if e.Outcome != nil && e.Outcome.Failure != nil {
			return fmt.Sprintf("step %d: the program failed (%s)", e.Step, e.Outcome.Failure.Kind)
		}
		return fmt.Sprintf("step %d: the program has ended", e.Step)
	}
	return ""
}

func called(c sandbox.Call) string {
	switch {
	case rejected(c):
		return c.Tool + " was not called"
	case c.Error != nil:
		return c.Tool + " failed"
	}
	return c.Tool + " is done"
}

// rejected reports whether a call was certainly not made, for example because its arguments were invalid.
func rejected(c sandbox.Call) bool {
	return c.Error != nil && dispatch.StateOf(c.Error) == dispatch.StateRejected
}

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
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools/mcptools"
	"golang.org/x/time/rate"
)

// progressInterval is the minimum time between two reports of servers that a client receives during a call.
const progressInterval = time.Second

// progress returns a context in which the progress of servers is forwarded to the client, a function
// that notifies the client of other progress, and a function that must be called when the call ends.
// Clients are notified only if they sent a progress token. Notifications are dropped if they are too
// frequent, or if the client reads too slowly.
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
		// A client that has gone is noticed elsewhere.
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

// onCall returns a function that is called when a call of a tool has ended.
func (c *client) onCall(tell func(message string)) func(sandbox.Call) {
	return func(call sandbox.Call) {
		c.logCause(call)
		tell(called(call))
	}
}

// logCause logs why a call failed if the model was not told, such as the stack of a panic.
func (c *client) logCause(call sandbox.Call) {
	if call.Error == nil {
		return
	}
	if cause := call.Error.Unwrap(); cause != nil && !strings.Contains(call.Error.Message, cause.Error()) {
		c.app.log.Error("a tool failed", "tool", call.Tool, "client", c.principal.Name, "err", cause)
	}
}

// onEvent returns a function that is called for each event of a task.
func (c *client) onEvent(tell func(message string)) func(context.Context, module.Event) {
	return func(_ context.Context, e module.Event) {
		if end, ok := e.(module.ToolCallEnd); ok {
			c.logCause(end.Call)
		}
		tell(happening(e))
	}
}

func happening(e module.Event) string {
	switch e := e.(type) {
	case module.ModelRequest:
		return fmt.Sprintf("step %d: asking the model", e.Step)
	case module.ProgramStart:
		return fmt.Sprintf("step %d: running a program of %s", e.Step, lineCount(e.Code))
	case module.ToolCallEnd:
		return called(e.Call)
	case module.ProgramEnd:
		if e.Outcome != nil && e.Outcome.Failure != nil {
			return fmt.Sprintf("step %d: the program failed (%s)", e.Step, e.Outcome.Failure.Kind)
		}
		return fmt.Sprintf("step %d: the program has ended", e.Step)
	}
	return ""
}

func lineCount(code string) string {
	if n := strings.Count(strings.TrimSpace(code), "\n") + 1; n > 1 {
		return fmt.Sprintf("%d lines", n)
	}
	return "1 line"
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

// rejected reports whether a tool was certainly not called, for example because of its arguments.
func rejected(c sandbox.Call) bool {
	return c.Error != nil && dispatch.StateOf(c.Error) == dispatch.StateRejected
}

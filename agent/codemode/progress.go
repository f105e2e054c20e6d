package codemode

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// progress returns a function that notifies a client of the progress of its call, or nil if the
// client did not ask for that.
func progress(ctx context.Context, r *mcp.CallToolRequest) func(message string) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var mu sync.Mutex
	done := 0.0
	return func(message string) {
		mu.Lock()
		defer mu.Unlock()
		done++
		// A client that has gone is noticed elsewhere.
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done,
			Message: message})
	}
}

// onCall returns a function that is called when a call of a tool has ended.
func (c *client) onCall(ctx context.Context, r *mcp.CallToolRequest) func(sandbox.Call) {
	tell := progress(ctx, r)
	return func(call sandbox.Call) {
		c.logCause(call)
		if tell != nil {
			tell(called(call))
		}
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
func (c *client) onEvent(ctx context.Context, r *mcp.CallToolRequest) func(context.Context, module.Event) {
	tell := progress(ctx, r)
	return func(_ context.Context, e module.Event) {
		if end, ok := e.(module.ToolCallEnd); ok {
			c.logCause(end.Call)
		}
		if tell == nil {
			return
		}
		if message := happening(e); message != "" {
			tell(message)
		}
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
	return c.Error != nil && tools.StateOf(c.Error) == tools.StateRejected
}

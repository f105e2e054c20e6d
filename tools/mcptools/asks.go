package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxQuestions bounds what a server may ask until it answers a call: a user is
// not to be worn down until he agrees.
const maxQuestions = 20

// asks counts a server's questions.
type asks struct{ open atomic.Int32 }

// answered starts the count anew.
func (a *asks) answered() { a.open.Store(0) }

func (a *asks) another() error {
	if a.open.Add(1) > maxQuestions {
		return fmt.Errorf("more than %d questions without the answer to a call; no more are answered", maxQuestions)
	}
	return nil
}

// clientOptions tells the SDK what the host can be asked and told. What has no
// callback is not offered to the server.
func (c *connection) clientOptions() *mcp.ClientOptions {
	o := c.server.o
	options := &mcp.ClientOptions{
		// No roots: a server that is told of them may ask for them, and take
		// the empty answer for an order.
		Capabilities: &mcp.ClientCapabilities{},
		Logger:       o.Logger,
	}
	if o.OnElicit != nil {
		options.ElicitationHandler = c.elicit
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}
	}
	if o.OnSample != nil {
		options.CreateMessageHandler = c.sample
	}
	c.hearBySDK(options)
	return options
}

func (c *connection) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if err := c.asks.another(); err != nil {
		return nil, err
	}
	answer, err := c.server.o.OnElicit(ctx, c.server.name, r.Params)
	if answer == nil && err == nil {
		err = errors.New("the client gave no answer")
	}
	return answer, err
}

func (c *connection) sample(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) { //nolint:staticcheck // servers of before 2026-07-28 have nothing else
	if err := c.asks.another(); err != nil {
		return nil, err
	}
	answer, err := c.server.o.OnSample(ctx, c.server.name, r.Params)
	if answer == nil && err == nil {
		err = errors.New("the client gave no answer")
	}
	return answer, err
}

// hearBySDK has the SDK hand on what [heard] does not hear. The handler of
// changed tools also makes it subscribe to them.
func (c *connection) hearBySDK(options *mcp.ClientOptions) {
	notices, o := c.server.notices, c.server.o
	if o.OnToolsChanged != nil {
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { notices.toolsChanged() }
	}
	if o.OnProgress != nil {
		options.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			noteParams(r.Params, notices.progress)
		}
	}
	if o.OnLog != nil {
		options.LoggingMessageHandler = func(_ context.Context, r *mcp.LoggingMessageRequest) { //nolint:staticcheck // as above
			noteParams(r.Params, notices.log)
		}
	}
}

func noteParams(params any, note func(json.RawMessage)) {
	if raw, err := json.Marshal(params); err == nil {
		note(raw)
	}
}

// wantLogs asks the server for its log, if the host wants that. A server that
// refuses decides by itself what it sends.
func (c *connection) wantLogs(ctx context.Context) {
	said := c.session.InitializeResult()
	if c.server.o.OnLog == nil || said == nil || said.Capabilities == nil || said.Capabilities.Logging == nil || c.modern() {
		return
	}
	level := mcp.LoggingLevel(c.server.o.LogLevel)
	_ = c.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: level}) //nolint:staticcheck // as above
}

// modern reports whether the protocol is of the newer kind, in which every
// request says what else it wants.
func (c *connection) modern() bool { return c.version() > olderVersion }

package mcptools

import (
	"context"
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
	if o.OnToolsChanged != nil {
		// It makes the SDK subscribe; the notice itself is heard before.
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) {}
	}
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

func (c *connection) sample(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	if err := c.asks.another(); err != nil {
		return nil, err
	}
	answer, err := c.server.o.OnSample(ctx, c.server.name, r.Params)
	if answer == nil && err == nil {
		err = errors.New("the client gave no answer")
	}
	return answer, err
}

// wantLogs asks the server for its log, if the host wants that. A server that
// refuses decides by itself what it sends.
func (c *connection) wantLogs(ctx context.Context) {
	said := c.session.InitializeResult()
	if c.server.o.OnLog == nil || said == nil || said.Capabilities == nil || said.Capabilities.Logging == nil || c.modern() {
		return
	}
	level := mcp.LoggingLevel(c.server.o.LogLevel)
	_ = c.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: level})
}

// modern reports whether the protocol is of the newer kind, in which every
// request says what else it wants.
func (c *connection) modern() bool { return c.version() > olderVersion }

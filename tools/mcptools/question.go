package mcptools

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxQuestions is how many questions of a server are answered until it responds to a call. The limit
// keeps a server from wearing the user down.
const maxQuestions = 20

// clientOptions returns the options for the SDK's client. They offer the server only capabilities that have a callback.
func (c *connection) clientOptions() *mcp.ClientOptions {
	o := c.server.o
	options := &mcp.ClientOptions{
		// No roots: a server may treat an empty list of roots as a restriction.
		Capabilities: &mcp.ClientCapabilities{},
		Logger:       o.Logger,
	}
	if o.OnElicit != nil {
		options.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if c.questions.Add(1) > maxQuestions {
				return nil, fmt.Errorf("more than %d questions without a response to a call; no more are answered",
					maxQuestions)
			}
			answer, err := o.OnElicit(ctx, c.server.name, r.Params)
			if answer == nil && err == nil {
				err = errors.New("the client gave no answer")
			}
			return answer, err
		}
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}
	}
	if o.OnToolsChanged != nil {
		// The handler makes the SDK subscribe. The exchange handles the notification itself.
		options.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) {}
	}
	return options
}

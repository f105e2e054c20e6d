package codemode

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

// definitions contains the name, description, schemas and annotations of each tool, as clients get
// them. The schemas are written by hand and use only those parts of JSON Schema that all clients understand.
//
//go:embed definitions/*.json
var definitions embed.FS

// names returns the names of all of the server's tools.
func names() []string {
	entries, err := definitions.ReadDir("definitions")
	if err != nil {
		panic(err) // unreachable: it is part of the executable
	}
	var list []string
	for _, e := range entries {
		list = append(list, strings.TrimSuffix(e.Name(), ".json"))
	}
	return list
}

// definition returns the definition of a tool, with its schemas as json.RawMessage.
func definition(name string) mcp.Tool {
	text, err := definitions.ReadFile("definitions/" + name + ".json")
	if err != nil {
		panic(err) // unreachable: a test offers every tool
	}
	var d struct {
		mcp.Tool
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err)) // unreachable, as above
	}
	d.Tool.InputSchema, d.Tool.OutputSchema = d.InputSchema, d.OutputSchema
	return d.Tool
}

// tool is a tool of this server.
type tool struct {
	mcp.Tool
	read   func(arguments json.RawMessage) (action, error)
	failed func(*problem) result // converts a problem to a result; if nil, the result is only the message
}

// action is a call whose arguments are valid.
type action func(ctx context.Context, r *mcp.CallToolRequest) (any, error)

// result is the result of a tool that can report a failure, and provides its own content for clients
// that ignore structured content.
type result interface {
	failed() bool
	content() []mcp.Content
}

// offer makes a tool from a function. Arguments are checked against the schema of t, so In does not need to
// check them. The result becomes structured content.
func offer[In, Out any](t mcp.Tool, do func(ctx context.Context, r *mcp.CallToolRequest, in In) (Out, error)) tool {
	input, err := schema.Compile(t.InputSchema.(json.RawMessage))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", t.Name, err)) // unreachable: a test offers every tool
	}
	return tool{Tool: t, read: func(arguments json.RawMessage) (action, error) {
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		if findings := input.Validate(arguments); len(findings) > 0 {
			return nil, &problem{invalidArgument, schema.Summary(findings)}
		}
		var in In
		if err := json.Unmarshal(arguments, &in); err != nil {
			return nil, invalid("%v", err)
		}
		return func(ctx context.Context, r *mcp.CallToolRequest) (any, error) { return do(ctx, r, in) }, nil
	}}
}

// failing returns the tool with a function that converts a problem to a result.
func (t tool) failing(failed func(*problem) result) tool {
	t.failed = failed
	return t
}

// call checks the arguments and makes the call. A panic becomes an error, so that one call cannot end the server for
// all clients. The check takes far more memory than the arguments as JSON, so only a few checks run at once.
func (c *client) call(ctx context.Context, t tool, r *mcp.CallToolRequest) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	ctx = serve.WithPrincipal(ctx, c.principal) // for tools that are host functions
	var act action
	err = forModel(c.app.checks.Do(ctx, c.principal.Name, func(context.Context) error {
		act, err = t.read(r.Params.Arguments)
		return err
	}))
	if err == nil {
		out, err = act(ctx, r)
	}
	if p, ok := errors.AsType[*problem](err); ok && t.failed != nil {
		return t.failed(p), nil
	}
	return out, err
}

// handler returns the tool's handler for the SDK.
func (c *client) handler(t tool) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		out, err := c.call(ctx, t, r)
		if p, ok := errors.AsType[*problem](err); ok {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: p.message}}, IsError: true}, nil
		}
		if err == nil {
			var result *mcp.CallToolResult
			if result, err = structured(out); err == nil {
				return result, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.app.log.Error(t.Name, "err", err)
		return nil, errServer
	}
}

// structured converts a result to structured content and to content that a model can read.
func structured(out any) (*mcp.CallToolResult, error) {
	text, err := jsonvalue.Marshal(out)
	if err != nil {
		return nil, err
	}
	r := &mcp.CallToolResult{StructuredContent: json.RawMessage(text)}
	if own, ok := out.(result); ok {
		r.IsError, r.Content = own.failed(), own.content()
		return r, nil
	}
	r.Content = []mcp.Content{&mcp.TextContent{Text: string(text)}}
	return r, nil
}

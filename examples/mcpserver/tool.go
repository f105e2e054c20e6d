package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/signature/schema"
)

// tool is one tool of this server. Its schemas are written by hand: clients
// differ in what they understand, and all of them understand these.
type tool struct {
	mcp.Tool
	read func(arguments json.RawMessage) (action, error)
	form func(*problem) any // what is wrong with a call, as a result; nil makes a text of it
}

// action is a call whose arguments are good.
type action func(ctx context.Context, r *mcp.CallToolRequest) (any, error)

// failing is a result that can report a failure.
type failing interface{ failed() bool }

// offer makes a tool of a function. Arguments are checked against the schema, so
// that In only has to hold them; a result becomes structured content.
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

// telling converts the error of a call into a result.
func (t tool) telling(form func(*problem) any) tool {
	t.form = form
	return t
}

// call checks the arguments and makes the call. A panic is an error: one client's must not
// end the server for all. Arguments take far more memory while they are checked than
// they did as text, so calls take turns at it.
func (c *client) call(ctx context.Context, t tool, r *mcp.CallToolRequest) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	var act action
	err = forModel(c.app.checks.Do(ctx, c.principal.Name, func(context.Context) error {
		act, err = t.read(r.Params.Arguments)
		return err
	}))
	if err == nil {
		out, err = act(ctx, r)
	}
	if p, ok := errors.AsType[*problem](err); ok && t.form != nil {
		return t.form(p), nil
	}
	return out, err
}

// handler is the tool as the SDK wants it.
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

func structured(out any) (*mcp.CallToolResult, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a model reads it
	if err := encoder.Encode(out); err != nil {
		return nil, err
	}
	f, ok := out.(failing)
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: strings.TrimSpace(text.String())}},
		StructuredContent: json.RawMessage(text.String()),
		IsError:           ok && f.failed(),
	}, nil
}

// What tools do, for clients that ask their users. All of them are confined to
// what this server keeps, but for programs, which call the tools of others.
func hints(h mcp.ToolAnnotations, destructive, open bool) *mcp.ToolAnnotations {
	h.DestructiveHint, h.OpenWorldHint = &destructive, &open
	return &h
}

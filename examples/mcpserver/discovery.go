package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

const (
	searchInput = `{
  "type": "object",
  "properties": {
    "query": {"type": "string", "description": "What is needed, in English, or a name or part of one. Empty: all tools, by name."},
    "server": {"type": "string", "description": "Only tools of this server."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "How many at most; 10 by default."}
  },
  "required": ["query"],
  "additionalProperties": false
}`
	searchOutput = `{
  "type": "object",
  "properties": {
    "tools": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
        "required": ["name", "description"]
      }
    }
  },
  "required": ["tools"]
}`
	describeInput = `{
  "type": "object",
  "properties": {"name": {"type": "string", "minLength": 1, "description": "A tool, as search_tools names it, or a server."}},
  "required": ["name"],
  "additionalProperties": false
}`
	describeOutput = `{
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "declaration": {"type": "string", "description": "TypeScript; of a server, a list of its tools."}
  },
  "required": ["name", "declaration"]
}`
)

type searchArgs struct {
	Query  string `json:"query"`
	Server string `json:"server"`
	Limit  int    `json:"limit"`
}

type found struct {
	Tools json.RawMessage `json:"tools"`
}

func (c *client) searchTool() tool {
	return offer(mcp.Tool{
		Name:         "search_tools",
		Title:        "Find tools",
		Description:  "Find the tools that programs of execute_code may call, by what they do. They can be called in programs only.",
		InputSchema:  json.RawMessage(searchInput),
		OutputSchema: json.RawMessage(searchOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in searchArgs) (found, error) {
		args := map[string]any{"query": in.Query}
		options := map[string]any{}
		if in.Server != "" {
			options["server"] = in.Server
		}
		if in.Limit > 0 {
			options["limit"] = in.Limit
		}
		args["options"] = options
		if text := c.absent(in.Server); text != "" {
			return found{}, invalid("%s", text)
		}
		list, err := c.discover(ctx, "search", args)
		return found{list}, err
	})
}

type describeArgs struct {
	Name string `json:"name"`
}

type described struct {
	Name        string          `json:"name"`
	Declaration json.RawMessage `json:"declaration"`
}

func (c *client) describeTool() tool {
	return offer(mcp.Tool{
		Name:         "describe_tool",
		Title:        "Declare a tool",
		Description:  "Declare one tool that programs of execute_code may call in full, or list those of a server.",
		InputSchema:  json.RawMessage(describeInput),
		OutputSchema: json.RawMessage(describeOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in describeArgs) (described, error) {
		if text := c.absent(in.Name); text != "" {
			return described{}, invalid("%s", text)
		}
		text, err := c.discover(ctx, "describe", in)
		return described{in.Name, text}, err
	})
}

// discover does what tools.search and tools.describe do in a program.
func (c *client) discover(ctx context.Context, name string, args any) (json.RawMessage, error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return nil, err
	}
	defer release()
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	bindings, dispatcher := view.discovery.Tools()
	for i, b := range bindings {
		if b.Name != name {
			continue
		}
		result, err := dispatcher.Issue(tools.Call{Args: text}, i).Perform(ctx)
		if te, ok := errors.AsType[*tools.ToolError](err); ok {
			return nil, invalid("%s", te.Message)
		}
		return result, err
	}
	return nil, errors.New("discovery has no " + name)
}

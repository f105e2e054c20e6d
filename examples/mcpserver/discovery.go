package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

const (
	searchInput = `{
  "type": "object",
  "properties": {
    "query": {"type": "string", "description": "What is needed, in English, or a name or part of one. Empty: all tools, by name."},
    "server": {"type": "string", "description": "Only tools of this server."},
    "limit": {"type": "number", "description": "How many at most, up to 50; 10 by default."},
    "declare": {"type": "boolean", "description": "Declare the first few in full, as describe_tool does."}
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
        "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "declaration": {"type": "string"}},
        "required": ["name", "description"]
      }
    },
    "note": {"type": "string", "description": "If nothing was found, which servers or tools there are."}
  },
  "required": ["tools"]
}`
	describeInput = `{
  "type": "object",
  "properties": {
    "name": {
      "type": ["string", "array"], "items": {"type": "string"}, "minItems": 1, "maxItems": 50,
      "description": "A tool, as search_tools names it, or a server; or several of them."
    }
  },
  "required": ["name"],
  "additionalProperties": false
}`
	describeOutput = `{
  "type": "object",
  "properties": {"declaration": {"type": "string", "description": "TypeScript; of a server, a list of its tools."}},
  "required": ["declaration"]
}`
)

type searchArgs struct {
	Query string `json:"query"`
	discovery.SearchOptions
}

type found struct {
	Tools []discovery.Hit `json:"tools"`
	Note  string          `json:"note,omitempty"`
}

func (c *client) searchTool() tool {
	return offer(mcp.Tool{
		Name:  "search_tools",
		Title: "Find tools",
		Description: "Find the tools that programs of execute_code may call, by what they do. They can be called in " +
			"programs only.",
		InputSchema:  json.RawMessage(searchInput),
		OutputSchema: json.RawMessage(searchOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in searchArgs) (found, error) {
		if text := c.absent(in.Server); text != "" {
			return found{}, invalid("%s", text)
		}
		return discover(c, func(d *discovery.Discovery) (found, error) {
			hits, err := d.Search(in.Query, &in.SearchOptions)
			if err != nil || len(hits) > 0 {
				return found{Tools: hits}, err
			}
			return found{hits, d.NothingFound(in.Query)}, nil
		})
	})
}

type describeArgs struct {
	Name discovery.Names `json:"name"`
}

type described struct {
	Declaration string `json:"declaration"`
}

func (c *client) describeTool() tool {
	return offer(mcp.Tool{
		Name:         "describe_tool",
		Title:        "Declare tools",
		Description:  "Declare tools in full that programs of execute_code may call, or list those of a server.",
		InputSchema:  json.RawMessage(describeInput),
		OutputSchema: json.RawMessage(describeOutput),
		Annotations:  hints(mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}, false, false),
	}, func(ctx context.Context, _ *mcp.CallToolRequest, in describeArgs) (described, error) {
		if len(in.Name) == 1 {
			if text := c.absent(in.Name[0]); text != "" {
				return described{}, invalid("%s", text)
			}
		}
		return discover(c, func(d *discovery.Discovery) (described, error) {
			text, err := d.Describe(in.Name...)
			return described{text}, err
		})
	})
}

// discover calls f with the tools that the client may use.
func discover[Out any](c *client, f func(*discovery.Discovery) (Out, error)) (out Out, err error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return out, err
	}
	defer release()
	out, err = f(view.discovery)
	if te, ok := errors.AsType[*tools.ToolError](err); ok {
		return out, invalid("%s", te.Message)
	}
	return out, err
}

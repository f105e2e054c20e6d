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
	searchOptions
}

type searchOptions struct {
	Server  string  `json:"server,omitempty"`
	Limit   float64 `json:"limit,omitempty"`
	Declare bool    `json:"declare,omitempty"`
}

type found struct {
	Tools json.RawMessage `json:"tools"`
	Note  string          `json:"note,omitempty"`
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
		if text := c.absent(in.Server); text != "" {
			return found{}, invalid("%s", text)
		}
		list, note, err := c.discover(ctx, "search", map[string]any{"query": in.Query, "options": in.searchOptions})
		return found{list, note}, err
	})
}

type describeArgs struct {
	Name any `json:"name"` // one or several
}

type described struct {
	Declaration json.RawMessage `json:"declaration"`
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
		if name, ok := in.Name.(string); ok {
			if text := c.absent(name); text != "" {
				return described{}, invalid("%s", text)
			}
		}
		text, _, err := c.discover(ctx, "describe", in)
		return described{text}, err
	})
}

// discover does what tools.search and tools.describe do in a program. The note is for
// the caller, in addition to the result.
func (c *client) discover(ctx context.Context, name string, args any) (result json.RawMessage, note string, err error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return nil, "", err
	}
	defer release()
	text, err := json.Marshal(args)
	if err != nil {
		return nil, "", err
	}
	bindings, dispatcher := view.discovery.Tools()
	for i, b := range bindings {
		if b.Name != name {
			continue
		}
		call := tools.Call{Args: text}
		result, err := dispatcher.Issue(call, i).Perform(ctx)
		if te, ok := errors.AsType[*tools.ToolError](err); ok {
			return nil, "", invalid("%s", te.Message)
		}
		return result, view.discovery.Note(call, result), err
	}
	return nil, "", errors.New("discovery has no " + name)
}

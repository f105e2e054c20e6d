package codemode

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

type searchArgs struct {
	Query string `json:"query"`
	search.Options
}

type found struct {
	Tools []search.Hit `json:"tools"`
	Note  string       `json:"note,omitempty"`
}

func (c *client) searchTool() tool {
	return offer(definition("search_tools"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in searchArgs) (found, error) {
			if text := c.absent(in.Server); text != "" {
				return found{}, invalid("%s", text)
			}
			return discover(c, func(d *search.Index) (found, error) {
				hits, err := d.Search(ctx, in.Query, &in.Options)
				if err != nil || len(hits) > 0 {
					return found{Tools: hits}, err
				}
				return found{hits, d.NothingFound(in.Query)}, nil
			})
		})
}

type describeArgs struct {
	Name search.Names `json:"name"`
}

type described struct {
	Declaration string `json:"declaration"`
}

func (c *client) describeTool() tool {
	return offer(definition("describe_tool"),
		func(ctx context.Context, _ *mcp.CallToolRequest, in describeArgs) (described, error) {
			if len(in.Name) == 1 {
				if text := c.absent(in.Name[0]); text != "" {
					return described{}, invalid("%s", text)
				}
			}
			return discover(c, func(d *search.Index) (described, error) {
				text, err := d.Describe(in.Name...)
				return described{text}, err
			})
		})
}

// discover calls f with the tools that the client may use.
func discover[Out any](c *client, f func(*search.Index) (Out, error)) (out Out, err error) {
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

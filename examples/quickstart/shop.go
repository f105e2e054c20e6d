package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools"
)

//go:embed data
var data embed.FS

type customer struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Country string `json:"country"`
}

type order struct {
	ID         string `json:"id"`
	CustomerID string `json:"customer_id"`
	Date       string `json:"date" jsonschema:"format=date"`
	TotalCents int    `json:"total_cents"`
}

type refund struct {
	ID          string `json:"id"`
	OrderID     string `json:"order_id"`
	AmountCents int    `json:"amount_cents"`
	Reason      string `json:"reason"`
}

type customersQuery struct {
	Country string `json:"country,omitempty" jsonschema:"description=English name."`
}

type customersPage struct {
	Customers []customer `json:"customers"`
}

type ordersQuery struct {
	CustomerID string `json:"customer_id"`
	Year       int    `json:"year,omitempty"`
	Cursor     string `json:"cursor,omitempty" jsonschema:"description=From the page before."`
}

type ordersPage struct {
	Orders     []order `json:"orders"`
	NextCursor string  `json:"next_cursor,omitempty" jsonschema:"description=Absent on the last page."`
}

type refundsQuery struct {
	Cursor string `json:"cursor,omitempty" jsonschema:"description=From the page before."`
}

type refundsPage struct {
	Refunds    []refund `json:"refunds"`
	NextCursor string   `json:"next_cursor,omitempty" jsonschema:"description=Absent on the last page."`
}

// newShop returns an MCP server with the bundled data: a shop's customers, orders and refunds. Like
// most such servers, it returns pages and cannot join tables.
func newShop() (*mcp.Server, error) {
	var customers []customer
	var orders []order
	var refunds []refund
	for name, rows := range map[string]any{"customers": &customers, "orders": &orders, "refunds": &refunds} {
		text, err := data.ReadFile("data/" + name + ".json")
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, rows); err != nil {
			return nil, fmt.Errorf("data/%s.json: %w", name, err)
		}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	for _, t := range []*tools.Tool{
		tools.Func("list_customers", "List the customers of one country or of all countries.",
			func(_ context.Context, q customersQuery) (customersPage, error) {
				return customersPage{where(customers, func(c customer) bool {
					return q.Country == "" || strings.EqualFold(c.Country, q.Country)
				})}, nil
			}, nil),
		tools.Func("list_orders", "List the orders of one customer, oldest first, in pages of 4.",
			func(_ context.Context, q ordersQuery) (p ordersPage, err error) {
				p.Orders, p.NextCursor, err = page(where(orders, func(o order) bool {
					inYear := q.Year == 0 || strings.HasPrefix(o.Date, strconv.Itoa(q.Year))
					return o.CustomerID == q.CustomerID && inYear
				}), 4, q.Cursor)
				return p, err
			}, nil),
		tools.Func("list_refunds", "List all refunds, in pages of 5. Each is of one order, whole or in part.",
			func(_ context.Context, q refundsQuery) (p refundsPage, err error) {
				p.Refunds, p.NextCursor, err = page(refunds, 5, q.Cursor)
				return p, err
			}, nil),
	} {
		server.AddTool(&mcp.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		}, serve(t.Handler))
	}
	return server, nil
}

// serve returns an MCP handler that calls a Go function.
func serve(call tools.Handler) mcp.ToolHandler {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		rows, err := call(ctx, r.Params.Arguments)
		result := &mcp.CallToolResult{}
		if err != nil {
			result.SetError(err)
			return result, nil
		}
		result.StructuredContent, result.Content = rows, []mcp.Content{&mcp.TextContent{Text: string(rows)}}
		return result, nil
	}
}

func where[T any](rows []T, keep func(T) bool) []T {
	kept := []T{}
	for _, row := range rows {
		if keep(row) {
			kept = append(kept, row)
		}
	}
	return kept
}

func page[T any](rows []T, size int, cursor string) (part []T, next string, err error) {
	start := 0
	if cursor != "" {
		if start, err = strconv.Atoi(cursor); err != nil || start < 0 || start > len(rows) {
			return nil, "", fmt.Errorf("unknown cursor %q; pass the next_cursor of an earlier page", cursor)
		}
	}
	end := min(start+size, len(rows))
	if end < len(rows) {
		next = strconv.Itoa(end)
	}
	return rows[start:end], next, nil
}

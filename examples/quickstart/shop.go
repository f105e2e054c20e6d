package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/signature/schema"
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
	return server, addTools(server, customers, orders, refunds)
}

func addTools(server *mcp.Server, customers []customer, orders []order, refunds []refund) error {
	err := addTool(server, "list_customers", "List the customers, of one country or of all.",
		func(q customersQuery) (customersPage, error) {
			return customersPage{where(customers, func(c customer) bool {
				return q.Country == "" || strings.EqualFold(c.Country, q.Country)
			})}, nil
		})
	if err != nil {
		return err
	}
	err = addTool(server, "list_orders", "List the orders of one customer, oldest first, in pages of 4.",
		func(q ordersQuery) (p ordersPage, err error) {
			p.Orders, p.NextCursor, err = page(where(orders, func(o order) bool {
				return o.CustomerID == q.CustomerID && (q.Year == 0 || strings.HasPrefix(o.Date, strconv.Itoa(q.Year)))
			}), 4, q.Cursor)
			return p, err
		})
	if err != nil {
		return err
	}
	return addTool(server, "list_refunds", "List all refunds, in pages of 5. A refund is of one order, whole or in part.",
		func(q refundsQuery) (p refundsPage, err error) {
			p.Refunds, p.NextCursor, err = page(refunds, 5, q.Cursor)
			return p, err
		})
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
			return nil, "", fmt.Errorf("the cursor %q is not one that an earlier page gave", cursor)
		}
	}
	end := min(start+size, len(rows))
	if end < len(rows) {
		next = strconv.Itoa(end)
	}
	return rows[start:end], next, nil
}

// addTool adds a typed function as a read-only tool with both schemas.
func addTool[In, Out any](server *mcp.Server, name, description string, fn func(In) (Out, error)) error {
	in, err := schema.Of(reflect.TypeFor[In]())
	if err != nil {
		return err
	}
	out, err := schema.Of(reflect.TypeFor[Out]())
	if err != nil {
		return err
	}
	tool := &mcp.Tool{
		Name: name, Description: description, InputSchema: in.Raw(), OutputSchema: out.Raw(),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}
	server.AddTool(tool, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var q In
		if err := json.Unmarshal(r.Params.Arguments, &q); err != nil {
			return failure(err), nil
		}
		rows, err := fn(q)
		if err != nil {
			return failure(err), nil
		}
		text, err := json.Marshal(rows)
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: string(text)}},
			StructuredContent: json.RawMessage(text),
		}, nil
	})
	return nil
}

func failure(err error) *mcp.CallToolResult {
	r := &mcp.CallToolResult{}
	r.SetError(err)
	return r
}

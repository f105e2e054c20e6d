// Codemode offers code mode to any MCP client: the client's programs call three Go functions of a shop.
//
//	npx @modelcontextprotocol/inspector go run ./examples/codemode
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/agent/codemode"
	"github.com/writ-go/writ/tools"
)

type Item struct {
	SKU   string `json:"sku"`
	Stock int    `json:"stock"`
}

type ByLevel struct {
	Below int `json:"below" jsonschema:"description=only items with less stock"`
}

type BySKU struct {
	SKU string `json:"sku"`
}

type Order struct {
	SKU      string `json:"sku"`
	Quantity int    `json:"quantity" jsonschema:"minimum=1"`
}

func items(_ context.Context, q ByLevel) ([]Item, error) {
	var found []Item
	for _, item := range []Item{{"apple", 3}, {"pear", 40}, {"plum", 7}} {
		if item.Stock < q.Below {
			found = append(found, item)
		}
	}
	return found, nil
}

func weeklySales(_ context.Context, q BySKU) (int, error) {
	return map[string]int{"apple": 21, "pear": 4, "plum": 14}[q.SKU], nil
}

func order(_ context.Context, o Order) (string, error) {
	return fmt.Sprintf("ordered %d of %s", o.Quantity, o.SKU), nil
}

func main() {
	ctx := context.Background()
	read := &tools.Hints{Class: tools.Read}
	set := must(tools.NewSet(ctx,
		tools.Func("items", "List items by stock.", items, read),
		tools.Func("weekly_sales", "How many of an item are sold in a week.", weeklySales, read),
		tools.Func("order", "Order more of an item from its supplier.", order, nil)))
	server := must(codemode.New(&codemode.Options{Tools: set}))
	defer server.Close()
	if err := server.Serve(ctx, nil); err != nil { // on stdin and stdout
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

package search_test

import (
	"context"
	"fmt"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

func Example() {
	type order struct {
		ID string `json:"id"`
	}
	refund := func(context.Context, order) (bool, error) { return true, nil }
	track := func(context.Context, order) (string, error) { return "on its way", nil }
	set, err := tools.NewSet(context.Background(),
		tools.Func("refund", "Refund one order. It cannot be undone.", refund, nil),
		tools.Func("track", "Where a parcel is.", track, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	index := search.New(set, 4000)
	for _, query := range []string{"refund an order", "locate my parcel", "refnud"} {
		hits, err := index.Search(context.Background(), query, &search.Options{Limit: 1})
		if err != nil {
			fmt.Println(err)
		}
		for _, hit := range hits {
			fmt.Printf("%s: %s %s\n", query, hit.Name, hit.Description)
		}
	}
	// Output:
	// refund an order: refund Refund one order.
	// locate my parcel: track Where a parcel is.
	// refnud: refund Refund one order.
}

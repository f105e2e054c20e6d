package search_test

import (
	"context"
	"fmt"
	"strings"

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

// topics is an embedder for the example. A real one is an embeddings.Embedder of langchaingo.
type topics struct{}

func (topics) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if strings.Contains(text, "Refund") || strings.Contains(text, "money") {
		return []float32{1, 0}, nil
	}
	return []float32{0, 1}, nil
}

func (c topics) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, _ error) {
	for _, text := range texts {
		v, err := c.EmbedQuery(ctx, text)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func ExampleIndex_ByMeaning() {
	ctx := context.Background()
	yes := func(context.Context, struct{}) (bool, error) { return true, nil }
	set, err := tools.NewSet(ctx, tools.Func("refund", "Refund one order.", yes, nil),
		tools.Func("track", "Where a parcel is.", yes, nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := search.New(set, 4000).ByMeaning(topics{}, nil).Search(ctx, "give the money back", nil)
	fmt.Println(hits[0].Name, err)
	// Output: refund <nil>
}

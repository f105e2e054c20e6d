package module

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/writ-go/writ/internal/vectors"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// passages are texts to rank by their meaning.
type passages struct {
	Query string   `json:"query" jsonschema:"minLength=1"`
	Texts []string `json:"texts" jsonschema:"maxItems=10000"`
	Limit int      `json:"limit,omitempty" jsonschema:"minimum=1,description=Default: 10."`
}

// nearestTool returns a tool that finds texts by meaning. It is for the programs of an [RLM] with an Embedder.
func nearestTool(e search.Embedder) *tools.Tool {
	store := vectors.Keep(e)
	return tools.Func("nearest", "Returns the indexes of the texts nearest to the query in meaning, best first.",
		func(ctx context.Context, in passages) ([]int, error) {
			defer tools.Pause(ctx)()
			scores, err := store.Index(func() []string { return in.Texts }).Scores(ctx, in.Query)
			if err != nil {
				return nil, tools.HostOnly(fmt.Errorf("module: nearest: %w", err))
			}
			indexes := make([]int, len(scores))
			for i := range indexes {
				indexes[i] = i
			}
			slices.SortStableFunc(indexes, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
			return indexes[:min(len(indexes), cmp.Or(in.Limit, 10))], nil
		}, &tools.Hints{Class: tools.Read})
}

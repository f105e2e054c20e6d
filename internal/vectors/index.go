package vectors

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
)

// Index compares a query with documents. It is safe for concurrent use.
type Index struct {
	store   *Store
	texts   func() []string
	vectors atomic.Pointer[[][]float32] // nil until all documents are embedded
}

// Index returns an index of documents. The first query embeds them. The function texts is called when that is
// necessary, and always returns the same texts.
func (s *Store) Index(texts func() []string) *Index { return &Index{store: s, texts: texts} }

// Scores returns the cosine of the angle between the query and each document.
func (x *Index) Scores(ctx context.Context, query string) ([]float64, error) {
	asked, err := x.store.EmbedQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	all := x.vectors.Load()
	if all == nil || len(*all) > 0 && len((*all)[0]) != len(asked) { // the embedder may have another model now
		embedded, err := x.store.documents(ctx, x.texts(), len(asked))
		if err != nil {
			return nil, err
		}
		all = &embedded
		x.vectors.Store(all)
	}
	scores := make([]float64, len(*all))
	for i, v := range *all {
		sum := float32(0)
		for k, a := range asked {
			sum += a * v[k]
		}
		scores[i] = float64(sum)
	}
	return scores, nil
}

// Fuse combines scores of the same documents by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009). In
// each list, documents whose scores are not positive have no rank, and documents with the same score share a rank.
func Fuse(lists ...[]float64) []float64 {
	fused := make([]float64, len(lists[0]))
	for _, scores := range lists {
		order := make([]int, len(scores))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		rank := 0
		for i, at := range order {
			if i == 0 || scores[at] < scores[order[i-1]] {
				rank = i + 1
			}
			if scores[at] > 0 {
				fused[at] += 1 / float64(60+rank) // 60 is the authors' constant
			}
		}
	}
	return fused
}

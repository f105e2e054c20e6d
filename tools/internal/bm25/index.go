package bm25

import (
	"cmp"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/vectors"
	"github.com/writ-go/writ/tools"
)

// Hit is a tool that was found.
type Hit struct {
	*tools.Binding

	// Score is the BM25 score, or the fused score. Scores can be compared only within the same search.
	Score float64
}

// Index finds tools. It is safe for concurrent use.
type Index struct {
	tools []*tools.Binding
	build func() *postings
}

// New returns an index of tools. The first search builds it.
func New(list []*tools.Binding) *Index {
	x := &Index{tools: list}
	x.build = sync.OnceValue(func() *postings { return newPostings(x.tools) })
	return x
}

// maxQuery is the maximum number of bytes that are read from a query.
const maxQuery = 4 << 10

// Search returns at most limit tools, the best match first. A tool matches if it contains a word from the query.
// If the query consists only of common words, all tools match, in the order of their names. If server is not
// empty, only the tools whose object or namespace is server are searched.
func (x *Index) Search(query, server string, limit int) []Hit {
	return x.Fused(query, server, limit, nil)
}

// Fused is like Search, but combines the BM25 scores with each tool's similarity to the query in meaning, as
// [vectors.Fuse] does. A tool also matches if its similarity is positive. Nil means no similarities.
func (x *Index) Fused(query, server string, limit int, similarities []float64) []Hit {
	words := terms(nil, query[:min(len(query), maxQuery)])
	scores := x.build().scores(words)
	if similarities != nil {
		scores = vectors.Fuse(scores, similarities)
	}
	var hits []Hit
	for i, b := range x.tools {
		if (scores[i] > 0 || len(words) == 0) && (server == "" || server == b.Object || server == b.Namespace) {
			hits = append(hits, Hit{b, scores[i]})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Names[0], b.Names[0]))
	})
	return hits[:min(len(hits), limit)]
}

package bm25

import (
	"cmp"
	"slices"
	"sync"

	"github.com/writ-go/writ/tools"
)

// Hit is a tool that was found.
type Hit struct {
	*tools.Binding

	// Score is the BM25 score. Scores can be compared only within the same search.
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
	words := terms(nil, query[:min(len(query), maxQuery)])
	scores := x.build().scores(words)
	var hits []Hit
	for i, b := range x.tools {
		if (scores[i] > 0 || len(words) == 0) && (server == "" || server == b.Object || server == b.Namespace) {
			hits = append(hits, Hit{b, scores[i]})
		}
	}
	Sort(hits)
	return hits[:min(len(hits), limit)]
}

// Sort sorts hits, the best first. The order of hits with the same score is that of their names.
func Sort(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.Names[0], b.Names[0]))
	})
}

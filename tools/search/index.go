package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// DefaultLimit is the maximum number of hits if [Options].Limit is not set.
const DefaultLimit = 10

// Options restricts the hits of a search.
type Options struct {
	// Server is the object or namespace whose tools are searched. If it is empty, all
	// tools are searched. A server that does not exist has no tools.
	Server string

	// Limit is the maximum number of hits. Zero or less means [DefaultLimit].
	Limit int
}

// Hit is a tool that was found.
type Hit struct {
	// Name is the name of the tool in programs: mail.send.
	Name string

	// Description is the [Summary] of the tool's description.
	Description string

	// Score is the BM25 score. Scores can be compared only within the same search.
	Score float64
}

// Index finds tools of one set. It is safe for concurrent use.
type Index struct {
	tools []*tools.Binding
	build func() *postings
}

// New returns an index of a set. The first search builds it. A nil set is empty.
func New(set *tools.Set) *Index {
	x := &Index{tools: set.Bindings()}
	x.build = sync.OnceValue(func() *postings { return newPostings(x.tools) })
	return x
}

// maxQuery is the number of bytes of a query that are read.
const maxQuery = 4 << 10

// Search returns the tools that match the query best, the best first. A tool matches if it
// has a word of the query. If the query has only common words, all tools match, in the
// order of their names. Nil options are the defaults.
func (x *Index) Search(query string, o *Options) []Hit {
	if o == nil {
		o = &Options{}
	}
	words := terms(nil, query[:min(len(query), maxQuery)])
	scores := x.build().scores(words)
	var found []int
	for i, b := range x.tools {
		if (scores[i] > 0 || len(words) == 0) && (o.Server == "" || o.Server == b.Object || o.Server == b.Namespace) {
			found = append(found, i)
		}
	}
	slices.SortFunc(found, func(i, j int) int {
		a, b := x.tools[i], x.tools[j]
		return cmp.Or(cmp.Compare(scores[j], scores[i]), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Names[0], b.Names[0]))
	})
	found = found[:min(len(found), cmp.Or(max(o.Limit, 0), DefaultLimit))]
	hits := make([]Hit, len(found))
	for at, i := range found {
		b := x.tools[i]
		hits[at] = Hit{Name: b.Path(), Description: Summary(b.Description), Score: scores[i]}
	}
	return hits
}

// maxSummary is the maximum size of a summary, in bytes.
const maxSummary = 300

// Summary returns the first sentence of a description. It cuts a long sentence after a
// word.
func Summary(description string) string {
	head := strings.ToValidUTF8(description[:min(len(description), 4*maxSummary)], "")
	sentences := schema.Sentences(head)
	if len(sentences) == 0 {
		return ""
	}
	text := schema.OneLine(sentences[0])
	if len(text) <= maxSummary {
		return text
	}
	cut := strings.ToValidUTF8(text[:maxSummary], "")
	if word := strings.LastIndexByte(cut, ' '); word > 0 {
		cut = cut[:word]
	}
	return cut + "…"
}

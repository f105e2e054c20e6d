// Package bm25 ranks tools by the words of their names, servers, descriptions and parameters.
package bm25

import (
	"maps"
	"math"
	"slices"

	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/tools"
)

// The Okapi BM25 parameters.
const (
	k1 = 1.2  // with a larger k1, repeated occurrences of a word count more
	b  = 0.75 // with a larger b, the length of a document lowers its score more
)

// The weight of a word, by the field that it occurs in.
const (
	nameWeight          = 5
	serverWeight        = 2
	descriptionWeight   = 2
	parameterWeight     = 1
	parameterTextWeight = 0.5
)

// maxWords is the maximum number of words that are indexed in a field.
const maxWords = 200

// posting says that a word occurs in a tool.
type posting struct {
	tool   int
	weight float64 // the total weight of its occurrences
}

// postings is an inverted index of tools.
type postings struct {
	lists  map[string][]posting // each word's postings, in tool order
	names  []string             // the words that occur in names, sorted
	length []float64            // for each tool, the total weight of its words
	mean   float64              // the mean of length
}

func newPostings(list []*tools.Binding) *postings {
	p := &postings{lists: map[string][]posting{}, length: make([]float64, len(list))}
	names := map[string]bool{}
	for i, t := range list {
		weights := map[string]float64{}
		add := func(weight float64, texts ...string) {
			var words []string
			for _, text := range texts {
				words = terms(words, text)
			}
			for _, word := range words[:min(len(words), maxWords)] {
				weights[word] += weight
				p.length[i] += weight
			}
		}
		add(nameWeight, t.Name)
		for word := range weights {
			names[word] = true
		}
		add(serverWeight, t.Namespace)
		add(descriptionWeight, t.Description)
		parameterNames, texts := parameters(t.InputSchema)
		add(parameterWeight, parameterNames...)
		add(parameterTextWeight, texts...)
		for word, weight := range weights {
			p.lists[word] = append(p.lists[word], posting{i, weight})
		}
		p.mean += p.length[i] / float64(len(list))
	}
	p.names = slices.Sorted(maps.Keys(names))
	return p
}

// scores returns the BM25 score of each tool. A query word that no tool has is replaced with the most similar word in a
// tool's name.
func (p *postings) scores(query []string) []float64 {
	scores := make([]float64, len(p.length))
	slices.Sort(query)
	for _, word := range slices.Compact(query) {
		list := p.lists[word]
		if list == nil && len(word) >= 5 {
			list = p.lists[similar.Nearest(word, p.names)]
		}
		n := float64(len(list))
		idf := math.Log1p((float64(len(scores)) - n + 0.5) / (n + 0.5))
		for _, o := range list {
			scores[o.tool] += idf * o.weight * (k1 + 1) / (o.weight + k1*(1-b+b*p.length[o.tool]/p.mean))
		}
	}
	return scores
}

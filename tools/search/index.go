package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// DefaultLimit is how many hits a search gives where nothing is said.
const DefaultLimit = 10

// Options says which hits are wanted.
type Options struct {
	// Server is the object or namespace whose tools are searched; "" is all. A
	// server that does not exist has no tools, which is not an error.
	Server string

	// Limit is how many hits there may be; zero and less are [DefaultLimit].
	Limit int
}

// Hit is a tool that was found.
type Hit struct {
	// Name is the tool as a program writes it: mail.send.
	Name string

	// Description is what the tool does, in its first sentence or so.
	Description string

	// Score orders the hits of one search and means nothing beyond that.
	Score float64
}

// Index finds tools of one set. It is safe for concurrent use.
type Index struct {
	tools []*tools.Binding
	build func() *inverted
}

// New returns an index of a set, which is built by the first search. A nil set
// is empty.
func New(set *tools.Set) *Index {
	x := &Index{tools: set.Bindings()}
	x.build = sync.OnceValue(func() *inverted { return invert(x.tools) })
	return x
}

// Search returns the tools that fit the query best, the best first. A query is
// what somebody needs, in English, or a name, or a part of one. A tool that shares
// only a stray word with the query does not fit it, and often no tool does. If the
// query has no words, all tools fit, in the order of their names. Nil options are
// the defaults.
func (x *Index) Search(query string, o *Options) []Hit {
	if o == nil {
		o = &Options{}
	}
	scores, least, scored := x.build().scores(query[:min(len(query), maxQuery)])
	if !scored {
		scores = make([]float32, len(x.tools))
	}
	found := ranking{limit: cmp.Or(max(o.Limit, 0), DefaultLimit), tools: x.tools, scores: scores}
	for i, b := range x.tools {
		if (!scored || scores[i] > 0 && scores[i] >= least) && (o.Server == "" || o.Server == b.Object || o.Server == b.Namespace) {
			found.offer(i)
		}
	}
	hits := make([]Hit, len(found.best))
	for at, i := range found.best {
		b := x.tools[i]
		hits[at] = Hit{Name: b.Path(), Description: Summary(b.Description), Score: float64(scores[i])}
	}
	return hits
}

// ranking keeps the best of many tools.
type ranking struct {
	limit  int
	tools  []*tools.Binding
	scores []float32
	best   []int // indexes of tools, the best first
}

// offer takes a tool in, if it is better than the last or there is room.
func (r *ranking) offer(tool int) {
	n := len(r.best)
	if n == r.limit && r.compare(tool, r.best[n-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(r.best, tool, func(other, tool int) int { return r.compare(other, tool) })
	r.best = slices.Insert(r.best[:min(n, r.limit-1)], at, tool)
}

// compare orders tools by score, and those that are as good by name, so that
// neither chance nor the order of a set matters.
func (r *ranking) compare(i, j int) int {
	if r.scores[i] != r.scores[j] {
		return cmp.Compare(r.scores[j], r.scores[i])
	}
	a, b := r.tools[i], r.tools[j]
	return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Names[0], b.Names[0]))
}

// maxSummary is how many bytes of a description are shown.
const maxSummary = 300

// Summary is the first sentence of a description, which tells one tool from
// another; a long one is cut after a word.
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

// inverted says which tools a word is of, and how much it says of each.
type inverted struct {
	docs     int
	terms    map[string]int32 // stem → its number
	sorted   []string         // the stems
	named    []bool           // of each number: whether it is in a name
	postings [][]posting      // of each number, in the order of the tools
}

type posting struct {
	tool   int32
	weight float32
}

// saturation is the weight at which a word says half of what it can: of a word
// that is said ten times, the tenth adds little.
const saturation = 4

// rarity is what something says by being in so many of the tools only.
func (v *inverted) rarity(n float64) float32 {
	all := float64(v.docs)
	return float32(math.Sqrt(math.Log1p((all - n + 0.5) / (n + 0.5))))
}

// scores rates the tools by BM25F, and gives the least score of a tool that fits;
// ok is false if the query has no words or there
// are no tools. A word and its variants count once for a
// tool, by what fits best. What the word is worth is the geometric mean of how rare
// it is in the tool and how rare all its variants are: otherwise the oddest synonym
// would count most.
func (v *inverted) scores(query string) (total []float32, least float32, ok bool) {
	words := v.meanings(query)
	if len(words) == 0 || v.docs == 0 {
		return nil, 0, false
	}
	total = make([]float32, v.docs)
	best := make([]float32, v.docs)
	var complete float32 // the score of a tool that fits every word
	for _, w := range words {
		touched := v.fit(w.variants, best)
		if w.alien {
			complete += v.rarity(1) * v.rarity(1)
		}
		if len(touched) == 0 {
			continue
		}
		var sum, most float32
		for _, tool := range touched {
			sum, most = sum+best[tool], max(most, best[tool])
		}
		rare := v.rarity(float64(sum / most))
		if !w.alien {
			complete += most * rare
		}
		for _, tool := range touched {
			total[tool] += best[tool] * rare
			best[tool] = 0
		}
	}
	return total, max(leastOfAll*complete, leastOfBest*slices.Max(total)), true
}

// A tool fits a query if it has these parts of the score of a tool that would fit
// every word, and of the tool that fits best. The first one keeps a chance match of
// one word in ten from being a hit; testdata/unmet measures it.
const (
	leastOfAll  = 0.15
	leastOfBest = 0.3
)

// fit notes how well each tool fits a word in what it may mean, and which do.
func (v *inverted) fit(variants []variant, best []float32) (touched []int32) {
	for _, variant := range variants {
		list := v.postings[variant.term]
		worth := variant.factor * v.rarity(float64(len(list)))
		for _, p := range list {
			if best[p.tool] == 0 {
				touched = append(touched, p.tool)
			}
			best[p.tool] = max(best[p.tool], worth*p.weight/(p.weight+saturation))
		}
	}
	return touched
}

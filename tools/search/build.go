package search

import (
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
)

// field is a part of what is known of a tool.
type field struct {
	boost float32 // what a word in it is worth
	usual float32 // how many words it has; in a longer one, each says less
	most  int     // how many are read: servers write as much as they please
}

var (
	nameField    = field{boost: 5, usual: 3, most: 20}
	serverField  = field{boost: 2, usual: 1, most: 10}
	summaryField = field{boost: 3, usual: 8, most: 60}
	detailField  = field{boost: 0.4, usual: 40, most: 200}
	inputField   = field{boost: 1, usual: 4, most: 100}
	meaningField = field{boost: 0.25, usual: 40, most: 200}
)

// builder makes an inverted index, one tool after the other.
type builder struct {
	inverted
	known map[string]int32 // word as written, in small letters → number of its stem, -1 for none
	found []int32          // the words of one field
	sum   []float32        // of each number: its weight in one tool
	seen  []int32          // the numbers that have one
	all   []occurrence
}

// occurrence is a posting before it is put in its place.
type occurrence struct {
	term int32
	posting
}

func invert(list []*tools.Binding) *inverted {
	b := builder{inverted: inverted{docs: len(list), terms: map[string]int32{}}, known: map[string]int32{}}
	for i, t := range list {
		b.tool(t)
		b.settle(int32(i))
	}
	b.sorted = slices.Sorted(maps.Keys(b.terms))
	b.place()
	made := b.inverted // without what it took to make it
	return &made
}

// tool reads all that is known of a tool.
func (b *builder) tool(t *tools.Binding) {
	b.text(t.Name)
	for _, term := range b.found {
		b.named[term] = true
	}
	b.weigh(nameField)
	b.text(t.Namespace)
	b.weigh(serverField)
	summary, detail, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	if end := strings.Index(summary, ". "); end >= 0 {
		summary, detail = summary[:end], summary[end:]+"\n"+detail
	}
	b.text(summary)
	b.weigh(summaryField)
	b.text(detail)
	b.weigh(detailField)
	names, meanings := schemaWords(t.InputSchema)
	for _, name := range names {
		b.text(name)
	}
	b.weigh(inputField)
	for _, text := range meanings {
		b.text(text)
	}
	b.weigh(meaningField)
}

// maxFound is how many words of one field are looked at.
const maxFound = 200

// text reads words into the current field.
func (b *builder) text(text string) {
	words(text, func(word []byte) bool {
		if term := b.number(word); term >= 0 {
			b.found = append(b.found, term)
		}
		return len(b.found) < maxFound
	})
}

// number returns the number of a word's stem, -1 for words that say nothing.
func (b *builder) number(word []byte) int32 {
	if term, ok := b.known[string(word)]; ok {
		return term
	}
	term := int32(-1)
	if text := string(word); !silent()[text] {
		term = b.add(stem(text))
	}
	b.known[string(word)] = term
	return term
}

func (b *builder) add(stem string) int32 {
	if term, ok := b.terms[stem]; ok {
		return term
	}
	term := int32(len(b.terms))
	b.terms[strings.Clone(stem)] = term
	b.named, b.sum = append(b.named, false), append(b.sum, 0)
	return term
}

// weigh adds the words of a field to what they weigh in the tool.
func (b *builder) weigh(f field) {
	found := b.found[:min(len(b.found), f.most)]
	const length = 0.6 // how much the length of a field matters
	worth := f.boost / (1 - length + length*max(float32(len(found))/f.usual, 0.5))
	for _, term := range found {
		if b.sum[term] == 0 {
			b.seen = append(b.seen, term)
		}
		b.sum[term] += worth
	}
	b.found = b.found[:0]
}

// settle notes what a tool's words weigh.
func (b *builder) settle(tool int32) {
	for _, term := range b.seen {
		b.all = append(b.all, occurrence{term, posting{tool, b.sum[term]}})
		b.sum[term] = 0
	}
	b.seen = b.seen[:0]
}

// place sorts the postings by word, in one piece of memory.
func (b *builder) place() {
	count := make([]int32, len(b.terms))
	for _, o := range b.all {
		count[o.term]++
	}
	flat := make([]posting, len(b.all))
	b.postings = make([][]posting, len(b.terms))
	for term, n := range count {
		b.postings[term], flat = flat[:0:n], flat[n:]
	}
	for _, o := range b.all {
		b.postings[o.term] = append(b.postings[o.term], o.posting)
	}
}

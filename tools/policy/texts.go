package policy

import (
	"cmp"
	"slices"
	"strings"
)

// headSize is how many bytes a text has at least.
const headSize = 3

// texts are searched for in one pass, however many there are.
type texts struct {
	heads  [1 << 10]uint64     // a bit for each hash of their first bytes
	byHead map[uint32][]string // longest first
}

// set says which texts they are.
func (t *texts) set(list []string) {
	t.byHead = map[uint32][]string{}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	for _, text := range slices.Compact(list) {
		h := head(text, 0)
		t.heads[bit(h)/64] |= 1 << (bit(h) % 64)
		t.byHead[h] = append(t.byHead[h], text)
	}
}

func head(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16
}

func bit(head uint32) uint32 { return head * 0x9E3779B1 >> 16 }

// find returns where the first of the texts in s[from:] is, the longest if
// several begin there; start is negative if there is none.
func (t *texts) find(s string, from int) (start, end int) {
	if len(t.byHead) == 0 {
		return -1, -1
	}
	for i := from; i+headSize <= len(s); i++ {
		h := head(s, i)
		if t.heads[bit(h)/64]&(1<<(bit(h)%64)) == 0 {
			continue
		}
		for _, text := range t.byHead[h] {
			if strings.HasPrefix(s[i:], text) {
				return i, i + len(text)
			}
		}
	}
	return -1, -1
}

// span is a part of a text.
type span struct{ start, end int }

// spans appends where the texts are in s, those that overlap too.
func (t *texts) spans(s string, found []span) []span {
	start, end := t.find(s, 0)
	for start >= 0 {
		found = append(found, span{start, end})
		start, end = t.find(s, start+1)
	}
	return found
}

// replace puts with in the place of every span; of those that overlap, in the
// place of all together.
func replace(s, with string, spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	end := 0
	for _, next := range spans {
		if next.start >= end {
			b.WriteString(s[end:next.start])
			b.WriteString(with)
		}
		end = max(end, next.end)
	}
	b.WriteString(s[end:])
	return b.String()
}

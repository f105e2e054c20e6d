package schema

import (
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// These limits bound the work, since the author of a value chooses the number and
// length of the names.
const (
	maxName       = 64    // bytes of names that are compared
	maxCandidates = 500   // names that one is compared with
	maxCompared   = 2_000 // names compared in one validation
)

// Nearest returns the candidate that the author of name probably meant, or "" if
// none is similar. It considers names of up to 64 bytes, and the first 500 of a
// similar length.
func Nearest(name string, among []string) string {
	near, _ := nearest(name, among, maxCandidates)
	return near
}

// nearest is [Nearest] with at most the given number of comparisons. It also
// returns how many it made.
func nearest(name string, among []string, limit int) (string, int) {
	if len(name) > maxName || limit <= 0 {
		return "", 0
	}
	best, bound := "", max(1, utf8.RuneCountInString(name)/3)+1
	folded := fold(name)
	compared := 0
	for _, candidate := range among {
		if len(candidate) > maxName {
			continue
		}
		other := fold(candidate)
		if d := len(folded) - len(other); d >= bound || -d >= bound {
			continue
		}
		if compared == limit {
			break
		}
		compared++
		if d := distance(folded, other, bound); d < bound && d < utf8.RuneCountInString(candidate) {
			best, bound = candidate, d
		}
	}
	return best, compared
}

// near is [Nearest] within the limit of one validation.
func (x *explainer) near(name string, among []string) string {
	best, compared := nearest(name, among, min(maxCandidates, maxCompared-x.compared))
	x.compared += compared
	return best
}

func (x *explainer) nearestValue(given any, allowed []any) string {
	s, ok := given.(string)
	if !ok || len(s) > maxName || x.compared >= maxCompared {
		return ""
	}
	var names []string
	for _, v := range allowed {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	if near := x.near(s, names); near != "" {
		return "did you mean " + jsonvalue.Quote(near) + "?"
	}
	return ""
}

// distance returns the number of letters to insert, delete, replace or swap with
// their neighbor to turn one folded name into the other. It stops at enough.
func distance(a, b []rune, enough int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	lowest := 0 // of the row before
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		low := row[0]
		for j := range b {
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differ(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			low = min(low, row[j+1])
		}
		if low >= enough && lowest+1 >= enough { // a swap leads from the row before the last
			return enough
		}
		lowest = low
	}
	return row[len(b)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// fold maps customerId, customer_id and customer-id to the same runes.
func fold(name string) []rune {
	return []rune(separators.Replace(strings.ToLower(name)))
}

// Package similar finds the name that the author of a misspelled name probably meant.
package similar

import (
	"strings"
	"unicode/utf8"
)

// These limits bound the work, since untrusted text chooses the number and the length of the names.
const (
	maxName       = 64  // bytes of a name
	maxCandidates = 500 // candidates of a similar length
)

// Nearest returns the candidate that is most similar to name, or "" if no candidate is similar. It compares names
// of up to 64 bytes with the first 500 candidates of a similar length.
func Nearest(name string, candidates []string) string {
	if len(name) > maxName {
		return ""
	}
	best, bound := "", max(1, utf8.RuneCountInString(name)/3)+1
	folded := fold(name)
	compared := 0
	for _, candidate := range candidates {
		if len(candidate) > maxName {
			continue
		}
		other := fold(candidate)
		if d := len(folded) - len(other); d >= bound || -d >= bound {
			continue
		}
		if compared++; compared > maxCandidates {
			break
		}
		if d := distance(folded, other, bound); d < bound && d < utf8.RuneCountInString(candidate) {
			best, bound = candidate, d
		}
	}
	return best
}

// distance returns the number of letters that must be inserted, deleted, replaced or swapped with a neighbor to
// turn a into b. It may stop counting at enough.
func distance(a, b []rune, enough int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	lowest := 0 // the smallest number in the row before
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
		if low >= enough && lowest+1 >= enough { // a swap can continue from the row before the last
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

package schema

import "strings"

// Nearest returns the one of among that whoever wrote name probably meant, or
// "" if none is near.
func Nearest(name string, among []string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, candidate := range among {
		if d := distance(name, candidate); d < least && d < len([]rune(candidate)) {
			best, least = candidate, d
		}
	}
	return best
}

func nearestValue(given any, allowed []any) string {
	s, ok := given.(string)
	if !ok {
		return ""
	}
	var names []string
	for _, v := range allowed {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	if near := Nearest(s, names); near != "" {
		return "did you mean " + quote(near) + "?"
	}
	return ""
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour to turn one name into the other.
func distance(from, to string) int {
	a, b := fold(from), fold(to)
	if len(a) > 100 || len(b) > 100 {
		return 100
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differ(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

func differ(a, b rune) int {
	if a == b {
		return 0
	}
	return 1
}

// fold makes customerId, customer_id and customer-id alike.
func fold(name string) []rune {
	return []rune(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)))
}

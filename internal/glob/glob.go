// Package glob matches tool names against patterns.
package glob

import "strings"

// Match reports whether a name matches a pattern in which * matches any string.
func Match(pattern, name string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == name
	}
	name, fits := strings.CutPrefix(name, first)
	parts := strings.Split(rest, "*")
	last := len(parts) - 1
	for _, part := range parts[:last] {
		var found bool
		if _, name, found = strings.Cut(name, part); !found {
			return false
		}
	}
	return fits && strings.HasSuffix(name, parts[last])
}

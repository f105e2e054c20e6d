package tools

import (
	"cmp"
	"fmt"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// implicit contains the names of members that JavaScript itself calls: in await, in
// JSON.stringify and when it converts an object to a string. No tool may have them, since a
// program that prints a namespace must not call a tool.
var implicit = names{"__proto__": 1, "then": 1, "toJSON": 1, "toString": 1, "valueOf": 1}

// precedence orders names. Names that need not be changed come first.
func precedence(a, b string) int {
	fits := func(name string) int {
		if jsonvalue.IsIdentifier(name) && !globals.Reserved(name) {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(fits(a), fits(b)), cmp.Compare(a, b))
}

// names are the names in use in one scope, each with the last number that claim appended to it
// to make another name unique.
type names map[string]int

// claim marks name as used and returns it. If it is in use, claim appends the first number
// that makes it unique.
func (n names) claim(name string) string {
	free := name
	for n[free] > 0 {
		n[name]++
		free = fmt.Sprintf("%s_%d", name, n[name])
	}
	n[free] = 1
	return free
}

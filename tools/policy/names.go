package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/writ-go/writ/tools"
)

// name is a pattern of [Tools]. Namespaces and names may hold dots, so that a
// pattern with several of them can be read in several ways, and whoever names a
// tool could choose one that its author did not think of.
type name struct {
	text   string
	server string // in quotes; "" if there is none
	own    string // what follows it
}

func parseName(pattern string) name {
	n := name{text: pattern}
	if quoted, err := strconv.QuotedPrefix(pattern); err == nil {
		server, _ := strconv.Unquote(quoted)
		if own, ok := strings.CutPrefix(pattern[len(quoted):], "."); ok {
			n.server, n.own = server, own
		}
	}
	return n
}

// of says whether the pattern is of a tool: perhaps, if its author has to say.
func (n name) of(b *tools.Binding) answer {
	switch {
	case b.Namespace == "":
		return sure(glob(n.text, b.Name))
	case n.server != "":
		return sure(n.server == b.Namespace && names(n.own, b))
	case !n.reads(b):
		return no
	case strings.Count(n.text, ".") > 1:
		return perhaps
	default:
		return yes
	}
}

// reads reports whether the pattern can be read as one of the tool: a dot or,
// before the first one, a * is where the server's name ends.
func (n name) reads(b *tools.Binding) bool {
	dotted := false
	for i, c := range n.text {
		switch {
		case c == '.' && glob(n.text[:i], b.Namespace) && names(n.text[i+1:], b):
			return true
		case c == '*' && !dotted && glob(n.text[:i+1], b.Namespace) && names(n.text[i:], b):
			return true
		}
		dotted = dotted || c == '.'
	}
	return false
}

// names reports whether a tool has a name within its namespace that fits a
// pattern.
func names(pattern string, b *tools.Binding) bool {
	return glob(pattern, b.Name) || glob(pattern, b.Names[0])
}

// unclear is told instead of guessing.
func (n name) unclear(b *tools.Binding) error {
	return fmt.Errorf("the pattern %s of a policy can be read in several ways, and as %s in one of them; whoever wrote it must put the server's name in quotes, as in %q.*",
		n.text, Display(b.Path()), b.Namespace)
}

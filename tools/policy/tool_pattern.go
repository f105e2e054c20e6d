package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/writ-go/writ/internal/glob"
	"github.com/writ-go/writ/tools"
)

// toolPattern is a pattern of [Tools]. Namespaces and names may contain dots, so a pattern with several dots can be
// read in more than one way. A server, which chooses its tools' names, could exploit the ambiguity.
type toolPattern struct {
	text   string
	server string // the quoted server name; "" if there is none
	tool   string // what follows the quoted server name
}

func parseToolPattern(text string) toolPattern {
	p := toolPattern{text: text}
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		server, _ := strconv.Unquote(quoted)
		if tool, ok := strings.CutPrefix(text[len(quoted):], "."); ok {
			p.server, p.tool = server, tool
		}
	}
	return p
}

// matches returns perhaps if the pattern can be read in more than one way.
func (p toolPattern) matches(b *tools.Binding) answer {
	switch {
	case b.Namespace == "":
		return sure(glob.Match(p.text, b.Name))
	case p.server != "":
		return sure(p.server == b.Namespace && globNames(p.tool, b))
	case !p.canMatch(b):
		return no
	case strings.Count(p.text, ".") > 1:
		return perhaps
	default:
		return yes
	}
}

// canMatch reports whether the pattern matches the tool in one of its readings: the server's name ends at a dot or,
// before the first dot, at a *.
func (p toolPattern) canMatch(b *tools.Binding) bool {
	dotted := false
	for i, c := range p.text {
		switch {
		case c == '.' && glob.Match(p.text[:i], b.Namespace) && globNames(p.text[i+1:], b):
			return true
		case c == '*' && !dotted && glob.Match(p.text[:i+1], b.Namespace) && globNames(p.text[i:], b):
			return true
		}
		dotted = dotted || c == '.'
	}
	return false
}

// globNames reports whether the pattern matches one of the tool's names within its namespace.
func globNames(pattern string, b *tools.Binding) bool {
	return glob.Match(pattern, b.Name) || glob.Match(pattern, b.Names[0])
}

// ambiguous returns the error for a call to a tool that the pattern may or may not match.
func (p toolPattern) ambiguous(b *tools.Binding) error {
	return fmt.Errorf("the policy's pattern %s is ambiguous and may match %s; its author must quote the name of the "+
		"server, as in %q.*",
		p.text, shown(b.Path()), b.Namespace)
}

package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/tools"
)

// Match selects the calls to which a policy applies. The zero Match selects no calls.
type Match struct {
	text     string   // describes the calls to the model
	compound bool     // text needs parentheses
	patterns []string // of Tools
	tool     func(*tools.Binding) answer
	call     func(tools.Call) (bool, error) // called if tool returns perhaps; the model reads the error
}

// answer says how many of a tool's calls a Match selects: none, some or all.
type answer int

const (
	no answer = iota
	perhaps
	yes
)

func sure(is bool) answer {
	if is {
		return yes
	}
	return no
}

func (m Match) of(b *tools.Binding) answer {
	if m.tool == nil {
		return no
	}
	return m.tool(b)
}

func (m Match) matches(c tools.Call) (bool, error) {
	if a := m.of(c.Tool); a != perhaps {
		return a == yes, nil
	}
	return m.call(c)
}

// String describes the calls as in the message for a refused call.
func (m Match) String() string {
	if m.tool == nil {
		return "none"
	}
	return m.text
}

// Tools matches tools by name. In a pattern, * matches any string: "mail.*", "*.delete_*",
// "refund". The part before the dot is the server's name as the host configured it. The part
// after the dot is the tool's name as programs or the server write it: "mail.send_now" or
// "mail.send/now".
//
// Both names may contain dots. A quoted server name is taken literally: `"files.readonly".*` does not match a tool
// readonly.rm of the server files. A pattern with several dots and no quotes is ambiguous. Calls to tools that it may
// match are refused, regardless of the policy.
//
// [tools.Set.Warnings] reports patterns that match no tool. It reports patterns with a * only
// if a server has a similar name, since the tools may be added later.
func Tools(patterns ...string) Match {
	var list []toolPattern
	for _, text := range patterns {
		list = append(list, parseToolPattern(text))
	}
	return Match{
		text:     strings.Join(patterns, ", "),
		patterns: patterns,
		tool: func(b *tools.Binding) answer {
			a := no
			for _, p := range list {
				a = max(a, p.matches(b))
			}
			return a
		},
		call: func(c tools.Call) (bool, error) {
			i := slices.IndexFunc(list, func(p toolPattern) bool { return p.matches(c.Tool) == perhaps })
			return false, list[i].ambiguous(c.Tool)
		},
	}
}

// warnings reports patterns that match no tool.
func (m Match) warnings(all []*tools.Binding) []string {
	var warnings []string
	for _, p := range m.patterns {
		if slices.ContainsFunc(all, func(b *tools.Binding) bool { return parseToolPattern(p).matches(b) != no }) {
			continue
		}
		switch near := nearest(p, all); {
		case near != "":
			warnings = append(warnings, fmt.Sprintf("policy.Tools: %q matches no tool (did you mean %s?)", p, near))
		case !strings.Contains(p, "*"):
			warnings = append(warnings, fmt.Sprintf("policy.Tools: %q matches no tool", p))
		}
	}
	return warnings
}

// nearest returns a correction of a pattern that matches nothing, or "".
func nearest(pattern string, all []*tools.Binding) string {
	server, rest, dotted := strings.Cut(pattern, ".")
	var paths, servers []string
	for _, b := range all {
		paths = append(paths, b.Path())
		if b.Object != "" && !slices.Contains(servers, b.Object) {
			servers = append(servers, b.Object)
		}
	}
	if !strings.Contains(pattern, "*") {
		return similar.Nearest(pattern, paths)
	}
	if near := similar.Nearest(server, servers); dotted && near != "" && near != server {
		return near + "." + rest
	}
	return ""
}

// patterns returns the patterns of several matches.
func patterns(list ...Match) []string {
	var all []string
	for _, m := range list {
		all = append(all, m.patterns...)
	}
	return all
}

// Class matches tools by the class that the host gave them. Effect includes unclassified
// tools.
func Class(classes ...tools.Class) Match {
	var names []string
	for _, c := range classes {
		names = append(names, c.String())
	}
	return Match{text: "tools of class " + strings.Join(names, ", "), tool: func(b *tools.Binding) answer {
		class := b.Hints.Class
		acts := class == tools.Unclassified && slices.Contains(classes, tools.Effect)
		return sure(acts || slices.Contains(classes, class))
	}}
}

// Repeats matches calls whose second argument repeats an effect on purpose, says that the
// effect differs from an earlier one, or that an unclassified tool only reads. See package
// journal.
func Repeats() Match {
	return Func(func(c tools.Call) bool {
		r := c.Repeat
		return r != nil && (len(r.Again)+len(r.Distinct) > 0 || r.Fresh)
	})
}

// Destructive matches tools whose Hints say that their effect cannot be undone.
func Destructive() Match {
	return Match{text: "destructive tools", tool: func(b *tools.Binding) answer { return sure(b.Hints.Destructive) }}
}

// Func matches calls for which selects returns true.
func Func(selects func(tools.Call) bool) Match {
	return Match{text: "calls that the host selects", tool: undecided,
		call: func(c tools.Call) (bool, error) { return selects(c), nil }}
}

func undecided(*tools.Binding) answer { return perhaps }

// And matches calls that every Match in all matches.
func And(all ...Match) Match {
	return Match{
		text: join(all, " and "), compound: len(all) > 1, patterns: patterns(all...),
		tool: func(b *tools.Binding) answer {
			a := yes
			for _, m := range all {
				a = min(a, m.of(b))
			}
			return a
		},
		call: func(c tools.Call) (bool, error) {
			for _, m := range all {
				if ok, err := m.matches(c); !ok || err != nil {
					return false, err
				}
			}
			return true, nil
		},
	}
}

// Or matches a call if at least one of the given matches does.
func Or(matches ...Match) Match {
	return Match{
		text: join(matches, " or "), compound: len(matches) > 1, patterns: patterns(matches...),
		tool: func(b *tools.Binding) answer {
			a := no
			for _, m := range matches {
				a = max(a, m.of(b))
			}
			return a
		},
		call: func(c tools.Call) (bool, error) {
			for _, m := range matches {
				if ok, err := m.matches(c); ok || err != nil {
					return ok, err
				}
			}
			return false, nil
		},
	}
}

// Not matches calls that m does not match.
func Not(m Match) Match {
	return Match{
		text: "not " + join([]Match{m}, ""), compound: true, patterns: m.patterns,
		tool: func(b *tools.Binding) answer { return yes - m.of(b) },
		call: func(c tools.Call) (bool, error) {
			ok, err := m.matches(c)
			return !ok, err
		},
	}
}

func join(list []Match, word string) string {
	var texts []string
	for _, m := range list {
		text := m.String()
		if m.compound {
			text = "(" + text + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, word)
}

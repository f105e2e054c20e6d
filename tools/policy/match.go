package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// Match says which calls a policy is for. The zero Match is for none.
type Match struct {
	text     string   // as in "only these calls are allowed: "
	compound bool     // text needs parentheses
	patterns []string // that name tools
	tool     func(*tools.Binding) answer
	call     func(tools.Call) (bool, error) // asked where tool says perhaps; the error is told to the model
}

// answer is what can be said of a tool's calls before there is one.
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

// String is how a refusal describes the calls to the model.
func (m Match) String() string {
	if m.tool == nil {
		return "none"
	}
	return m.text
}

// Tools matches tools by name. In a pattern, * stands for any text: "mail.*",
// "*.delete_*", "refund". Before the dot is the server's name as the host gave it,
// whatever programs call it; after it the tool's, as programs or as the server
// writes it: "mail.send_now" or "mail.send/now".
//
// Either name may hold dots. The server's name in quotes says where it ends, and
// is taken as it is: `"files.readonly".*` has nothing to do with a tool
// readonly.rm of the server files. A pattern with several dots and no quotes may
// mean both; calls of such tools are refused, whatever the policy.
//
// [tools.Set.Warnings] tells of names that no tool has. Patterns with a * may well
// be for what is not there yet: of these, it tells if there is a server with
// nearly the name before the dot.
func Tools(patterns ...string) Match {
	var list []name
	for _, p := range patterns {
		list = append(list, parseName(p))
	}
	return Match{
		text:     strings.Join(patterns, ", "),
		patterns: patterns,
		tool: func(b *tools.Binding) answer {
			a := no
			for _, n := range list {
				a = max(a, n.of(b))
			}
			return a
		},
		call: func(c tools.Call) (bool, error) { // of a tool that one perhaps means, and none for sure
			i := slices.IndexFunc(list, func(n name) bool { return n.of(c.Tool) == perhaps })
			return false, list[i].unclear(c.Tool)
		},
	}
}

// misspelt warns of the names that no tool has.
func (m Match) misspelt(all []*tools.Binding) []string {
	var warnings []string
	for _, p := range m.patterns {
		if slices.ContainsFunc(all, func(b *tools.Binding) bool { return parseName(p).of(b) != no }) {
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

// nearest is what a pattern may have meant that matches nothing, or "".
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
		return schema.Nearest(pattern, paths)
	}
	if near := schema.Nearest(server, servers); dotted && near != "" && near != server {
		return near + "." + rest
	}
	return ""
}

// patterns are all those that matches have.
func patterns(list ...Match) []string {
	var all []string
	for _, m := range list {
		all = append(all, m.patterns...)
	}
	return all
}

// glob reports whether a name fits a pattern in which * stands for any text.
func glob(pattern, name string) bool {
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

// Class matches the tools to which the host gave one of some classes. Effect matches
// unclassified tools, too.
func Class(classes ...tools.Class) Match {
	var names []string
	for _, c := range classes {
		names = append(names, c.String())
	}
	return Match{text: "tools of class " + strings.Join(names, ", "), tool: func(b *tools.Binding) answer {
		class := b.Hints.Class
		return sure(slices.Contains(classes, class) || class == tools.Unclassified && slices.Contains(classes, tools.Effect))
	}}
}

// Repeats matches the calls whose second argument says that an effect is to be done once
// more, that it is another effect than an earlier one, or that an unclassified tool only
// reads. See package journal.
func Repeats() Match {
	return Func(func(c tools.Call) bool {
		r := c.Repeat
		return r != nil && (len(r.Again)+len(r.Distinct) > 0 || r.Fresh)
	})
}

// Destructive matches the tools whose effect cannot be undone, as their Hints
// say.
func Destructive() Match {
	return Match{text: "destructive tools", tool: func(b *tools.Binding) answer { return sure(b.Hints.Destructive) }}
}

// Calls matches the calls for which is returns true.
func Func(is func(tools.Call) bool) Match {
	return Match{text: "calls that the host picks", tool: undecided,
		call: func(c tools.Call) (bool, error) { return is(c), nil }}
}

func undecided(*tools.Binding) answer { return perhaps }

// Argument matches the calls with an argument for which is returns true. The
// name is that of an argument, or a JSON Pointer to a part of one: "/user/id".
// An argument that is missing or null does not match.
//
// Whatever the policy, the call is refused if the argument does not fit T, or if a
// name in the call differs only in case from one that the pointer, T or the tool's
// input schema has in that place: a handler that uses encoding/json would take one
// for the other.
func Argument[T any](name string, is func(T) bool) Match {
	return Match{text: "calls with a permitted argument " + name, tool: undecided, call: func(c tools.Call) (bool, error) {
		raw, err := argument(c.Args, name)
		if err != nil {
			return false, err
		}
		if findings := c.Tool.OtherCase(c.Args); len(findings) > 0 {
			return false, errors.New(schema.Summary(findings))
		}
		if raw == nil {
			return false, nil
		}
		var v T
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return false, fmt.Errorf("the argument %s must be a %T here", name, v)
		}
		if other := misspelt(reflect.TypeFor[T](), raw); other != "" {
			return false, fmt.Errorf("the argument %s has the name %q, which differs from a known one only in case", name, other)
		}
		return is(v), nil
	}}
}

// ArgumentMatches matches the calls with a string argument that matches re, as
// Argument does otherwise.
func ArgumentMatches(name string, re *regexp.Regexp) Match {
	m := Argument(name, re.MatchString)
	m.text = fmt.Sprintf("calls whose argument %s matches %s", name, re)
	return m
}

// argument returns a part of the arguments; nil if it is missing or null.
func argument(args json.RawMessage, name string) (json.RawMessage, error) {
	steps := []string{name}
	if pointer, ok := strings.CutPrefix(name, "/"); ok {
		steps = strings.Split(pointer, "/")
		for i, step := range steps {
			steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		}
	}
	for _, step := range steps {
		var err error
		if args, err = member(args, step); err != nil {
			return nil, fmt.Errorf("the argument %s: %w", name, err)
		}
	}
	if string(args) == "null" {
		return nil, nil
	}
	return args, nil
}

func member(value json.RawMessage, step string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) == nil {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if key != step && strings.EqualFold(key, step) {
				return nil, fmt.Errorf("the name %q differs from %q only in case", key, step)
			}
		}
		return object[step], nil
	}
	var array []json.RawMessage
	i, err := strconv.Atoi(step)
	if err != nil || json.Unmarshal(value, &array) != nil || i < 0 || i >= len(array) {
		return nil, nil
	}
	return array[i], nil
}

// And matches the calls that all of them match.
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

// Or matches the calls that any of them matches.
func Or(any ...Match) Match {
	return Match{
		text: join(any, " or "), compound: len(any) > 1, patterns: patterns(any...),
		tool: func(b *tools.Binding) answer {
			a := no
			for _, m := range any {
				a = max(a, m.of(b))
			}
			return a
		},
		call: func(c tools.Call) (bool, error) {
			for _, m := range any {
				if ok, err := m.matches(c); ok || err != nil {
					return ok, err
				}
			}
			return false, nil
		},
	}
}

// Not matches the calls that m does not match.
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

package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// node is a value in a notation that has no types: a text, items, or members.
// The shape of what is asked for says what it means.
type node struct {
	text    string
	items   []node
	members []branch
	tagged  bool // even one member may be one of many
}

type branch struct {
	name string
	node
}

func (n node) leaf() bool { return n.items == nil && n.members == nil }

// notation reads a text from its beginning to its end, or not at all.
type notation func(text string) (n node, ok bool)

func notations() []notation { return []notation{elements, table, records, outline} }

// noted reads a list or an object in the first notation that holds one.
func (s shape) noted(text string) json.RawMessage {
	if s.members == nil && s.items == nil {
		return nil
	}
	for _, candidate := range []string{text, announced(text), announced(s.unremarked(text))} {
		for _, parse := range notations() {
			if n, ok := parse(candidate); ok {
				if value := s.grown(n); value != nil {
					return value
				}
			}
		}
	}
	return nil
}

// unremarked is a text without a remark behind it that is about none of the members.
func (s shape) unremarked(text string) string {
	shorter := unremarked(text)
	remark := lacks.ReplaceAllString(text[min(len(text), len(shorter)):], "")
	of := s
	if s.items != nil {
		of = *s.items
	}
	if of.members != nil && strings.ContainsFunc(remark, unicode.IsDigit) ||
		slices.ContainsFunc(of.members, func(m member) bool { return ofField(m.name, remark) }) {
		return text
	}
	return shorter
}

// announced is a text without the line that only announces it, and without
// courtesies behind it.
func announced(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if offers(first) && !strings.HasSuffix(strings.TrimSpace(first), "**:") && !blank(rest) {
		text = rest
	}
	at := max(0, len(text)-longestRemark/10)
	return strings.Trim(text[:at]+courtesies.ReplaceAllStringFunc(text[at:], courtesy), "\n")
}

// grown is what a node means in a shape, nil if that is not certain.
func (s shape) grown(n node) json.RawMessage {
	switch {
	case s.any:
		return nil
	case s.members != nil:
		return s.grownObject(n)
	case s.items != nil:
		return s.grownArray(n)
	case n.leaf():
		return s.grownText(n.text)
	}
	return nil
}

func (s shape) grownText(text string) json.RawMessage {
	switch {
	case s.text && s.constants == nil && s.format == "":
		if quoted, ok := quotedText(text); ok {
			return Quote(quoted)
		}
		if text == "null" {
			return nil
		}
		return s.item(text)
	case s.exact(text) != nil:
		return s.exact(text)
	}
	return s.glossed(text)
}

// grownObject gives each member its part. One that was not asked for, or that is
// given twice, makes the whole uncertain.
func (s shape) grownObject(n node) json.RawMessage {
	var object signature.Values
	for _, b := range s.branches(n) {
		m, known := s.member(b.name)
		_, twice := object.Get(m.name)
		if !known && b.leaf() && s.idle(signature.Value{Name: b.name, JSON: Quote(b.text)}) {
			continue
		}
		if !known || twice {
			return nil
		}
		if b.leaf() && !m.required && (b.text == "" || m.shape.allowed(b.text) == nil && absent[strings.ToLower(strings.Trim(b.text, "*_`()."))]) {
			continue
		}
		value := m.shape.grown(b.node)
		if value == nil || string(value) == `""` {
			return nil
		}
		object = append(object, signature.Value{Name: m.name, JSON: value})
	}
	if object == nil {
		return nil
	}
	return encode(object)
}

// branches are the members of a node, also where each is an item of its own, all
// are on one line, or the node is a list of one.
func (s shape) branches(n node) []branch {
	all := n.members
	switch {
	case n.text != "":
		return s.inline(n.text)
	case len(n.items) == 1:
		return s.branches(n.items[0])
	}
	if pairs := s.pairs(n.items); pairs != nil {
		return pairs
	}
	for _, item := range n.items {
		if len(item.members) != 1 {
			return nil
		}
		all = append(all, item.members[0])
	}
	all = undotted(all)
	if len(all) == 1 && !all[0].leaf() {
		if _, known := s.member(all[0].name); !known {
			return s.branches(all[0].node)
		}
	}
	var spread []branch
	for _, b := range all {
		if parts := s.inline(b.name + ": " + b.text); b.leaf() && len(parts) > 1 {
			spread = append(spread, parts...)
			continue
		}
		spread = append(spread, b)
	}
	return spread
}

// pairs are the members of a table that has a row for each: its name and its value.
func (s shape) pairs(rows []node) (all []branch) {
	for _, row := range rows {
		if len(row.members) != 2 || !row.members[0].leaf() {
			return nil
		}
		if _, known := s.member(row.members[0].name); known {
			return nil
		}
		all = append(all, branch{row.members[0].text, row.members[1].node})
	}
	return all
}

// partStart is where a member may begin within a line.
var partStart = regexp.MustCompile(`(?:^|[,;|·•]\s*|\s-\s|\s[–—]\s)[*_"'\x60]*([\pL_][\pL\pN_]*(?: [\pL\pN_]+)?)[*_"'\x60]*\s*[:=]`)

func (s shape) inline(line string) []branch {
	return inline(func(name string) bool { _, known := s.member(name); return known }, line)
}

// inline takes a line apart at the names that are known: Name: Bea, Age: 73.
func inline(known func(name string) bool, line string) []branch {
	if len(line) > 1000 || strings.Contains(line, "\n") {
		return nil
	}
	var parts []branch
	end := 0
	for _, at := range partStart.FindAllStringSubmatchIndex(line, -1) {
		if !known(line[at[2]:at[3]]) {
			continue
		}
		if parts == nil && strings.Trim(line[:at[0]], " *-") != "" {
			return nil
		}
		if parts != nil {
			parts[len(parts)-1].text = bare(line[end:at[0]])
		}
		parts = append(parts, branch{name: line[at[2]:at[3]]})
		end = at[1]
	}
	if parts != nil {
		parts[len(parts)-1].text = bare(strings.TrimRight(line[end:], " ,;|"))
	}
	return parts
}

// undotted puts person.name and person.age under person.
func undotted(all []branch) []branch {
	var out []branch
	for _, b := range all {
		before, name, dotted := strings.Cut(b.name, ".")
		if !dotted {
			out = append(out, b)
			continue
		}
		b.name = name
		i := slices.IndexFunc(out, func(o branch) bool { return o.name == before && !o.leaf() })
		if i < 0 {
			i = len(out)
			out = append(out, branch{name: before})
		}
		out[i].members = append(out[i].members, b)
	}
	return out
}

// grownArray gives each item its part.
func (s shape) grownArray(n node) json.RawMessage {
	items := n.items
	switch {
	case n.text != "":
		if value := s.literal(n.text); value != nil {
			return value
		}
		return s.list(n.text)
	case len(n.members) == 1 && listNames[strings.ToLower(n.members[0].name)]:
		return s.grownArray(n.members[0].node)
	case n.members != nil:
		items = n.repeated()
	}
	if items == nil {
		return nil
	}
	if texts := textsOf(items); texts != nil && (s.items.text || s.items.scalar()) {
		return s.each(texts)
	}
	values := make([]json.RawMessage, len(items))
	for i, item := range items {
		if values[i] = s.items.grown(item); values[i] == nil {
			return nil
		}
	}
	return encode(values)
}

var listNames = wordSet("ul ol list items array values")

// textsOf are the texts of items that are nothing else.
func textsOf(items []node) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		if texts[i] = item.text; !item.leaf() || strings.Contains(item.text, "\n") {
			return nil
		}
	}
	return texts
}

// repeated are members that all have the same name, or one with numbers: Person 1
// and Person 2.
func (n node) repeated() []node {
	if len(n.members) < 2 && !n.tagged {
		return nil
	}
	if cycles := n.cycles(); cycles != nil {
		return cycles
	}
	items := make([]node, len(n.members))
	for i, m := range n.members {
		if unnumbered(m.name) != unnumbered(n.members[0].name) {
			return nil
		}
		items[i] = m.node
	}
	return items
}

// cycles are items one behind the other, where their first name comes again.
func (n node) cycles() (items []node) {
	if len(n.members) < 4 || n.members[0].name == n.members[1].name {
		return nil
	}
	for _, m := range n.members {
		if m.name == n.members[0].name {
			items = append(items, node{})
		}
		last := &items[len(items)-1]
		last.members = append(last.members, m)
	}
	if len(items) < 2 {
		return nil
	}
	return items
}

func unnumbered(name string) string { return strings.TrimRight(name, " #.0123456789") }

package module

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

var bullet = regexp.MustCompile(`^(?:([-*•+])[ \t]+|(\d{1,3})[.)][ \t]+)`)

// list reads a list of words or numbers: bulleted, numbered, one a line, or with
// commas between them.
func (s shape) list(text string) json.RawMessage {
	if s.items == nil || !s.items.text && !s.items.scalar() {
		return nil
	}
	lines := linesOf(text)
	if len(lines) > 1 && introduces(lines[0]) && !bullet.MatchString(lines[0]) {
		lines = lines[1:]
	}
	items, certain := bulleted(lines)
	switch {
	case certain:
	case len(lines) > 1:
		items, certain = lines, !slices.ContainsFunc(lines, func(line string) bool { return !short(line, 4) || strings.ContainsAny(line[:1], " \t-*+•") })
	case len(lines) == 1:
		items, certain = commas(lines[0])
		certain = certain && !(s.items.number() && !spacedCommas(lines[0]))
	}
	if !certain {
		return nil
	}
	return s.each(items)
}

// linesOf returns the lines of a text that are not empty.
func linesOf(text string) []string {
	return slices.DeleteFunc(strings.Split(strings.TrimRight(text, " \t\n"), "\n"), blank)
}

// bulleted takes off the bullets or numbers, if every line has one of the same
// kind.
func bulleted(lines []string) (items []string, ok bool) {
	kind := ""
	for i, line := range lines {
		m := bullet.FindStringSubmatch(line)
		if m == nil || i > 0 && m[1] != kind {
			return nil, false
		}
		kind = m[1]
		items = append(items, strings.TrimSpace(line[len(m[0]):]))
	}
	return items, len(items) > 0
}

// commas splits a line at its commas, if what is between them can only be items.
func commas(line string) (items []string, ok bool) {
	if inner, bracketed := strings.CutPrefix(line, "["); bracketed {
		if line, ok = strings.CutSuffix(inner, "]"); !ok {
			return nil, false
		}
	}
	for item := range strings.SplitSeq(line, ",") {
		if item = strings.TrimSpace(item); !short(item, 3) {
			return nil, false
		}
		items = append(items, item)
	}
	return items, len(items) > 2
}

// spacedCommas tells 1, 234, 567 from a number.
func spacedCommas(line string) bool { return strings.Count(line, ",") == strings.Count(line, ", ") }

// short reports whether a text is a few words and no sentence.
func short(text string, most int) bool {
	words := wordsOf(text)
	return len(words) > 0 && len(words) <= most && !strings.ContainsAny(text, ".;:!?(){}[]") &&
		!slices.ContainsFunc(words, func(w string) bool { return doubts[w] || corrections[w] || w == "and" })
}

// each reads every item, or nothing.
func (s shape) each(items []string) json.RawMessage {
	values := make([]json.RawMessage, len(items))
	for i, item := range items {
		if strings.HasPrefix(item, "...") || strings.HasPrefix(item, "…") || strings.EqualFold(item, "etc") || strings.EqualFold(item, "etc.") {
			return nil
		}
		if values[i] = s.items.item(item); values[i] == nil {
			return nil
		}
	}
	return encode(values)
}

func (s shape) item(text string) json.RawMessage {
	if !s.text || s.constants != nil || s.format != "" {
		return s.exact(text)
	}
	for _, mark := range []string{"**", "`", `"`, "'"} {
		if inner, ok := within(strings.TrimSuffix(text, ","), mark); ok {
			return quote(inner)
		}
	}
	return quote(text)
}

// parts reads the members of an object that are given by labels, one a line.
func (s shape) parts(text string) json.RawMessage {
	if s.members == nil {
		return nil
	}
	var object signature.Values
	for _, line := range linesOf(text) {
		name, value, ok := labelled(line)
		m, known := s.member(name)
		if _, twice := object.Get(m.name); !ok || !known || twice || value == "" {
			return nil
		}
		object = append(object, signature.Value{Name: m.name, JSON: m.shape.part(value)})
	}
	return encode(object)
}

func (s shape) part(text string) json.RawMessage {
	switch {
	case s.text && s.constants == nil && s.format == "":
		return s.item(text)
	case s.items != nil, s.members != nil:
		if value := s.literal(text); value != nil {
			return value
		}
	}
	if value := s.exact(text); value != nil {
		return value
	}
	return quote(text) // for the schema to refuse
}

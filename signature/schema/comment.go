package schema

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxSummary  = 160 // bytes of a description, unless its first sentence is longer
	maxSentence = 400 // bytes of that sentence
	maxFact     = 60  // bytes of a pattern or default
	maxResolve  = 20  // references followed to what constrains a value
)

// comment returns what the type of a property does not say, as a comment behind
// it: its constraints, which also describe formats, then its description.
func (p *printer) comment(s spot) string {
	if !p.options.Docs {
		return ""
	}
	var parts []string
	if facts := strings.Join(p.schema.facts(s), ", "); facts != "" {
		parts = append(parts, facts)
	}
	if text := p.description(s); text != "" {
		parts = append(parts, text)
	}
	text := harmless(strings.Join(parts, ". "))
	if text == "" {
		return ""
	}
	return " /* " + text + " */"
}

func (p *printer) description(s spot) string {
	text := s.text("description")
	if text == "" {
		text = p.schema.concrete(s).text("description")
	}
	text = strings.Join(strings.Fields(text), " ")
	if p.options.Whole {
		return text
	}
	return summary(text)
}

// Comment makes of a description what may stand in a comment of a declaration:
// one line, cut at the end of a sentence, in which nothing can end the comment
// or a fenced block.
func Comment(description string) string {
	return harmless(summary(strings.Join(strings.Fields(description), " ")))
}

// concrete returns the schema that constrains a value: the target of a
// reference, and of what may be null, the rest.
func (s *Schema) concrete(from spot) spot {
	for range maxResolve {
		next, ok := s.target(from)
		if !ok {
			next, ok = notNull(from)
		}
		if !ok {
			return from
		}
		from = next
	}
	return from
}

// notNull returns the only alternative beside null.
func notNull(s spot) (spot, bool) {
	either := append(s.list("anyOf"), s.list("oneOf")...)
	if len(either) != 2 {
		return spot{}, false
	}
	switch {
	case either[1].text("type") == "null":
		return either[0], true
	case either[0].text("type") == "null":
		return either[1], true
	default:
		return spot{}, false
	}
}

// facts lists the constraints that help whoever writes a value.
func (s *Schema) facts(of spot) []string {
	of = s.concrete(of)
	all := constraints(of)
	if of.has("items") {
		each := constraints(s.concrete(of.child("items")))
		all = append(all, short("each ", strings.Join(each, ", "), ""))
	}
	if of.has("default") {
		all = append(all, short("default ", literal(of.keyword("default")), ""))
	}
	return slices.DeleteFunc(all, func(fact string) bool { return fact == "" })
}

func constraints(s spot) []string {
	all := []string{
		integer(s),
		bounds(s, "minimum", "maximum", ""),
		bound(s, "exclusiveMinimum", "> "),
		bound(s, "exclusiveMaximum", "< "),
		bound(s, "multipleOf", "multiple of "),
		bounds(s, "minLength", "maxLength", " character"),
		bounds(s, "minItems", "maxItems", " item"),
		s.text("format"),
		s.text("contentEncoding"),
		short("/", s.text("pattern"), "/"),
	}
	if s.keyword("uniqueItems") == true {
		all = append(all, "unique")
	}
	return slices.DeleteFunc(all, func(fact string) bool { return fact == "" })
}

func integer(s spot) string {
	types := typesOf(s)
	if slices.Contains(types, "integer") && !slices.Contains(types, "number") {
		return "integer"
	}
	return ""
}

// short puts a fact between two texts, or drops it if it is long or empty.
func short(before, fact, after string) string {
	if fact == "" || len(fact) > maxFact {
		return ""
	}
	return before + fact + after
}

// bounds writes a range: 1–100, ≥ 1 or ≤ 100.
func bounds(s spot, low, high, unit string) string {
	from, to := literal(s.keyword(low)), literal(s.keyword(high))
	if unit != "" && (s.has(high) && to != "1" || !s.has(high) && from != "1") {
		unit += "s"
	}
	switch {
	case s.has(low) && s.has(high) && from == to:
		return from + unit
	case s.has(low) && s.has(high):
		return from + "–" + to + unit
	case s.has(low):
		return "≥ " + from + unit
	case s.has(high):
		return "≤ " + to + unit
	default:
		return ""
	}
}

func bound(s spot, name, sign string) string {
	if !s.has(name) {
		return ""
	}
	if _, flag := s.keyword(name).(bool); flag { // draft 4: minimum has the number
		return ""
	}
	return sign + literal(s.keyword(name))
}

var sentenceEnd = regexp.MustCompile(`[.!?]["')\]]* `)

// summary cuts a text at the end of a sentence, since half a sentence about a
// format misleads. The text has no line breaks.
func summary(text string) string {
	if len(text) <= maxSummary {
		return text
	}
	end := 0
	for _, next := range sentences(text) {
		if end > 0 && next > maxSummary {
			break
		}
		end = next
	}
	if end <= maxSentence {
		return text[:end]
	}
	return cutAtWord(text, maxSentence)
}

// sentences returns where each sentence of a text ends.
func sentences(text string) []int {
	var ends []int
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		if !abbreviated(text[:at[0]], text[at[1]:]) {
			ends = append(ends, at[1]-1)
		}
	}
	return append(ends, len(text))
}

// abbreviated reports whether the period between two texts ends no sentence.
func abbreviated(before, after string) bool {
	for _, short := range []string{"e.g", "i.e", "etc", "vs", "cf", "approx", "incl"} {
		if strings.HasSuffix(before, short) {
			return true
		}
	}
	return after != "" && unicode.IsLower([]rune(after)[0])
}

func cutAtWord(text string, most int) string {
	cut := strings.ToValidUTF8(text[:most-len("…")], "")
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// Harmless makes of a text what may stand in a comment of a declaration: one
// line, of which nothing can end the comment or a fenced block.
func Harmless(text string) string { return harmless(text) }

// harmless keeps a text from ending the comment it is put in, or the line, or
// the fenced block, and drops what cannot be seen.
func harmless(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		default:
			return r
		}
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("*/", "* /", "/*", "/ *", "```", "'''", "~~~", "'''").Replace(text)
}

package replies

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// readValue reads one value as the prompt says that it must be written: text as
// it is or as a JSON string, anything else as JSON, all possibly in a fence. What
// is written otherwise is read if it can mean only one thing. No value and no
// error is that of an optional field that has none.
func readValue(f signature.Field, g given) (json.RawMessage, error) {
	text := strings.TrimSpace(Unfence(g.text))
	if isPictured(text) {
		text = strings.TrimFunc(text, isInvisible)
	}
	if text == "" {
		return nil, structural(f.Name, `has nothing under its marker; if that is meant, write ""`)
	}
	constant, item := enumerated(f, text)
	if constant != nil {
		return constant, nil
	}
	if !item {
		if value, absent, err := without(f, text); absent {
			return value, err
		}
	}
	if text[0] == '"' || (text[0] == '[' || text[0] == '{') && !f.Schema.AnyText() {
		mended, err := slashed(text)
		if err != nil && json.Valid([]byte(text)) {
			return nil, structural(f.Name, "cannot be read: %v", err)
		}
		if text != mended && json.Valid([]byte(text)) {
			text = mended
		}
	}
	if startsJSON(text) && (text[0] == '"' || !f.Schema.AnyText()) && fits(f, json.RawMessage(text)) {
		return full(f, json.RawMessage(text))
	}
	if value := pythonic(f, text); value != nil {
		return full(f, value)
	}
	if !g.open && !g.loose && text[0] == '{' && !f.Schema.AnyText() {
		text = shapeOf(f).closed(text)
	}
	isString := text[0] == '"' && json.Valid([]byte(text))
	if isString || !f.Schema.AnyText() && !fits(f, Quote(text)) {
		return spelled(f, text)
	}
	if !f.Schema.AnyText() {
		if when := moment(text); when != nil {
			return when, nil
		}
	}
	value, err := readText(f, g, text)
	if err == nil && (strings.Contains(text, "\n") || isCode(f) || isBrief(f)) {
		err = entire(f, PlainText(value), text != g.text)
	}
	if err != nil {
		return nil, err
	}
	return value, nil
}

// without reads words that say that there is no value, or that one is to come.
func without(f signature.Field, text string) (value json.RawMessage, absence bool, err error) {
	if f.Required && !f.Schema.AnyText() && notThere.MatchString(text) && fits(f, json.RawMessage("null")) {
		return json.RawMessage("null"), true, nil
	}
	if !f.Required && notThere.MatchString(text) {
		if f.Schema.AnyText() && ofKnowledge.MatchString(text) {
			return nil, true, errMayBeNone(f.Name)
		}
		value, err = nothing(f)
		return value, true, err
	}
	if hollow(f.Name, text) {
		return nil, true, errHollow(f.Name)
	}
	if (!f.Required || !f.Schema.AnyText()) && len(text) < 24 && absent[strings.ToLower(strings.Trim(text, "*_`()."))] {
		switch {
		case !f.Required:
			value, err = nothing(f)
			return value, true, err
		case fits(f, json.RawMessage("null")):
			return json.RawMessage("null"), true, nil
		}
	}
	if !f.Required && strings.IndexByte("(nN", text[0]) >= 0 && leftOut.MatchString(text) {
		return nil, true, errMayBeNone(f.Name)
	}
	return nil, false, nil
}

func errMayBeNone(field string) error {
	return structural(field, "may be said to have no value; if that is meant, leave it out, else write it as a JSON string")
}

// enumerated is the value of those that the schema lists which a text gives, whatever the
// word says else, or whether it is one for the items of a list. What is JSON that fits is that.
func enumerated(f signature.Field, text string) (constant json.RawMessage, item bool) {
	if !f.Schema.Mentions(`"enum"`) && !f.Schema.Mentions(`"const"`) || len(text) > longestWord {
		return nil, false
	}
	if text[0] != '"' && startsJSON(text) && fits(f, json.RawMessage(text)) {
		return nil, false
	}
	s := shapeOf(f)
	for _, word := range []string{text, Undecorated(strings.Trim(text, "()[]*_"))} {
		if constant = s.allowed(word); constant != nil && fits(f, constant) {
			return constant, false
		}
		item = item || s.items != nil && s.items.allowed(word) != nil
	}
	return nil, item
}

// isInvisible reports whether a rune at the end of a value is no part of it.
func isInvisible(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200b' || r == '\u2060' || r == '\ufeff'
}

func errHollow(field string) error {
	return structural(field, "has a placeholder, or stands for more than it says; write all of the value. A text that is meant so can be written as a JSON string")
}

func errHollowJSON(field string) error {
	return structural(field, `has a placeholder, or stands for more than it says; write all of the value. A text that is meant so can have its first letter as an escape, such as \u0054 for T`)
}

// full is a value that fits, unless a part of it is left out.
func full(f signature.Field, value json.RawMessage) (json.RawMessage, error) {
	if plain, err := taken(f, string(value)); plain != nil || err != nil {
		return plain, err
	}
	if value[0] != '"' && undecided.Match(value) {
		return nil, structural(f.Name, "leaves a choice in one of its texts; decide on one")
	}
	if (value[0] == '[' || value[0] == '{') && hollowJSON(f, value, false) && (shapeOf(f).listsTexts() || hollowJSON(f, value, isFilled(f.Name, value))) {
		return nil, errHollowJSON(f.Name)
	}
	return whole(f, unlinked(value))
}

// undecided finds a choice beside a text within a value: "Ann (or was it Anna?)".
var undecided = regexp.MustCompile(`"[^"\\(]{1,60} \(or (?:was|is) (?:it|he|she|that) [^"\\]*\?`)

// link finds texts that are links to themselves, as editors make of addresses.
var link = regexp.MustCompile(`"\[([^\]"\\]+)\]\((?:mailto:|tel:|https?://)?([^)"\\]+)\)"`)

// unlinked takes the texts in a value out of their links.
func unlinked(value json.RawMessage) json.RawMessage {
	if value[0] == '"' || !bytes.Contains(value, []byte("](")) {
		return value
	}
	return link.ReplaceAllFunc(value, func(text []byte) []byte {
		m := link.FindSubmatch(text)
		if !bytes.Equal(m[1], m[2]) {
			return text
		}
		return slices.Concat([]byte(`"`), m[1], []byte(`"`))
	})
}

// integral finds whole numbers that are written as fractions, which a schema
// takes for integers and Go does not.
var integral = regexp.MustCompile(`\d(?:\.0+|(?:\.\d+)?[eE][+-]?\d+)(?:\W|$)`)

// huge finds numbers that may be larger than any that a program can hold.
var huge = regexp.MustCompile(`\d[eE]\+?\d{3}`)

// whole writes 42.0 as 42 where an integer is asked for. Of 42.000 it is not
// certain that it isn't a thousand times as much.
func whole(f signature.Field, value json.RawMessage) (json.RawMessage, error) {
	if value[0] == '"' {
		return value, entire(f, PlainText(value), false)
	}
	if !bytes.ContainsAny(value, ".eE") {
		return value, nil
	}
	if huge.Match(value) && json.Unmarshal(value, new(any)) != nil {
		return nil, structural(f.Name, "has a number that is too large")
	}
	if !integral.Match(value) {
		return value, nil
	}
	s := shapeOf(f)
	if s.integer && !s.fraction && strings.HasSuffix(string(value), ".000") {
		return nil, structural(f.Name, "cannot be read: %s is no way to write an integer", value)
	}
	if bent := s.bend(value); fits(f, bent) {
		return bent, nil
	}
	return value, nil
}

// unfenced takes a program in a JSON string out of its fence.
func unfenced(f signature.Field, value json.RawMessage) json.RawMessage {
	var text string
	if !isCode(f) || json.Unmarshal(value, &text) != nil {
		return value
	}
	if inner := Unfence(text); !blank(inner) {
		text = inner
	}
	return Quote(text)
}

// startsJSON spares most texts the look whether they are JSON.
func startsJSON(text string) bool { return strings.IndexByte(`{["-0123456789tfn`, text[0]) >= 0 }

func fits(f signature.Field, value json.RawMessage) bool {
	return len(f.Schema.Validate(value)) == 0
}

// spelled reads a value that is not written as JSON.
func spelled(f signature.Field, text string) (json.RawMessage, error) {
	s := shapeOf(f)
	var misfit json.RawMessage
	if value := s.itself(text); value != nil && fits(f, value) {
		return value, nil
	}
	for _, candidate := range []string{text, unframed(f.Name, text)} {
		for _, spell := range spellings() {
			value := spell(s, candidate)
			if value == nil {
				continue
			}
			if fits(f, value) {
				return full(f, value)
			}
			if misfit == nil {
				misfit = value
			}
		}
	}
	return nil, mismatch(f, s, text, misfit)
}

// spellings are ways to write values, from the most certain.
func spellings() []spelling {
	return []spelling{shape.literal, shape.exact, shape.glossed, shape.graded, shape.stated, shape.concluded, shape.pronounces, shape.verdict, shape.ticked, shape.settled, shape.totalled, shape.list, shape.noted, shape.boxed, shape.single}
}

type spelling func(shape, string) json.RawMessage

// mismatch says why a text is no value of a field. Misfit is what it was read as.
func mismatch(f signature.Field, s shape, text string, misfit json.RawMessage) error {
	value := misfit
	if value == nil {
		value = json.RawMessage(text)
	}
	if !json.Valid(value) {
		value = Quote(text)
	}
	findings := f.Schema.Validate(value)
	if s.lasts() && value[0] == '"' {
		return structural(f.Name, `does not say for certain how long; write an integer of nanoseconds, or a number with its unit, as in "90 seconds"`)
	}
	if s.holds(value) {
		return notAllowed(f.Name, findings)
	}
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if _, _, err := readLax(text); err != nil {
			return structural(f.Name, "cannot be read as JSON: %v", err)
		}
	}
	return structural(f.Name, "cannot be read: %s", lines(findings))
}

// holds reports whether a value is of a kind that the shape admits, so that only
// a rule can be against it.
func (s shape) holds(value json.RawMessage) bool {
	switch c := value[0]; c {
	case '"':
		return s.text
	case '{':
		return s.members != nil
	case '[':
		return s.items != nil
	case 't', 'f':
		return s.boolean
	case 'n':
		return s.null
	default:
		return s.number()
	}
}

package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What stands in parentheses behind a value may say the same once more, in words or
// by the scale, or which value it is not. Then it takes nothing from the value,
// though it names others.

var aside = regexp.MustCompile(`^\s*\(([^()\n]*)\)`)

// withoutAside is what stands beside a value without such a parenthesis, and without
// the doubt that a degree of certainty is about.
func (s shape) withoutAside(value, beside string) string {
	if certainties[strings.ToLower(s.name)] {
		beside = ownDoubt.ReplaceAllString(beside, "")
	}
	m := aside.FindStringSubmatch(beside)
	if m == nil || s.boolean {
		return beside
	}
	if inner := strings.TrimSpace(m[1]); s.echoes(value, inner) || s.onScale(inner) || s.denies(value, inner) || s.inParts(value, inner) || s.partly(value, inner) || s.listed(value, inner) {
		return beside[len(m[0]):]
	}
	return beside
}

// certainties are fields that say how certain another is.
var certainties = wordSet("sure certain certainty confident confidence confidence_level probability likelihood")

// ownCertainty is a degree of certainty that takes nothing from an answer.
var ownCertainty = regexp.MustCompile(`(?i)^(?:(?:very |quite )?(?:high|certain|sure|confident)|1|1\.0|0\.9\d*|9\d ?%|100 ?%)\.?$`)

// ownDoubt finds what follows from what is said before: so I'm not certain.
var ownDoubt = regexp.MustCompile(`(?i),? (?:so|hence|thus|therefore),? (?:i am|i['’]m) not (?:\w+ )?(?:sure|certain|confident)\.?$`)

// echoes reports whether words say the same number.
func (s shape) echoes(value, words string) bool {
	return s.number() && numberInWords(words) == value
}

var scale = regexp.MustCompile(`^(?:on|in) (?:a|the) (?:scale|range) (?:of |from )?(-?\d+(?:\.\d+)?)(?: to |-|–| and )(-?\d+(?:\.\d+)?)$`)

// onScale reports whether a text says no more than how large the number may be.
func (s shape) onScale(text string) bool {
	m := scale.FindStringSubmatch(text)
	return m != nil && s.least != nil && s.most != nil && equalRatio(m[1], ratioText(*s.least), "1") && equalRatio(m[2], ratioText(*s.most), "1")
}

var denial = regexp.MustCompile(`(?i)^(?:(?:and|definitely|certainly|clearly) )*not ([^\s,]+)(?:,? (?:because|since|as) (.+))?$`)

// denies reports whether a text says of another value that it is not the one.
func (s shape) denies(value, text string) bool {
	m := denial.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	other := s.exact(m[1])
	return other != nil && PlainText(other) != value && !dubious(m[2]) && !ofField(s.name, m[2]) &&
		!slices.ContainsFunc(wordsOf(m[2]), func(w string) bool { return speaks[w] || waverings[w] || s.isConstant(w) })
}

func (s shape) isConstant(word string) bool { return s.constant(word) != nil }

var ofPart = regexp.MustCompile(`^([\pL-]+) (?:about|on|regarding|towards?|with) [^,;]+$`)

// inParts reports whether a text gives every other constant as that of a part: mixed
// (good about the food, bad about the service).
func (s shape) inParts(value, text string) bool {
	left := slices.DeleteFunc(slices.Clone(s.constants), func(c string) bool { return c == value })
	parts := regexp.MustCompile(`[,;] (?:and |but )?| and | but `).Split(text, -1)
	for _, part := range parts {
		m := ofPart.FindStringSubmatch(part)
		if m == nil || strings.ContainsAny(part, "?~") || unsure.MatchString(part) || slices.ContainsFunc(wordsOf(part), func(w string) bool { return corrections[w] }) {
			return false
		}
		i := slices.IndexFunc(left, func(c string) bool { return strings.EqualFold(c, m[1]) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(parts) > 1 && len(left) == 0
}

// partOf finds where some of what is counted are: 3 of them in the database module.
var partOf = regexp.MustCompile(`(?i)^(\d{1,9}) of (?:them|these|those|which) (?:in|on|at|from|during|by|before|after) [\pL\d ]+$`)

// partly reports whether a text says where some of a number are.
func (s shape) partly(value, text string) bool {
	m := partOf.FindStringSubmatch(text)
	n, err := strconv.Atoi(value)
	if m == nil || err != nil || !s.integer || dubious(text) {
		return false
	}
	part, _ := strconv.Atoi(m[1])
	return part <= n && !slices.ContainsFunc(wordsOf(text), func(w string) bool { return waverings[w] })
}

// degree is words that a number in parentheses makes exact, by which half of the
// range they mean.
var degree = regexp.MustCompile(`(?i)^(?:(?:very|quite|extremely|highly|absolutely|completely|fully) )?(?:(sure|certain|confident|high|strong)|(low|weak)) \((\d*\.?\d+)\)[.!]?$`)

// graded reads a degree with its number: very sure (0.95). A number that belies the
// word is none.
func (s shape) graded(text string) json.RawMessage {
	m := degree.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || !s.fraction || s.least == nil || s.most == nil {
		return nil
	}
	value := s.exact(m[3])
	n, err := strconv.ParseFloat(string(value), 64)
	middle := (*s.least + *s.most) / 2
	if err != nil || !s.inRange(string(value)) || n == middle || n > middle != (m[1] != "") {
		return nil
	}
	return value
}

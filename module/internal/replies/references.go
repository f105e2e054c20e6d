package replies

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What is said beside a number may say where it comes from: on line 12. The number of a
// line is no other value, unless a line is what was asked for, or some were forgotten.

var reference = regexp.MustCompile(`(?i)\b(line|page|row|section|clause|chapter|paragraph|figure|table)s? \d[\d,]*(?:(?:,? and |, )\d+)*\b`)

// forgets finds what is said of places that have more, or should not count.
var forgets = regexp.MustCompile(`(?i)\b(?:miss|missed|missing|skip|skipped|forgot|forgotten|overlooked|ignored|uncounted|duplicates?|duplicated|repeats?|repeated|same|up to|until|from|only|since)\b`)

// withoutReferences is a text without the numbers of places in it.
func (s shape) withoutReferences(text string) string {
	if !s.number() || adds.MatchString(text) || forgets.MatchString(text) {
		return text
	}
	own := wordsOf(spaced.Replace(s.name))
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		place, _, _ := strings.Cut(strings.ToLower(found), " ")
		place = strings.TrimSuffix(place, "s")
		if slices.ContainsFunc(own, func(w string) bool { return strings.TrimSuffix(w, "s") == place }) {
			return found
		}
		return ""
	})
}

// listed reports whether a text is a list of places, of which there are as many as a
// number says: 5 (lines 3, 7, 12, 15 and 21).
func (s shape) listed(value, text string) bool {
	if !s.integer || reference.FindString(text) != text || s.withoutReferences(text) != "" {
		return false
	}
	return strconv.Itoa(len(digits.FindAllString(text, -1))) == value
}

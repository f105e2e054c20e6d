package module

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/writ-go/writ/signature"
)

// What is said behind an answer may explain it, or take it back. No list of
// words tells the two apart for certain, so these lists are long: what is on
// them costs one more question, and what is missing might cost the answer.

// corrections begin or announce another answer.
var corrections = wordSet(`wait actually correction corrections corrected apologies apologize apologise mistake mistaken
	mistakenly wrong incorrect incorrectly oops whoops ups scratch strike reconsider reconsidering reconsidered
	revise revised revising revision update updated edit edited amend amended meant instead rather should ought
	disregard ignore hmm hm unsure uncertain fairer reflection alternatively alternative withdraw retract error
	erroneous misread misspoke miscounted make could might perhaps maybe possibly however nope would
	changed change mind prefer better actual final correct otherwise`)

// doubts make a value uncertain that stands with them.
var doubts = wordSet(`or either between about approx approximately around roughly nearly almost least more less than
	unclear unknown if unless depends depending estimate estimated guess guessing assume assuming not no never
	neither nor but though although except yet sorry half minus negative thousand thousands million millions
	billion billions hundred hundreds dozen percent partly mostly somewhat fairly probably likely cannot etc
	above below over under k m bn pct`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// courtesies are lines that end many replies and say nothing, as long as no
// second thought is in them.
var courtesies = regexp.MustCompile(`(?im)^[ \t]*(?:please (?:let me know|feel free)|let me know|feel free|(?:i )?hope (?:this|that|it) helps|is there anything else|anything else|if you (?:need|have|want) (?:any|more|further|other|me)|would you like|i(?:'m| am) happy to|happy to|have a (?:nice|great|good)|(?:thanks?(?: you)?|bye|done|good luck)[.!]*$)(?:\W.*)?$`)

// takesBack reports whether a text behind an answer may take it back.
func (r reply) takesBack(values signature.Values, behind string) bool {
	rest := courtesies.ReplaceAllStringFunc(behind, func(line string) string {
		if secondThought.MatchString(line) {
			return line
		}
		return ""
	})
	rest = strings.Trim(rest, "`*_-# \t\r\n")
	if rest == "" {
		return false
	}
	words := wordsOf(rest)
	if len(words) < 4 && !r.truncated || slices.ContainsFunc(words, func(w string) bool { return corrections[w] || contracted(w) }) || says(rest, "no", "not", "sorry") {
		return true
	}
	for _, f := range r.outputs {
		if value, given := values.Get(f.Name); given && (rivals(shapeOf(f), plainText(value), words) || restates(f, value, rest)) {
			return true
		}
	}
	return false
}

// restates reports whether a sentence gives a field another value: The answer
// is Rome.
func restates(f signature.Field, value json.RawMessage, text string) bool {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".!\n", r) }) {
		sentence = strings.TrimSpace(sentence)
		said := unframed(f.Name, sentence)
		if sentence == "" || said == sentence {
			continue
		}
		if again, err := readValue(f, given{text: said, loose: true}); err == nil && !equalJSON(again, value) {
			return true
		}
	}
	return false
}

var secondThought = regexp.MustCompile(`(?i)\b(?:wait|actually|wrong|mistake|sorry|correction|instead|correct|answer is)\b`)

func contracted(word string) bool {
	return strings.HasSuffix(word, "n't") || strings.HasSuffix(word, "n’t")
}

// says reports whether a sentence begins with one of the words.
func says(text string, openings ...string) bool {
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".!?:;\n", r) }) {
		if words := wordsOf(sentence); len(words) > 0 && slices.Contains(openings, words[0]) {
			return true
		}
	}
	return false
}

// rivals reports whether a text names another value that the field could have.
func rivals(s shape, value string, words []string) bool {
	for _, w := range words {
		switch {
		case w == strings.ToLower(value):
		case (s.number() || s.format == dateTime) && isNumeral(w):
			return true
		case s.boolean && truth[w] != "" && truth[w] != value:
			return true
		case slices.ContainsFunc(s.constants, func(c string) bool { return strings.EqualFold(c, w) }):
			return true
		}
	}
	return false
}

func isNumeral(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) || numerals[word] != "" && word != "one"
}

// uncertain reports whether what stands beside a value makes it doubtful.
func uncertain(s shape, value, beside string) bool {
	words := wordsOf(beside)
	return strings.ContainsAny(beside, "?%~±") || strings.Contains(beside, "...") || strings.Contains(beside, "…") ||
		slices.ContainsFunc(words, func(w string) bool { return corrections[w] || doubts[w] || contracted(w) }) ||
		rivals(s, value, words)
}

// wordsOf returns the words and numbers of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’'
	})
}

package replies

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// What stands beside a value may name another that the field could have. A number is one
// only if it stands where the value could: what is the number of something else, by the
// word before it or behind it, is none.

// rivals reports whether a text names another value that the field could have.
func rivals(s shape, value string, words []string) bool {
	if namesPhrase(s, value, words) {
		return true
	}
	certain := !s.number() || !mayHaveMore(words)
	for i, w := range words {
		switch {
		case s.boolean && w == "no" && i+1 < len(words): // as in no threats
		case w == strings.ToLower(value), s.number() && numerals[w] == value:
		case s.number() && isNumeral(w) && !ordinal(w) && !(certain && s.ofElse(words, i)), s.temporal() && (i == 0 || !isOfElse(words, i)) && !strings.Contains(strings.ToLower(value), w) && isNumeral(w):
			return true
		case s.boolean && truth[w] != "" && truth[w] != value:
			return true
		case slices.ContainsFunc(s.constants, func(c string) bool { return strings.EqualFold(c, w) }):
			return true
		}
	}
	return false
}

// namesPhrase reports whether a text names another constant that has several words.
func namesPhrase(s shape, value string, words []string) bool {
	text := ""
	for _, c := range s.constants {
		phrase := wordsOf(spaced.Replace(c))
		if len(phrase) < 2 || strings.EqualFold(c, value) {
			continue
		}
		if text == "" {
			text = " " + strings.Join(words, " ") + " "
		}
		if strings.Contains(text, " "+strings.Join(phrase, " ")+" ") {
			return true
		}
	}
	return false
}

func isNumeral(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) || numerals[word] != "" && word != "one"
}

// ofElse reports whether a number among words is that of something else: 14 corners, born
// 1943. At their beginning it is the next after the value, and maybe one of the same.
func (s shape) ofElse(words []string, i int) bool {
	if i == 0 {
		return len(words) > 1 && ofMoney[s.lastName()] && s.isThing(words[1])
	}
	if isDayOf(words, i) {
		return true
	}
	if i > 1 && words[i-1] == "and" && isNumeral(words[i-2]) {
		return s.ofElse(words[:i-1], i-2) && !(i+1 < len(words) && s.hasUnit(words[i+1]))
	}
	if i+1 < len(words) && s.hasUnit(words[i+1]) {
		return false
	}
	return s.isNamed(words, i) || i+1 < len(words) && !s.isPlain() && !counts[s.lastName()] && s.isThing(words[i+1])
}

// isDayOf reports whether a number is the day or the year of a month.
func isDayOf(words []string, i int) bool {
	before, behind := words[i-1], ""
	if i+1 < len(words) {
		behind = words[i+1]
	}
	return months[before] > 0 && before != "may" || months[behind] > 0 && behind != "may"
}

// clauseWords are the words of a text, with a word before each number that begins a clause:
// what stands before that doesn't say what it is the number of.
func clauseWords(text string) []string {
	return wordsOf(clauseNumber.ReplaceAllString(text, "$1 and $2"))
}

var clauseNumber = regexp.MustCompile(`([,;.!?:][ \n]+|\) |[–—] )(\d)`)

// ordinal reports whether a word is the place of something: 2nd.
func ordinal(word string) bool {
	number := strings.TrimRight(word, "stndrh")
	return len(word)-len(number) == 2 && decimal(number) != ""
}

// mayHaveMore reports whether words speak of what was not counted, and should be.
func mayHaveMore(words []string) bool {
	for i, w := range words {
		if forgotten[w] || w == "up" && i+1 < len(words) && words[i+1] == "to" {
			return true
		}
	}
	return false
}

var forgotten = wordSet(`another more additional missed missing skip skipped forgot forgotten overlooked ignored uncounted until except besides
	same duplicate duplicates duplicated repeat repeats repeated`)

// hasUnit reports whether a word is a unit that the field could have.
func (s shape) hasUnit(word string) bool {
	_, kind := unitOf(word)
	return kind != "" && s.measures(kind)
}

// isNamed reports whether the word before a number says what it is the number of: page
// 12, died 1984. A place alone may be one of those that were counted.
func (s shape) isNamed(words []string, i int) bool {
	w := words[i-1]
	if i > 1 && linking[w] {
		w = words[i-2]
		if len(w) == 2 && !lessening(w) && !verbs[w] && !frames[w] && w != "it" && w != "he" {
			return true
		}
	}
	if i == 1 && places[w] && strings.HasSuffix(s.lastName(), "s") {
		return false
	}
	return len(w) > 2 && !strings.ContainsAny(w, "'’") && !s.speaksOfField(w) && !lessening(w) && !verbs[w] && !amounts[w] && !matters[w] && !isNumeral(w) && !altering[w]
}

// linking are words between what a number is of and the number: a surcharge of 12.
var linking = wordSet("of in since")

var places = wordSet("line lines page pages row rows section sections")

// isThing reports whether a word behind a number is what it counts, other than what the
// field does.
func (s shape) isThing(word string) bool {
	if _, kind := unitOf(word); kind != "" && kind != "percent" && !s.measures(kind) {
		return true
	}
	return counted(word) && !s.speaksOfField(word) && !lessening(word)
}

// speaksOfField reports whether a word is the name of a field, or of any number.
func (s shape) speaksOfField(word string) bool {
	return frames[word] || sums[word] || counts[word] || slices.ContainsFunc(wordsOf(spaced.Replace(s.name)), func(own string) bool {
		return strings.TrimSuffix(own, "s") == strings.TrimSuffix(word, "s")
	})
}

package replies

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	plainNumber = regexp.MustCompile(`^([+-]?)0*(\d*)(\.\d*)?([eE][+-]?\d{1,3})?$`)
	thousands   = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}((?:,\d{3})+)(\.\d+)?$`)
	points      = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(?:\.\d{3}){2,}$`)
	spaces      = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(?:[ '’\x{a0}\x{2009}\x{202f}]\d{3})+(?:[.,]\d{1,2})?$`)
	comma       = regexp.MustCompile(`^([+-]?(?:0|[1-9]\d*)),(\d{1,2}|\d{4,})$|^([+-]?0),(\d+)$`)
	ofMost      = regexp.MustCompile(`(?i)^(\d*\.?\d+|\pL+)(?: ?/ ?| out of | of |(?: sur| von| de) )([1-9]\d*(?:\.0+)?|\pL+)(?: (?:stars?|points?|sterne?n?|punkten?|étoiles|estrellas|puntos))?$`)
	underscores = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(?:_\d{3})+$`)
)

var numerals = map[string]string{
	"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14",
	"fifteen": "15", "sixteen": "16", "seventeen": "17", "eighteen": "18", "nineteen": "19", "twenty": "20",
}

// decimal writes a number as JSON does: .5 as 0.5, +5 as 5, 007 as 7. It returns
// nothing if the text is no number, or has a unit, a sign of percent or of doubt.
func decimal(text string) string {
	if underscores.MatchString(text) {
		text = strings.ReplaceAll(text, "_", "")
	}
	m := plainNumber.FindStringSubmatch(text)
	if m == nil || m[2] == "" && strings.Trim(m[3], ".") == "" && !strings.Contains(text, "0") {
		return ""
	}
	sign, whole, fraction, exponent := strings.Trim(m[1], "+"), m[2], m[3], m[4]
	if whole == "" {
		whole = "0"
	}
	if fraction == "." {
		fraction = ""
	}
	return sign + whole + fraction + exponent
}

var joinedDigits = strings.NewReplacer(" ", "", "'", "", "’", "", "\u00a0", "", "\u2009", "", "\u202f", "")

// zeros are those of the digits in which numbers are written, besides ours.
var zeros = []rune{'٠', '۰', '०', '０'}

// westernDigits writes the digits of one script as ours.
func westernDigits(text string) string {
	if text == "" || text[0] < 0x80 && text[0] != '-' {
		return text
	}
	for _, zero := range zeros {
		western := strings.Map(func(r rune) rune {
			switch {
			case r >= zero && r <= zero+9:
				return '0' + r - zero
			case r == '．' && zero == '０':
				return '.'
			case r < 0x80 && unicode.IsDigit(r):
				return -1
			}
			return r
		}, text)
		if western != text && decimal(western) != "" && utf8.RuneCountInString(western) == utf8.RuneCountInString(text) {
			return western
		}
	}
	return text
}

// numeral reads a number that is also written in words or with commas between
// its thousands, or before its fraction: where one could be either, it reads
// nothing.
func numeral(s shape, word string) string {
	text := inAnyWords(word)
	word = westernDigits(plainSigns(word))
	if m := thousands.FindStringSubmatch(word); m != nil && (!s.fraction && m[2] == "" || len(m[1]) > 4 || s.fraction && m[2] != "") {
		word = strings.ReplaceAll(word, ",", "")
	}
	if points.MatchString(word) {
		word = strings.ReplaceAll(word, ".", "")
	}
	if s.fraction && german.MatchString(word) {
		word = strings.Replace(strings.ReplaceAll(word, ".", ""), ",", ".", 1)
	}
	if spaces.MatchString(word) {
		word = joinedDigits.Replace(word)
	}
	if s.fraction {
		word = comma.ReplaceAllString(word, "$1$3.$2$4")
	}
	if text == "" {
		text = decimal(word)
	}
	if text == "" {
		text = decimal(s.unadorned(word))
	}
	if s.fraction || !strings.ContainsAny(text, ".eE") {
		return text
	}
	if strings.HasSuffix(text, ".000") {
		return "" // may be thousands
	}
	if r, ok := new(big.Rat).SetString(text); ok && r.IsInt() {
		return r.Num().String()
	}
	return text
}

// ofMost is the 4 of 4/6, of four out of six and of 4 of 6 stars, where 6 is the most
// that may be given.
func (s shape) ofMost(word string) string {
	m := ofMost.FindStringSubmatch(word)
	if m == nil || s.most == nil {
		return ""
	}
	number, most := plainNumeral(m[1]), plainNumeral(m[2])
	if n, err := strconv.ParseFloat(most, 64); err != nil || n != *s.most {
		return ""
	}
	return number
}

// plainNumeral is a number in digits or words.
func plainNumeral(word string) string {
	if number := decimal(word); number != "" {
		return number
	}
	return numberInWords(word)
}

var stars = regexp.MustCompile(`^(★+|⭐+)(☆*)(?: \(([^()]+)\)| ([^()]+))?$`)

// drawn is a number of stars, as many as are filled. What is said beside them is the
// same number.
func (s shape) drawn(word string) string {
	if !s.integer || s.most == nil || !isPictured(word) {
		return ""
	}
	m := stars.FindStringSubmatch(strings.ReplaceAll(word, "\ufe0f", ""))
	if m == nil {
		return ""
	}
	filled, empty := utf8.RuneCountInString(m[1]), utf8.RuneCountInString(m[2])
	number := strconv.Itoa(filled)
	if said := m[3] + m[4]; said != "" && plainNumeral(s.unadorned(said)) != number || empty > 0 && float64(filled+empty) != *s.most {
		return ""
	}
	return number
}

var (
	percent     = regexp.MustCompile(`^([1-9]\d{0,2}(?:\.\d+)?|0) ?%$`)
	withPercent = regexp.MustCompile(`^(\d(?:\.\d+)?) \(?(?:=|or|i\.e\.,?)? ?(\d{1,3}(?:\.\d+)?) ?%\)?$`)
)

// unadorned is a number without what only says the same once more: the braces of the
// form, the most that there is, its unit, 60% beside 0.6, what it is worked out from.
// Of a number between 0 and 1, 75% is 0.75.
func (s shape) unadorned(word string) string {
	if inner, ok := strings.CutPrefix(word, "{"); ok {
		return strings.TrimSuffix(inner, "}")
	}
	for _, read := range []func(shape, string) string{shape.ofMost, shape.measured, shape.worked, shape.scaled, shape.powered, shape.solved, shape.quotient} {
		if number := read(s, word); number != "" {
			return number
		}
	}
	if !s.fraction || s.least == nil || s.most == nil || *s.least != 0 || *s.most != 1 {
		return word
	}
	if m := withPercent.FindStringSubmatch(word); m != nil && equalRatio(m[1], m[2], "100") {
		return m[1]
	}
	if m := percent.FindStringSubmatch(word); m != nil {
		ratio, _ := new(big.Rat).SetString(m[1])
		return strings.TrimSuffix(strings.TrimRight(ratio.Quo(ratio, big.NewRat(100, 1)).FloatString(12), "0"), ".")
	}
	return word
}

// equalRatio reports whether a number is the quotient of two others.
func equalRatio(number, a, b string) bool {
	n, _ := new(big.Rat).SetString(number)
	x, _ := new(big.Rat).SetString(a)
	y, _ := new(big.Rat).SetString(b)
	return n.Mul(n, y).Cmp(x) == 0 && y.Sign() > 0
}

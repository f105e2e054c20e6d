package replies

import (
	"math/big"
	"regexp"
	"strings"
)

// A number may be written with a word or a sign for its size: 3 million, $12k, 3 × 10^8. It is
// worked out if the sign has only one meaning.

// sizes are words and signs behind a number for how large it is, and their tens.
var sizes = func() map[string]int {
	all := map[string]int{}
	for tens, words := range map[int]string{
		2:  "hundred hundert",
		3:  "k thousand tausend mille tsd",
		6:  "million millions millionen millón millones milione milioni milhão milhões miljoen mio mn mln",
		9:  "bn mrd milliard milliards milliarde milliarden miljard billions",
		12: "trillions",
	} {
		for word := range strings.FieldsSeq(words) {
			all[word] = tens
		}
	}
	return all
}()

// englishSizes are words that are a thousand times as much in other languages.
var englishSizes = map[string]int{"billion": 9, "trillion": 12, "b": 9, "m": 6}

// sized finds a number with its size: 1.2 million.
var sized = regexp.MustCompile(`^([+-]?\d[\d.,]*|\pL+(?:[ -]\pL+)?)( ?)(\pL+)\.?$`)

// scaled is the number that a size makes of another.
func (s shape) scaled(word string) string {
	m := sized.FindStringSubmatch(word)
	if m == nil || s.namesSize() {
		return ""
	}
	unit := strings.ToLower(m[3])
	power, known := sizes[unit]
	if !known && (len(unit) > 1) == (unit == m[3]) {
		power, known = englishSizes[unit]
	}
	if !known || unit == "k" && (m[2] != "" || s.isLength()) {
		return ""
	}
	number := numeral(shape{fraction: true}, m[1])
	if maybeThousands.MatchString(m[1]) || number == "" || strings.HasSuffix(number, "000") && !isNumeral(m[1]) {
		return "" // may be thousands, or is a million million
	}
	return timesTen(number, power)
}

// namesSize reports whether the name of a field says how large its numbers are:
// price_in_thousands.
func (s shape) namesSize() bool {
	for _, w := range wordsOf(spaced.Replace(s.name)) {
		if sizedCurrency.MatchString(w) {
			return true
		}
		if _, known := sizes[strings.TrimSuffix(w, "s")]; known || englishSizes[strings.TrimSuffix(w, "s")] > 0 {
			return true
		}
	}
	return false
}

// sizedCurrency finds currencies with a letter for a size: meur, kusd.
var sizedCurrency = regexp.MustCompile(`^[km](?:eur|usd|gbp|chf|nok|sek|dkk)$`)

// isLength reports whether a field is how long something is, so that 5k may be 5 km.
func (s shape) isLength() bool {
	_, kind := unitOf(s.unitInName())
	return kind == "length" || measuredBy[s.lastName()] == "length"
}

// scientific finds a number times a power of ten: 3.011 × 10^23.
var scientific = regexp.MustCompile(`^([+-]?\d+(?:\.\d+)?) ?(?:[×x·*⋅]|\\times|\\cdot) ?10(?:\^?\{?\(?([+-]?\d{1,3})\)?\}?|\*\*([+-]?\d{1,3})|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))$`)

var superscripts = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁺", "", "⁻", "-")

// powered is a number that is written with a power of ten.
func (s shape) powered(word string) string {
	m := scientific.FindStringSubmatch(word)
	if m == nil || m[2] != "" && !strings.Contains(word, "^") {
		return ""
	}
	return decimal(m[1] + "e" + strings.TrimPrefix(m[2]+m[3]+superscripts.Replace(m[4]), "+"))
}

// unknown finds what is said of the unknown of an equation: x = 7.5.
var unknown = regexp.MustCompile(`^(?:\\?[a-zA-Z])? ?= ?(.+)$`)

// solved is what the unknown of an equation is, which has no other.
func (s shape) solved(word string) string {
	if m := unknown.FindStringSubmatch(word); m != nil && !strings.Contains(m[1], "=") {
		return numeral(s.unitless(), m[1])
	}
	return ""
}

// fraction finds a number with a fraction of one character, or that is nothing but one.
var fraction = regexp.MustCompile(`^([+-]?)(\d{0,9}) ?([½¼¾])$|^([+-]?\d{1,6})/([1-9]\d{0,5})$`)

// quotient is the number that a fraction makes, where no number of points is asked for.
func (s shape) quotient(word string) string {
	m := fraction.FindStringSubmatch(word)
	switch {
	case m == nil || !s.fraction:
		return ""
	case m[3] != "":
		return decimal(m[1] + m[2] + map[string]string{"½": ".5", "¼": ".25", "¾": ".75"}[m[3]])
	case !s.isPlain() || s.most != nil:
		return ""
	}
	n, _ := new(big.Rat).SetString(m[4] + "/" + m[5])
	if _, exact := n.FloatPrec(); !exact {
		return ""
	}
	return shortest(n.FloatString(20))
}

// shortest is a number without the zeros at the end of its fraction.
func shortest(number string) string { return strings.TrimSuffix(strings.TrimRight(number, "0"), ".") }

// timesTen is a number times a power of ten.
func timesTen(number string, power int) string {
	n, ok := new(big.Rat).SetString(number)
	if !ok || len(number) > 30 {
		return ""
	}
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil)
	n.Mul(n, new(big.Rat).SetInt(ten))
	if n.IsInt() {
		return n.Num().String()
	}
	return shortest(n.FloatString(30))
}

// signs are other ways to write those of numbers.
var signs = strings.NewReplacer("−", "-", "﹣", "-", "－", "-")

var minus = regexp.MustCompile(`(?i)^(?:minus|negative|moins|menos|meno) ?(\d)`)

// plainSigns writes the signs of a number as ours: −4 °C, minus 4.
func plainSigns(word string) string {
	return minus.ReplaceAllString(signs.Replace(word), "-$1")
}

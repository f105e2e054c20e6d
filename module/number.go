package module

import (
	"math/big"
	"regexp"
	"strings"
)

var (
	plainNumber = regexp.MustCompile(`^([+-]?)0*(\d*)(\.\d*)?([eE][+-]?\d{1,3})?$`)
	thousands   = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}((?:,\d{3})+)(\.\d+)?$`)
	spaces      = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(?:[\x{a0}\x{2009}\x{202f}]\d{3})+$`)
	comma       = regexp.MustCompile(`^([+-]?(?:0|[1-9]\d*)),(\d{1,2}|\d{4,})$|^([+-]?0),(\d+)$`)
	ofOne       = regexp.MustCompile(`^((?:0?\.\d+|[01](?:\.\d+)?))(?: ?/ ?| out of )1(?:\.0+)?$`)
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
	text = strings.Replace(text, "−", "-", 1)
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

var joinedDigits = strings.NewReplacer("\u00a0", "", "\u2009", "", "\u202f", "")

// numeral reads a number that is also written in words or with commas between
// its thousands, or before its fraction: where one could be either, it reads
// nothing.
func numeral(s shape, word string) string {
	text := numerals[strings.ToLower(word)]
	if m := thousands.FindStringSubmatch(word); m != nil && (!s.fraction && m[2] == "" || len(m[1]) > 4 || s.fraction && m[2] != "") {
		word = strings.ReplaceAll(word, ",", "")
	}
	if spaces.MatchString(word) {
		word = joinedDigits.Replace(word)
	}
	if s.fraction {
		word = comma.ReplaceAllString(ofOne.ReplaceAllString(word, "$1"), "$1$3.$2$4")
	}
	if text == "" {
		text = decimal(word)
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

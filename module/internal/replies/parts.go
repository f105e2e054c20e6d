package replies

import (
	"math/big"
	"regexp"
	"strings"
)

// The numbers beside a number may be what it is made of. What comes to the same is no doubt.

// breaksDown reports whether the numbers of a text are parts that make up a value: 3 (1
// double bed, 2 single beds).
func (s shape) breaksDown(value, text string) bool {
	if !s.number() {
		return false
	}
	parts := partNumber.FindAllStringSubmatch(strings.ToLower(text), -1)
	sum := new(big.Rat)
	for _, p := range parts {
		n, ok := new(big.Rat).SetString(plainNumeral(p[1]))
		if !ok {
			return false
		}
		sum.Add(sum, n)
	}
	total, ok := new(big.Rat).SetString(value)
	return ok && len(parts) > 1 && sum.Cmp(total) == 0 && len(parts) == s.numbersIn(text)
}

// partNumber finds numbers with a word behind them.
var partNumber = regexp.MustCompile(`\b(\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: |-)\pL`)

func (s shape) numbersIn(text string) int {
	n := 0
	for _, w := range wordsOf(strings.ReplaceAll(text, ".", "")) {
		if isNumeral(w) || w == "one" {
			n++
		}
	}
	return n
}

var shareOf = regexp.MustCompile(`(?i)\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?:out )?of (?:the |all |them )?(\d+|two|three|four|five|six|seven|eight|nine|ten) \pL`)

// ratioOf reports whether the only numbers of a text are how many of how many, which
// make the value: 0.2 (one of the five criteria).
func (s shape) ratioOf(value, text string) bool {
	m := shareOf.FindStringSubmatch(text)
	return m != nil && s.fraction && s.numbersIn(text) == 2 && decimal(value) != "" && equalRatio(value, plainNumeral(strings.ToLower(m[1])), plainNumeral(strings.ToLower(m[2])))
}

// withoutSums is a text without what is worked out in it, if that comes to the value.
func (s shape) withoutSums(value, text string) string {
	total, ok := new(big.Rat).SetString(value)
	if !s.number() || !ok {
		return text
	}
	return arithmetic.ReplaceAllStringFunc(text, func(sum string) string {
		left, right, equation := strings.Cut(sum, "=")
		made := evaluated(strings.TrimSpace(left))
		if made == nil || made.Cmp(total) != 0 || equation && strings.TrimSpace(right) != value {
			return sum
		}
		return ""
	})
}

var arithmetic = regexp.MustCompile(`\d+(?:\.\d+)?(?: ?[+×*·÷−–-] ?\d+(?:\.\d+)?){1,20}(?: ?= ?\d+(?:\.\d+)?)?`)

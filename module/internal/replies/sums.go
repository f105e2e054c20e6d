package replies

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strings"
)

// A number may come with how it came about. What can be worked out again is no doubt.

// equation is numbers with signs between them, and what they make.
var equation = regexp.MustCompile(`^(-?[\d.,]+(?: ?[+/÷*·×−–-] ?[\d.,]+| x [\d.,]+){1,20}) ?= ?(-?[\d.,]+)$`)

// operands finds numbers with what they are of.
var operands = regexp.MustCompile(`(\d)(?: \pL{2,}){1,3}`)

var term = regexp.MustCompile(`([+/÷*·×−–x-]?) ?([\d.,]+)`)

// worked is the right side of an equation that holds: 8 × 12 = 96, 3 apples + 4 pears = 7.
func (s shape) worked(text string) string {
	left, right, ok := strings.Cut(text, "=")
	if !ok {
		return ""
	}
	right = strings.TrimSpace(right)
	if number, unit := cutUnit(right); unit != "" && s.ownUnit(number, unit) {
		right = number
	}
	m := equation.FindStringSubmatch(operands.ReplaceAllString(left, "$1") + "= " + right)
	if m == nil {
		return ""
	}
	sum, result := evaluated(m[1]), plainRatio(m[2])
	if sum == nil || result == nil || sum.Cmp(result) != 0 {
		return ""
	}
	return strings.ReplaceAll(m[2], ",", "")
}

// evaluated is what numbers with signs between them make, nil if one is none.
func evaluated(text string) *big.Rat {
	sum, product := new(big.Rat), (*big.Rat)(nil)
	for i, m := range term.FindAllStringSubmatch(text, -1) {
		n := plainRatio(m[2])
		if n == nil {
			return nil
		}
		switch sign := m[1]; {
		case i == 0 && sign == "", sign == "+":
			sum, product = added(sum, product), n
		case strings.Contains("−–-", sign):
			sum, product = added(sum, product), n.Neg(n)
		case strings.Contains("/÷", sign):
			if n.Sign() == 0 {
				return nil
			}
			product.Quo(product, n)
		default:
			product.Mul(product, n)
		}
	}
	return added(sum, product)
}

func added(sum, product *big.Rat) *big.Rat {
	if product == nil {
		return sum
	}
	return sum.Add(sum, product)
}

// plainRatio is a number as it is mostly written; nil where it is not certain which.
func plainRatio(text string) *big.Rat {
	if thousands.MatchString(text) {
		text = strings.ReplaceAll(text, ",", "")
	}
	if decimal(text) == "" || len(text) > 30 || maybeThousands.MatchString(text) {
		return nil
	}
	r, _ := new(big.Rat).SetString(decimal(text))
	return r
}

var maybeThousands = regexp.MustCompile(`^-?[1-9]\d{0,2}\.\d{3}$`)

func ratioText(f float64) string { return new(big.Rat).SetFloat64(f).RatString() }

var totalLine = regexp.MustCompile(`(?i)^[*_]*(?:in )?(?:total|sum|altogether|overall|result|answer)[*_]*:[*_]* *[*_]*([\d,.]+)[*_]*\.?$`)

// totalled reads a list of which each line has a number, with their sum below.
func (s shape) totalled(text string) json.RawMessage {
	lines := linesOf(text)
	if !s.number() || s.lasts() || len(lines) < 3 {
		return nil
	}
	m := totalLine.FindStringSubmatch(strings.TrimSpace(lines[len(lines)-1]))
	items, certain := bulleted(lines[:len(lines)-1])
	if m == nil || !certain {
		return nil
	}
	sum := new(big.Rat)
	for _, item := range items {
		numbers := digits.FindAllString(item, -1)
		if len(numbers) != 1 || dubious(item) {
			return nil
		}
		n, _ := new(big.Rat).SetString(numbers[0])
		sum.Add(sum, n)
	}
	if total := plainRatio(strings.TrimRight(m[1], ".")); total == nil || total.Cmp(sum) != 0 {
		return nil
	}
	return s.exact(m[1])
}

var tens = []string{"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"}

var smallNumbers = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")

// inWords writes a number below a thousand millions in words.
func inWords(n int) []string {
	for _, scale := range []struct {
		size int
		name string
	}{{1_000_000, "million"}, {1000, "thousand"}, {100, "hundred"}} {
		if n >= scale.size {
			words := append(inWords(n/scale.size), scale.name)
			if n%scale.size == 0 {
				return words
			}
			return append(words, inWords(n%scale.size)...)
		}
	}
	if n < 20 {
		return []string{smallNumbers[n]}
	}
	if n%10 == 0 {
		return []string{tens[n/10]}
	}
	return []string{tens[n/10], smallNumbers[n%10]}
}

var wordValues = func() map[string]int {
	values := map[string]int{"hundred": 100, "thousand": 1000, "million": 1_000_000}
	for n, word := range smallNumbers {
		values[word] = n
	}
	for n, word := range tens[2:] {
		values[word] = 10 * (n + 2)
	}
	return values
}()

var hyphens = strings.NewReplacer("-", " ", " and ", " ")

// numberInWords is the number that English words say, nothing if they say none.
func numberInWords(text string) string {
	if len(text) > 100 || text == "" || text[0] > 'z' {
		return ""
	}
	words := strings.Fields(hyphens.Replace(strings.ToLower(text)))
	total, part := 0, 0
	for _, word := range words {
		n, known := wordValues[word]
		switch {
		case !known || part > 999:
			return ""
		case n == 100:
			part *= n
		case n >= 1000:
			total, part = total+part*n, 0
		default:
			part += n
		}
	}
	if n := total + part; len(words) > 0 && n < 1_000_000_000 && strings.Join(inWords(n), " ") == strings.Join(words, " ") {
		return big.NewInt(int64(n)).String()
	}
	return ""
}

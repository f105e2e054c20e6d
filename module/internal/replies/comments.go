package replies

import (
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// A comment in JSON explains the value it stands at, says where it comes from, or which
// one it is not. Only a comment that takes the value back, has it open, or offers another
// for it makes it doubtful: not one that has a number or a "not" in it about something
// else.

// comment is one in JSON, with the value that it stands at, and its name: the one before
// it on its line, or else the next. Of an object, or if no value follows, it is none.
type comment struct{ text, name, value string }

// longestComment is how much of a comment is looked at, in bytes.
const longestComment = 1000

// doubts reports whether a comment makes its value doubtful.
func (c comment) doubts() bool {
	if len(c.text) > longestComment {
		return true
	}
	text := hypothetical.ReplaceAllString(strings.TrimSpace(c.text), " ")
	if c.ofNothing(text) || options.MatchString(text) {
		return false
	}
	if strings.ContainsAny(text, "?~±") || strings.Contains(text, "...") || strings.Contains(text, "…") || commentedOut.MatchString(text) && !c.repeats(text) ||
		unsure.MatchString(text) || undone.MatchString(text) || abbreviates.MatchString(text) || deniesItself.MatchString(text) {
		return true
	}
	left, own := c.withoutDenied(text)
	return own || c.replaced(text) || literally.MatchString(text) && !c.isNumber() || c.belied(text) || c.corrected(wordsOf(left)) || c.rivalled(left)
}

// replaced reports whether a comment offers another value. A number is none for a text.
func (c comment) replaced(text string) bool {
	return truth[c.value] == "" && slices.ContainsFunc(offersOther.FindAllString(text, -1), func(found string) bool {
		last := found[len(found)-1]
		return last < '0' || last > '9' || strings.ContainsAny(c.value, "0123456789")
	})
}

// belied reports whether a comment on a truth says the contrary.
func (c comment) belied(text string) bool {
	if truth[c.value] == "" {
		return false
	}
	_, agrees := shape{name: c.name, boolean: true}.agreeing(c.value, text)
	return !agrees || c.value == "true" && beginsWithNot.MatchString(text)
}

var beginsWithNot = regexp.MustCompile(`(?i)^\W*(?:not|never|hardly)\b`)

// chooses reports whether one of the comments names another of the constants than the
// one that it stands at, or its unit.
func (s shape) chooses(comments []comment) bool {
	if s.remeasured(comments) {
		return true
	}
	for _, c := range comments {
		if options.MatchString(c.text) && (s.scalar() || s.text) && !s.lists(c) {
			return true
		}
		if options.MatchString(c.text) {
			continue
		}
		left, _ := c.withoutDenied(hypothetical.ReplaceAllString(c.text, " "))
		if s.constant(c.value) != nil && slices.ContainsFunc(strings.Split(left, ";"), func(clause string) bool { return s.givenAnew(s.constant(c.value), clause) }) {
			return true
		}
	}
	return s.items != nil && len(comments) > 0 && s.items.chooses(comments) ||
		len(comments) > 0 && slices.ContainsFunc(s.members, func(m member) bool { return m.shape.chooses(comments) })
}

// options finds comments that give the values of which the one is.
var options = regexp.MustCompile(`(?i)^\W*(?:(?:must be |is |either |can be )?(?:one|any) of\b|(?:allowed|possible|valid)(?: values?| options?)?(?: are)?:|options?:|enum:)`)

// lists reports whether a comment that gives options is at another field's value, or has
// all the constants, as the question had them.
func (s shape) lists(c comment) bool {
	if !sameName(c.name, s.name) {
		return true
	}
	words := strings.Join(wordsOf(spaced.Replace(c.text)), " ")
	return s.constants != nil && !slices.ContainsFunc(s.constants, func(o string) bool {
		return !strings.Contains(words, strings.Join(wordsOf(spaced.Replace(o)), " "))
	})
}

// repeats reports whether a comment has the value that it stands at once more.
func (c comment) repeats(text string) bool {
	if !c.isNumber() {
		return len(c.value) > 1 && strings.Contains(strings.ToLower(text), strings.ToLower(c.value))
	}
	value := numberOf(c.value)
	return value != nil && slices.ContainsFunc(numberOrWord.FindAllString(text, -1), func(w string) bool {
		first, _, _ := strings.Cut(w, "-") // twelve-storey
		n, m := numberOf(w), numberOf(first)
		return n != nil && n.Cmp(value) == 0 || m != nil && m.Cmp(value) == 0
	})
}

// ofNothing reports whether a comment says that there is no value of another name, or none
// where none is given: no seat assigned yet.
func (c comment) ofNothing(text string) bool {
	m := absence.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	what := m[1] + m[2]
	return literals[c.value] == "null" || what != "" && !sameName(what, c.name) && !shares(c.value, what)
}

// absence finds what says that something is not there, and what it is.
var absence = regexp.MustCompile(`(?i)^\W*(?:no (\pL[\pL_ ]*?)|(?:the |an? )?(?:(\pL[\pL_ ]*?):? (?:is |was )?)?not)(?: is| was)? (?:given|mentioned|stated|provided|specified|included|assigned|available|found|known)(?: (?:yet|here|in the \pL+))?\W*$`)

// hypothetical finds what a value would be if things were otherwise, which they are not.
var hypothetical = regexp.MustCompile(`(?i)\b(?:it |this |that )?would(?:n['’]t)? (?:be|have been|get|give|become) [^,;.()]+ (?:with|without|if|for|in|had|were|on|under)\b[^;.()]*`)

// commentedOut finds what was taken out of the JSON: a member, or another value.
var commentedOut = regexp.MustCompile(`^[,\s]*["'][^"']*["']\s*[:,]|^\w+\s*:\s*(?:["'{\[]|-?\d[\d.]*,?$|true\b|false\b|null\b)`)

// literally finds nothing but a text in quotes.
var literally = regexp.MustCompile(`^\s*(?:"[^"]*"|'[^']*')\W*$`)

// undone finds what stands for a value that is not there yet.
var undone = regexp.MustCompile(`(?i)\b(?:todo|tbd|fixme|xxx|placeholder|dummy|default|example|sample|fill in|made up|invented|your|to be \w+)\b`)

// abbreviates finds comments that stand for what was left out.
var abbreviates = regexp.MustCompile(`(?i)\b(?:so on|and more|the rest|omitted|continued?|remaining|etc|usw|among others)\b|^\W*(?:(?:and|plus|with|more|for) )?(?:the |all )?(?:others?|similar|same)\b`)

// deniesItself finds comments that deny what they stand at, and nothing that they name:
// no, not really, this isn't right, doesn't fit.
var deniesItself = regexp.MustCompile(`(?i)^\W*(?:(?:it|this|that|which|value|the value)(?: is|['’]s| was| can| does| should)? )?(?:not|never|hardly|isn['’]t|wasn['’]t|can['’]t be|cannot be|doesn['’]t|shouldn['’]t)(?: (?:really|quite|yet|it|this|so|at all|fit|add up|match|make sense|seem\b.*|be\b.*))?\W*$|\bno(?:\W*$|\s*[,:;.!–—-]|\s+(?:it|that|this|i|you|we|they|way)\b)|\bnot (?:really|quite|necessarily|exactly|always|only|just|entirely)\b|\b(?:isn['’]t|wasn['’]t|doesn['’]t|can['’]t|cannot|not) (?:\w+ )?(?:it|right|correct|accurate|final|certain|sure|clear)\b`)

// denied finds what a comment says that a value is not: not 3.4, never Felix, neither 1
// nor 2, 0 isn't allowed.
var denied = regexp.MustCompile(`\b(?i:not|never|neither|nor|unlike|without|no|instead of|rather than|as opposed to) ((?:(?:the|an?) )?[^\s,;:()]+(?: \p{Lu}[^\s,;:()]*)*)|("[^"\n]*"|[^\s,;:()]+) (?:isn['’]t|wasn['’]t|aren['’]t|weren['’]t|is not|was not|can['’]t|doesn['’]t|don['’]t|didn['’]t)\b`)

// withoutDenied is a comment without the values that it denies, and whether its own is
// one of them.
func (c comment) withoutDenied(text string) (left string, own bool) {
	left = denied.ReplaceAllStringFunc(text, func(found string) string {
		m := denied.FindStringSubmatch(found)
		named := strings.Trim(m[1]+m[2], `"'“”.`)
		own = own || shares(c.value, named)
		return " "
	})
	return left, own
}

// shares reports whether a value is the same number as another, or a short text that has
// a word in common with it that says something.
func shares(value, other string) bool {
	if n := decimal(other); n != "" {
		return n == decimal(value)
	}
	words := wordsOf(value)
	return len(words) < 10 && slices.ContainsFunc(wordsOf(other), func(w string) bool { return !fillers[w] && slices.Contains(words, w) })
}

var fillers = wordSet("the a an of and in on at to for with by is")

// corrected reports whether a comment has the words of a correction, a choice or a
// measure that is not exact. Of a truth, also a no.
func (c comment) corrected(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		switch {
		case w == "but", w == "or", w == "either", corrections[w] && !plainWords[w]:
			return true
		case c.isNumber():
			return hedges[w] && w != "than" && w != "yet" && w != "really"
		case truth[c.value] != "":
			return truth[w] != "" && truth[w] != truth[c.value] || vague[w] || partial[w]
		}
		return vague[w]
	})
}

var (
	// plainWords are those of corrections that a comment may have without being one, unless
	// they offer another value.
	plainWords = wordSet("would make final correct mind prefer better twice could changed change however edit edited update updated")

	// offersOther finds such a word with a value behind it: changed to Milan, better: 7.
	offersOther = regexp.MustCompile(`\b(?i:final|correct|mind|prefer(?:red|ably)?|better|could|changed?|edit(?:ed)?|updated?|make|now|would|however)\b(?:\s*:|[ ,]+(?:(?:be|to|that|it|is|an?|the|have been)[ :]+)*["'“\p{Lu}\d])`)

	// vague are the hedges that are about no measure.
	vague = wordSet("unclear unknown if unless depends depending estimate estimated approx approximately roughly guess guessing assume assuming probably likely")

	// partial are what makes a truth one of some only.
	partial = wordSet("partly mostly somewhat fairly except mainly usually sometimes half")
)

func (c comment) isNumber() bool {
	return len(c.value) < 40 && !strings.ContainsAny(c.value, "eE") && decimal(c.value) != ""
}

// rivalled reports whether a comment offers another number for the one that it stands at.
// One within a clause is about something else: turns 39 in May. And so are its parts.
func (c comment) rivalled(text string) bool {
	if !c.isNumber() {
		return false
	}
	value, _ := new(big.Rat).SetString(c.value)
	if madeOf(value, text) || percentage(value, text) || c.repeats(text) {
		return false
	}
	text = outOf.ReplaceAllString(reference.ReplaceAllString(text, " place "), " of it ")
	return slices.ContainsFunc(offered.FindAllStringSubmatch(text, -1), func(m []string) bool {
		n := numberOf(m[1])
		return n != nil && n.Cmp(value) != 0 && !strings.EqualFold(m[1], "one") && !(rounded.MatchString(text) && n.FloatString(decimals(c.value)) == value.FloatString(decimals(c.value)))
	})
}

// percentage reports whether a text has the value as one: i.e. 25 %.
func percentage(value *big.Rat, text string) bool {
	m := percents.FindStringSubmatch(text)
	n := new(big.Rat).Mul(value, big.NewRat(100, 1))
	return m != nil && len(m[1]) < 40 && numberOf(m[1]) != nil && n.Cmp(numberOf(m[1])) == 0
}

var percents = regexp.MustCompile(`^[^\d\n]*(\d[\d.]*) ?(?:%|per ?cent)[^\d\n]*$`)

// madeOf reports whether a value is the sum or the product of the numbers in a text. One
// may be none.
func madeOf(value *big.Rat, text string) bool {
	sum, product, ones := new(big.Rat), big.NewRat(1, 1), new(big.Rat)
	for _, w := range numberOrWord.FindAllString(text, -1) {
		n := numberOf(w)
		switch {
		case n == nil:
		case strings.EqualFold(w, "one"):
			ones.Add(ones, n)
		default:
			sum.Add(sum, n)
			product.Mul(product, n)
		}
	}
	return sum.Cmp(value) == 0 || product.Cmp(value) == 0 || sum.Add(sum, ones).Cmp(value) == 0
}

// offered finds what may be a number where a clause begins, or which somebody gives.
var offered = regexp.MustCompile(`(?i)(?:^|[,;:.=→>–—]|\b(?:is|are|was|were|be|been|says?|said|gives?|gave|has|have|had|counts?|counted|lists?|shows?|makes?|equals?|reads?|claims?|states?|mentions?|wrote|now|or|to|from))\W*(?:(?:an?|about|only|really|in fact) )?(-?\d[\d,]*(?:\.\d+)?|\pL+(?:-\pL+)*)`)

var rounded = regexp.MustCompile(`(?i)\brounded\b`)

// decimals is how many digits a number has behind its point.
func decimals(number string) int {
	_, fraction, _ := strings.Cut(number, ".")
	return len(fraction)
}

// outOf finds the end of a scale, and what has a number in its name.
var outOf = regexp.MustCompile(`(?i)(?:\b(?:out of|of)|/|\b[01] ?(?:to|-|–|\.\.) ?)\s?\d+\b|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d\b|\b\d{1,2}\.?(?: ?(?:-|–|to) ?\d{1,2}\.?)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\b(?:in|since|from|of) (?:1[5-9]|20)\d\d\b`)

var numberOrWord = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?|\pL+(?:-\pL+)*`)

// numberOf is the number that a word is, nil if it is none.
func numberOf(word string) *big.Rat {
	word = strings.ToLower(strings.TrimRight(strings.ReplaceAll(word, ",", ""), "."))
	if named := numberInWords(word); named != "" {
		word = named
	}
	n, ok := new(big.Rat).SetString(word)
	if !ok || len(word) > 40 {
		return nil
	}
	return n
}

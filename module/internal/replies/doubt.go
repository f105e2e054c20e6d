package replies

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What stands beside a value, such as an explanation in parentheses or below it,
// may make it doubtful: by a hedge, by another value, or, of a yes or a no, by
// saying the opposite.

// uncertain reports whether what stands beside a value makes it doubtful.
func uncertain(s shape, value, beside string) bool {
	if len(beside) > longestRemark || s.format == date && otherDay(value, beside) {
		return true
	}
	if s.boolean {
		var agrees bool
		if beside, agrees = s.agreeing(value, beside); !agrees {
			return true
		}
	}
	if s.constants != nil && rationale.MatchString(beside) {
		granted := strings.Join(concession.FindAllString(beside, -1), " ")
		if slices.Contains(wordsOf(granted), strings.ToLower(value)) {
			return true
		}
		beside = concession.ReplaceAllString(beside, "")
	}
	words := clauseWords(beside)
	if rationale.MatchString(beside) && s.summed(value, beside) {
		return unsure.MatchString(beside) || slices.ContainsFunc(words, func(w string) bool { return corrections[w] || contracted(w) })
	}
	if strings.ContainsAny(beside, "?%~±") || strings.Contains(beside, "...") || strings.Contains(beside, "…") || unsure.MatchString(beside) ||
		slices.ContainsFunc(words, func(w string) bool { return corrections[w] || hedges[w] || reservations[w] || contracted(w) }) {
		return true
	}
	if len(words) > 0 && contrasts[words[0]] && refuted(s, beside) || !s.explicable() && slices.ContainsFunc(words, func(w string) bool { return contrasts[w] && w != "no" && w != "nothing" && w != "none" }) {
		return true
	}
	return rivals(s, value, words) && !s.weighed(value, beside, words) && !(s.number() && multiplied(value, beside))
}

// otherDay reports whether a text beside a day has a number that is not of it, or may
// speak of another day.
func otherDay(value, beside string) bool {
	own := map[int]bool{}
	for part := range strings.SplitSeq(value, "-") {
		n, _ := strconv.Atoi(part)
		own[n] = true
	}
	for _, d := range days.FindAllString(beside, -1) {
		if d != value {
			return true
		}
	}
	words := wordsOf(beside)
	for i, w := range words {
		n, err := strconv.Atoi(strings.TrimRight(w, "stndrh"))
		switch {
		case spans[w] && !(i > 1 && isNumeral(words[i-2]) && isTime(words[i-1])):
			return true
		case err == nil && !own[n] && (i == 0 || strings.TrimLeft(w, "0123456789") != "" || !isOfElse(words, i)):
			return true
		}
	}
	return false
}

// isTime reports whether a word is a unit of time.
func isTime(word string) bool {
	_, kind := unitOf(word)
	return kind == "time"
}

// isOfElse reports whether a number beside a day is no part of another: gate 12, 40 minutes.
func isOfElse(words []string, i int) bool {
	if months[words[i-1]] > 0 || i+1 < len(words) && months[words[i+1]] > 0 {
		return false
	}
	s := shape{integer: true, name: "day"}
	return s.ofElse(words, i) || i+1 < len(words) && isTime(words[i+1])
}

var days = regexp.MustCompile(`\d{4}-\d\d-\d\d`)

// factors finds an aside that says of how many and how much each a number is made.
var factors = regexp.MustCompile(`(?i)^\s*\((\d+) ?(?:[\pL ]+ (?:at|of|for|by)|×|x|\*|at|times|by) (\d+(?:\.\d+)?)(?: [\pL ]+)?\)\.?$`)

// multiplied reports whether a number is what its factors in an aside make.
func multiplied(value, beside string) bool {
	m := factors.FindStringSubmatch(beside)
	return m != nil && m[1] != "0" && equalRatio(m[2], value, m[1])
}

// reservations are words for what a value depends on, or that it may change.
var reservations = wordSet(`conditional conditionally conditions provisional provisionally preliminary tentative tentatively
	pending temporarily exceptions caveats reservations restrictions
	geschätzt geschätzte ungefähr etwa circa zirka ca vermutlich wahrscheinlich vielleicht oder mindestens höchstens vorläufig nicht
	environ estimé estimée probablement peut-être peut ou pas provisoire aproximadamente probablemente quizás estimado estimada`)

// qualified reports whether what is said on the line of a value says for what it holds,
// or who holds it.
func qualified(beside string) bool {
	words := wordsOf(beside)
	if len(words) == 0 || strings.HasPrefix(beside, "\n") {
		return false
	}
	return attributes[words[0]] || slices.ContainsFunc(words, func(w string) bool { return qualifiers[w] })
}

var (
	attributes = wordSet("says said claims claimed thinks believes according for")
	qualifiers = wordSet(`theory theoretically cases until before later max min maximum minimum rounded without plus excluding excl per each disputed
		only partially sometimes usually far claims claimed`)
)

// rationale finds paragraphs below a value that say how it came about.
var rationale = regexp.MustCompile(`^\n\n[*_]*(?:Rationale|Reasoning|Explanation|Reasons?|Justification|Why)[*_]*:`)

// concession finds what an explanation grants before it goes on: although the view is
// good, …
var concession = regexp.MustCompile(`(?i)\b(?:although|though|even though|even if|while|despite)\b[^,.;!?]*,`)

// summed reports whether the numbers in an explanation make up the value, the parts
// of which may be estimates.
func (s shape) summed(value, beside string) bool {
	sum := new(big.Rat)
	for _, n := range digits.FindAllString(beside, -1) {
		part, _ := new(big.Rat).SetString(n)
		sum.Add(sum, part)
	}
	total, ok := new(big.Rat).SetString(value)
	return ok && s.number() && sum.Cmp(total) == 0
}

// dubious reports whether a comment on a value is more than an explanation.
func dubious(comment string) bool {
	words := wordsOf(comment)
	return strings.ContainsAny(comment, "?~±") || strings.Contains(comment, "...") || strings.Contains(comment, "…") ||
		unsure.MatchString(comment) || refutes.MatchString(comment) ||
		slices.ContainsFunc(words, func(w string) bool { return corrections[w] || hedges[w] || contracted(w) || w == "not" || w == "but" })
}

// explicable reports whether an explanation may have a no or a but in it without
// being one to the value.
func (s shape) explicable() bool {
	return !s.boolean && (s.number() || s.constants != nil || s.temporal())
}

// refuted reports whether what is said beside a value begins by denying it: not
// really. Of a truth, it may begin with what there is not: true (no threats).
func refuted(s shape, beside string) bool {
	return !s.boolean || refutes.MatchString(beside) || !beginsWithNo.MatchString(beside)
}

var beginsWithNo = regexp.MustCompile(`(?i)^\W*(?:no|nothing|none) \w`)

var unsure = regexp.MustCompile(`(?i)\blet['’]?s say\b|\bon (?:second|closer|further)\b|\bnot (?:\w+ )?(?:sure|certain|clear|confident|known|stated|given|exact|precise|final|correct|right)\b|\bwho knows\b|\bi (?:think|believe|guess|suppose)[.!…]*\)?$|[🤔🤷❓❔]`)

// weighed reports whether a paragraph below a value that names others gives the
// reasons for it: it comes to the same number, or names all the other constants.
func (s shape) weighed(value, beside string, words []string) bool {
	if !strings.HasPrefix(beside, "\n\n") {
		return false
	}
	if s.constants != nil {
		return len(s.constants) > 2 && !slices.ContainsFunc(s.constants, func(c string) bool {
			return c != value && !slices.Contains(words, strings.ToLower(c))
		})
	}
	numbers := digits.FindAllString(beside, -1)
	numbers = slices.DeleteFunc(numbers, func(n string) bool { return !s.inRange(n) })
	if len(numbers) == 0 {
		return true
	}
	return s.number() && numbers[len(numbers)-1] == value
}

var digits = regexp.MustCompile(`\d+(?:\.\d+)?`)

// besides reports whether what is said behind a yes or a no may answer another
// question than that of the field: No, this is harmless.
func (s shape) besides(word, beside string) bool {
	lower := strings.ToLower(Undecorated(word))
	if !s.boolean || lower != "yes" && lower != "no" {
		return false
	}
	if lower == "yes" && emphatic.MatchString(beside) {
		return false
	}
	return refuses.MatchString(beside) || besidesAnswer.MatchString(beside) && !because.MatchString(beside) && !strings.Contains(strings.ToLower(beside), strings.ToLower(spaced.Replace(s.name)))
}

// emphatic is a yes once more.
var emphatic = regexp.MustCompile(`(?i)^[,.!] (?:definitely|absolutely|certainly|of course|indeed)[.!]?$`)

// besidesAnswer begins a clause behind a yes or a no.
var besidesAnswer = regexp.MustCompile(`^[,.] `)

var because = regexp.MustCompile(`(?i)^\W*(?:because|since|as|for|due)\b`)

// maybe finds reasons that are none for certain, and no month.
var maybe = regexp.MustCompile(`(?i)\b(?:may|can) (?:have|be|not|also|well)\b|\b(?:seems?|appears?)\b`)

// agreeing is what stands beside a yes or no, without its saying the same once
// more: No, it is not safe. That it says the opposite, as in No, it is safe, is
// known only of the name of the field.
func (s shape) agreeing(value, beside string) (rest string, agrees bool) {
	own := strings.ToLower(spaced.Replace(s.name))
	lower := strings.ToLower(beside)
	if own == "" || !strings.Contains(lower, own) {
		return beside, true
	}
	denied := regexp.MustCompile(`\b(?:(?:not|never|no|without|refuses|declines|(?:is|was|are|were|has|have|do|does|did|can|could|would|wo)n['’]t|cannot)(?: [\pL-]+){0,4}? |un|in|non-?)` + regexp.QuoteMeta(own) + `\b`)
	if hardly.MatchString(lower) {
		return beside, false
	}
	left := denied.ReplaceAllString(lower, "")
	affirmed := strings.Contains(left, own)
	if affirmed == (left != lower) || affirmed != (value == "true") {
		return beside, false
	}
	return left, true
}

// hardly finds denials that are none for certain.
var hardly = regexp.MustCompile(`\b(?:not|n['’]t) (?:only|just|merely|simply|necessarily|yet)\b`)

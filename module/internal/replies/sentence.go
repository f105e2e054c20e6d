package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A sentence gives a value if it names only one that the field could have, says it
// without a doubt, and has it where sentences say what something is.

// stated reads one sentence.
func (s shape) stated(text string) json.RawMessage {
	if !s.scalar() || strings.Contains(text, "\n") || len(text) > 300 {
		return nil
	}
	if value := s.claimed(text); value != nil {
		return value
	}
	text = strings.Replace(text, "There will be ", "There are ", 1)
	if value := s.declared(text); value != nil {
		return value
	}
	said := s.statedWord(text)
	if said == "" || s.lasts() {
		return nil
	}
	value := s.exact(said)
	if value == nil || s.number() && s.numbersIn(strings.Replace(text, said, "", 1)) > 0 || uncertain(s, PlainText(value), strings.Replace(text, said, PlainText(value), 1)) || refutes.MatchString(text) || slices.ContainsFunc(wordsOf(text), func(w string) bool { return reported[w] }) {
		return nil
	}
	return value
}

// declaration finds sentences that say what a number or a day is: The price in the ad is
// $75.
var declaration = regexp.MustCompile(`(?i)^(?:(?:so|thus|hence|therefore|overall|in total),? )?(?:the|this|its|their|my)(?: (?:final|total|correct|stated|overall|asking|exact|actual|advertised|full|given|requested))* (?:number of |count of )?([\pL_ ]+?)((?: (?:in|of|for|from|on|at|given|stated|mentioned) [^.,;:!?\d]{1,60}?)?)(?: is| was| are| were| =| amounts to| comes to| equals)(?: listed as| given as| set at| set for| exactly| on)? (\S.*?)[.!]?$`)

// declared is the number or the day that a sentence says of a field, and nothing more.
func (s shape) declared(text string) json.RawMessage {
	m := declaration.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || !s.number() && !s.temporal() || !sameName(s.name, m[1]) && !frames[strings.ToLower(m[1])] {
		return nil
	}
	if slices.ContainsFunc(wordsOf(m[2]), func(w string) bool {
		return portions[w] || reported[w] || hedges[w] || corrections[w] || contrasts[w] || isNumeral(w)
	}) {
		return nil
	}
	return s.exact(m[3])
}

// reported are words of sentences that say what others hold, or of what else something
// is said.
var reported = wordSet(`says said claims claimed denies denied thinks believes believed suggests suggested supposedly allegedly opposite contrary
	reverse none hardly nothing nobody first second third half will later until before once anything fewer missing extra additional too`)

// claim is a sentence about what was stated: The statement is not true.
var claim = regexp.MustCompile(`(?i)^(?:the|this|that) (?:statement|claim|assertion|proposition) is(n['’]t| not)? (true|false)[.!]?$`)

// claimed is the truth of what was stated. A double denial is none.
func (s shape) claimed(sentence string) json.RawMessage {
	m := claim.FindStringSubmatch(strings.TrimSpace(sentence))
	if m == nil || !s.boolean || s.number() || !s.isPlain() || m[1] != "" && strings.EqualFold(m[2], "false") {
		return nil
	}
	return json.RawMessage(strconv.FormatBool(m[1] == "" && strings.EqualFold(m[2], "true")))
}

var box = regexp.MustCompile(`^(?:[-*•] )?\[([ xX✓✔]?)\] *(\S.*)$`)

// ticked is the only one of several values of which the box is ticked.
func (s shape) ticked(text string) (value json.RawMessage) {
	lines := linesOf(text)
	if len(lines) < 2 || !s.scalar() || s.boolean && len(lines) > 2 {
		return nil
	}
	seen := map[string]bool{}
	for _, line := range lines {
		m := box.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			return nil
		}
		option, tick := s.exact(m[2]), strings.TrimSpace(m[1]) != ""
		if option == nil || seen[string(option)] || tick && value != nil {
			return nil
		}
		seen[string(option)] = true
		if tick {
			value = option
		}
	}
	return value
}

// statedWord is the only word of a sentence that may be the value.
func (s shape) statedWord(text string) string {
	text = strings.TrimSpace(text)
	if s.format == dateTime {
		return onlyMoment(text)
	}
	if m := statement.FindStringSubmatch(text); m != nil && (s.constants != nil || s.boolean && !s.number()) {
		return strings.Trim(m[1], "\"'`*“”")
	}
	if m := counting.FindStringSubmatch(text); m != nil && s.integer && !waysOf(text) && s.isCountOf(text[strings.Index(text, m[1])+len(m[1]):]) {
		return m[1]
	}
	if m := having.FindStringSubmatch(text); m != nil && s.integer && s.ownUnit(m[1], strings.ToLower(m[2])) {
		return m[1]
	}
	return ""
}

// statement is a sentence that ends with the word it is about.
var statement = regexp.MustCompile("(?i)\\b(?:is|are|as|be|say|choose|seems|sounds|go with|rate it|rate this)\\s+(?:(?:\\w+ly|very)\\s+)?([\"'`*“]*[\\w-]+[\"'`*”]*)[.!]?$")

// counting is a sentence that says how many there are.
var counting = regexp.MustCompile(`(?i)^(?:(?:so|thus|hence|therefore|overall|altogether|in total),? )?(?:there (?:are|is|were|was|will be)|i (?:count|counted|found|find|see)|(?:the|this) \w+ (?:mentions|contains|lists|has|names|includes|describes)|it (?:mentions|contains|lists|has|names|includes))(?: exactly| a total of)? \**(\d[\d,]*|[a-z]+)\** [a-z][^.,;:!?]*\.?$`)

// isCountOf reports whether a field is the number of what a sentence counts: its name
// says no more than that it is a number, or is the word behind the number.
func (s shape) isCountOf(behind string) bool {
	own := wordsOf(spaced.Replace(s.name))
	words := wordsOf(behind)
	if len(own) == 0 || len(words) == 0 || s.isPlain() || counts[own[len(own)-1]] {
		return true
	}
	return own[len(own)-1] == words[0] && (len(words) == 1 || afterNoun[words[1]])
}

// afterNoun are words that can't make another thing of the noun before them.
var afterNoun = wordSet("in on at of during who that which for from with here there listed mentioned named present altogether")

// having is a sentence that says how many of something there were, by its name.
var having = regexp.MustCompile(`(?i)^(?:the|this|it|our) ?[\pL]* (?:has|had|saw|counted|recorded|received|welcomed|attracted|registered) [*_]*(\d[\d,]*)[*_]* (\pL+)\.?$`)

// waysOf reports whether a sentence counts something about the question.
func waysOf(text string) bool {
	return slices.ContainsFunc(wordsOf(text), func(w string) bool { return aboutAnswers[w] })
}

var aboutAnswers = wordSet("way ways question questions reason reasons problem problems issue issues option options interpretation interpretations possibility possibilities answer answers candidate candidates meaning meanings reading readings example examples step steps limit")

var momentIn = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d\S*`)

// onlyMoment is the one moment of a sentence that is no span.
func onlyMoment(text string) string {
	all := momentIn.FindAllString(text, 2)
	span := slices.ContainsFunc(wordsOf(text), func(w string) bool { return spans[w] || contrasts[w] || w == "may" })
	if len(all) != 1 || span || !strings.HasSuffix(text, ".") {
		return ""
	}
	return strings.TrimRight(all[0], ".,;)`*")
}

var spans = wordSet("before after until till since from to later earlier local by past")

// ofField reports whether a sentence speaks of a field or of an answer, so that it
// is one even if there is nothing else in the reply.
func ofField(name, text string) bool {
	own := wordsOf(strings.ReplaceAll(name, "_", " "))
	return slices.ContainsFunc(wordsOf(text), func(w string) bool {
		return slices.Contains(own, w) || w == "answer" || w == "result" || w == "value"
	})
}

// verdicts are sentences about what is judged: This message is not spam.
var verdicts = regexp.MustCompile(`(?i)^(?:(yes|no),? +)?(?:this|it|he|she|the)(?: [a-z]+){0,2}? (?:is|was)(n['’]t| not)?(?: (?:an? |clearly |definitely |certainly )*)?([a-z -]+)$`)

// verdict is the truth that a sentence tells of something by the name of a field.
func (s shape) verdict(sentence string) json.RawMessage {
	if !s.boolean || s.number() || len(sentence) > 100 {
		return nil
	}
	m := verdicts.FindStringSubmatch(strings.TrimRight(strings.TrimSpace(sentence), ".!"))
	if m == nil || !sameName(s.name, strings.TrimSpace(strings.TrimPrefix(m[3], "not "))) {
		return nil
	}
	denied := m[2] != "" || strings.HasPrefix(m[3], "not ")
	if m[1] != "" && strings.EqualFold(m[1], "no") != denied {
		return nil
	}
	return json.RawMessage(strconv.FormatBool(!denied))
}

// judged reads a reply that begins with a verdict on the only field, and goes on to
// explain it.
func (r reply) judged(f signature.Field, text string) (signature.Values, error) {
	s := shapeOf(f)
	if !s.boolean || len(text) > 2000 {
		return nil, nil
	}
	first, rest := text, ""
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		first, rest = text[:at[0]], text[at[1]:]
	}
	value := s.verdict(first)
	if value == nil || !fits(f, value) {
		return nil, nil
	}
	if rest != "" && (unsure.MatchString(rest) || strings.Contains(rest, "?")) {
		return nil, structural(f.Name, "is said with a doubt; decide")
	}
	values := signature.Values{{Name: f.Name, JSON: value}}
	if err := r.stand(values, rest); err != nil {
		return nil, err
	}
	return values, nil
}

// yearAtEnd finds the year that a sentence ends with.
var yearAtEnd = regexp.MustCompile(`(?i)^\pL[^.!?\n]* (?:in|en|im|nel|em|anno) \**(\d{3,4})\**\.?$`)

// dated reads a sentence that says in which year something was, where that is asked
// for, and has no other number.
func (s shape) dated(text string) json.RawMessage {
	m := yearAtEnd.FindStringSubmatch(text)
	if m == nil || !s.integer || !strings.HasSuffix(strings.ToLower(s.name), "year") || len(digits.FindAllString(text, 2)) > 1 {
		return nil
	}
	if uncertain(s, m[1], text) || slices.ContainsFunc(wordsOf(text), func(w string) bool { return speaks[w] || contrasts[w] }) {
		return nil
	}
	return json.RawMessage(m[1])
}

// speaks are words of a sentence that is about who answers, or about the question.
var speaks = wordSet("i i'm my me we our you your cutoff knowledge question article text training according claims say says said believed first second third another decade century sometime")

package replies

import (
	"regexp"
	"slices"
	"strings"
)

// A value may come with its reason: "high: users can't log in", or the reason with its
// value: "users can't log in, so: high". Reasons are about the matter, and use words
// that would make a value doubtful if they stood with it. What tells the two apart is
// where a word stands, and what it is about.

// explains reports whether what stands beside a value is a reason for it, and says
// nothing else of it.
func (s shape) explains(word, value, beside string) bool {
	words := wordsOf(beside)
	least := 3
	if s.most != nil || s.boolean && !s.isPlain() || echoed.MatchString(beside) {
		least = 2
	}
	if len(words) < least || len(words) < 3 && s.boolean && negative.MatchString(beside) && !echoed.MatchString(beside) || s.ticks(words, beside) || len(beside) > 1500 || attributes[words[0]] || s.isProvisional(value, words) || s.answersElse(word, beside) ||
		s.format == dateTime || s.format == date && otherDay(value, beside) {
		return false
	}
	return s.reasonFor(beside) && (s.breaksDown(value, beside) || s.ratioOf(value, beside) || !s.namesOther(value, beside))
}

// ticks reports whether a text says with a colon whether a value holds, or how far.
func (s shape) ticks(words []string, beside string) bool {
	return beside[0] == ':' && (truth[words[0]] != "" && words[0] != "no" || len(words) < 3 || isNumeral(words[0]) && !s.number())
}

// reasonFor reports whether a text about the matter leaves a value as it is, wherever it
// stands.
func (s shape) reasonFor(text string) bool {
	if wavering.MatchString(text) || strings.ContainsAny(text, "?±") || strings.Contains(text, "...") || strings.Contains(text, "…") ||
		unsure.MatchString(text) || s.isShare(text) {
		return false
	}
	words := wordsOf(conditionsMet.ReplaceAllString(text, ""))
	for i := range words {
		if s.wavers(words, i) {
			return false
		}
	}
	return true
}

// isShare reports whether a text has a percentage, which may be how certain a value is,
// or another, or says of what part a truth is.
func (s shape) isShare(text string) bool {
	return s.inPart(text) || strings.ContainsAny(text, "%~") && (s.number() || len(wordsOf(text)) < 4)
}

// inPart reports whether a text says of how many of how many a truth is: 9 of 11 dishes.
func (s shape) inPart(text string) bool {
	m := shareOf.FindStringSubmatch(text)
	return m != nil && s.boolean && !strings.EqualFold(m[1], m[2])
}

var conditionsMet = regexp.MustCompile(`(?i)\bconditions (?:are|were|have been) (?:all )?(?:met|fulfilled|satisfied)\b`)

// wavering finds clauses that take something back, or leave it open, whatever it is.
var wavering = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(?:that|this|it|answer|value|above|one)(?:['’]s| is| was| were| seems)? (?:an? |my |the )?(?:wrong|incorrect|mistake|error|typo|draft|guess|lie|joke|not)\b`,
	`\b(?:should|would|could|might|may|can|ought to) (?:also |well |rather |even |just as well |as well )?(?:be|been|have been|become|turn)\b`,
	`\b(?:can(?:not|['’]t| not)|could(?:n['’]t| not)|hard|difficult|impossible|unable) (?:to )?(?:be )?(?:tell|told|say|said|know|known|determine|determined|decide|judge|judged|verify|verified|confirm|confirmed|sure|certain|see|seen|rule|ruled|answer|infer)\b`,
	`\bas far as\b|\bto (?:my|our|the best)\b|\bwe know\b`,
	`\b(?:do|does|did)(?:n['’]t| not) (?:know|say|tell|state|mention it)\b`,
	`\bgive or take\b|\bor (?:so|maybe|not|rather|more|less|something|thereabouts|even|close)\b|\bor[.)]*$|^\W*or\b|\bmore or less\b|\bmake (?:it|that)\b|\bchanged? (?:it )?to\b`,
	`(?:^|[.;:!\n]|[–—] )\s*(?:no|not|sorry|update|edit|error|wrong|incorrect|better|final|correct|revised?)\s*[,:;.!–—-]`,
}, "|"))

// matters are words of corrections and hedges that reasons have as well, about the
// matter.
var matters = wordSet(`error wrong incorrect incorrectly update updated edit edited change changed mistake final correct better prefer mind make
	twice otherwise actual denies denied disputes contradicts revised amended strike
	or about around over under above below between more less than least half minus negative thousand thousands million millions billion
	billions hundred hundreds dozen percent k m bn pct nearly almost roughly approximately approx cannot really yet neither nor estimate estimated`)

// amounts are words that may make another number of one, wherever they stand.
var amounts = wordSet(`twice half minus plus negative thousand thousands million millions billion billions hundred hundreds dozen percent k m bn pct
	more less least another additional also besides extra missing uncounted remaining too nearly almost roughly approximately approx estimate estimated`)

// uncounted are words for more of what was counted.
var uncounted = wordSet("another additional besides uncounted")

// tempers are words that make a truth doubtful, and are said of the matter of others.
var tempers = wordSet("partly mostly somewhat fairly partially")

// wavers reports whether a word makes a value doubtful of which a text gives the reason.
func (s shape) wavers(words []string, i int) bool {
	w := words[i]
	switch {
	case firstPerson[w], reservations[w] && w != "pending":
		return true
	case modals[w]:
		return s.boolean || i == 0 || pronouns[words[i-1]] || particles[words[i-1]]
	case s.number() && amounts[w]:
		return true
	case matters[w]:
		if !s.number() && i+1 < len(words) && isNumeral(words[i+1]) {
			return false
		}
		return i < 2 && w != "error" && w != "cannot" && w != "wrong" && w != "final" || i == len(words)-1 && !s.explicable()
	case tempers[w]:
		return !s.number()
	case w == "but" || w == "though" || w == "although" || w == "except":
		return s.boolean || i == 0
	case (w == "says" || w == "said") && i > 1:
		return false
	case reported[w] && w != "no" && w != "nothing" && w != "none" && w != "until" && w != "before" && w != "later":
		return s.boolean
	}
	return corrections[w] || hedges[w]
}

var (
	firstPerson = wordSet("i i'm i'd i've i'll i’m i’d i’ve i’ll my me myself")
	modals      = wordSet("would could might may should ought")
	pronouns    = wordSet("it this that one i you we which but and or they he she who")
)

// isProvisional reports whether a reason begins with what a value depends on, or by
// denying it: in principle, unless, not really.
func (s shape) isProvisional(value string, words []string) bool {
	first, last := words[0], words[len(words)-1]
	switch {
	case s.boolean && strings.HasSuffix(first, "ly") && !plainly[first]:
		return true
	case s.number() && first == "and":
		return true
	case s.number() && value == "0" && (first == "no" || first == "none"):
		return false
	case (first == "no" || first == "nothing" || first == "none") && (s.boolean || s.constants != nil):
		return len(words) > 1 && (s.boolean && truth[words[1]] != "" || s.isConstant(words[1]))
	case s.number() && slices.ContainsFunc(words, func(w string) bool { return altering[w] }):
		return true
	}
	return provisos[first] || contrasts[first] || qualifiers[first] && (first != "only" || value == "true") || s.boolean && accompanied[first] || qualifiers[last] && (last != "only" || s.boolean || s.number() && s.most == nil) ||
		first == "in" && inPart[words[1]] || s.boolean && slices.ContainsFunc(words, func(w string) bool { return restricts[w] })
}

var (
	altering    = wordSet("max min maximum minimum rounded without plus excluding excl per each minus extra more fewer less")
	plainly     = wordSet("clearly definitely certainly absolutely obviously explicitly only")
	provisos    = wordSet("provided given assuming subject under according when where apart barring supposing wherever whenever once till")
	accompanied = wordSet("with without at from up")
	inPart      = wordSet("principle theory part parts some most many certain general practice")
	restricts   = wordSet("before formerly previously sometimes usually theoretically theory disputed until unlike partially")
)

// answersElse reports whether what stands behind a yes or a no may answer another
// question than that of the field: No, this is harmless.
func (s shape) answersElse(word, beside string) bool {
	lower := strings.ToLower(Undecorated(word))
	if !s.boolean || lower != "yes" && lower != "no" || because.MatchString(beside) || !besidesAnswer.MatchString(beside) {
		return false
	}
	if echo := echoed.FindStringSubmatch(beside); echo != nil && (echo[1] == "") == (lower == "yes") {
		return false
	}
	if s.isPlain() || refuses.MatchString(beside) || sharesName(s.name, beside) {
		return s.besides(word, beside)
	}
	clause, _, _ := strings.Cut(clauseMark.ReplaceAllString(beside[2:], ";"), ";")
	if lower == "no" && negative.MatchString(clause) {
		return !s.asksForThing() && !slices.ContainsFunc(wordsOf(beside), func(w string) bool { return len(w) > 3 && akin(s.name, w) })
	}
	m := subject.FindStringSubmatch(beside)
	return m != nil && (m[1] != "" || lower == "no" && !evidence[strings.ToLower(m[2])])
}

func sharesName(name, text string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(spaced.Replace(name)))
}

// echoed is a yes or a no once more: it is, she didn't.
var echoed = regexp.MustCompile(`(?i)^[,.] (?:it|he|she|they|this|that|there) (?:is|does|did|has|was|were|are|do|can|will)(n['’]t| not)?[.!]?$`)

// asksForThing reports whether a field is whether there is something, so that there may
// be no such thing.
func (s shape) asksForThing() bool {
	first, _, _ := strings.Cut(strings.ToLower(spaced.Replace(s.name)), " ")
	return first == "has" || first == "have" || first == "contains" || first == "includes" || first == "mentions"
}

// subject finds clauses about the reader, or about what was to be judged, with their
// verb.
var subject = regexp.MustCompile(`(?i)^[,.] (?:(you|there['’]s|that['’]s|please|nobody|too|insufficient|my)\b.*|(?:this|that|it|he|she|the (?:message|mail|e-?mail|letter|text|passage|review|article|document))(?:['’]s)? ?(\pL*).*)$`)

// negative finds clauses with a no of their own.
var negative = regexp.MustCompile(`(?i)\b(?:no|not|none|nothing|never|nobody|without|free)\b|n['’]t\b`)

// clauseMark is where a clause ends.
var clauseMark = regexp.MustCompile(`[,.;:–—] `)

// evidence are verbs that tell what something has.
var evidence = wordSet(`contains contain includes include uses use has have lists list mentions describes explains gives lacks needs requires
	violates breaks asks asked teaches shows names tells promotes encourages instructs threatens insults serves`)

// namesOther reports whether a text names another value that the field could have. As an
// attribute of something else, as in a happy ending, it is none.
func (s shape) namesOther(value, text string) bool {
	if s.boolean {
		rest, agrees := s.agreeing(value, text)
		if !agrees {
			return true
		}
		text = rest
	}
	var kept []string
	words := clauseWords(s.withoutSums(value, s.withoutOwn(value, text)))
	for i, w := range words {
		if !s.isAttribute(words, i) && !s.isWhen(value, words, i) {
			kept = append(kept, w)
		}
	}
	return rivals(s, value, kept)
}

// withoutOwn is a text without the number that was read.
func (s shape) withoutOwn(value, text string) string {
	own := plainRatio(value)
	if !s.number() || own == nil {
		return text
	}
	return written.ReplaceAllStringFunc(text, func(number string) string {
		if n := plainRatio(strings.TrimRight(number, ".,")); n != nil && n.Cmp(own) == 0 {
			return ""
		}
		return number
	})
}

var written = regexp.MustCompile(`\b\d[\d.,]*`)

// isWhen reports whether a word is the year since which a number holds: as of 2023.
func (s shape) isWhen(value string, words []string, i int) bool {
	return i > 0 && s.number() && s.most == nil && aYear.MatchString(words[i]) && !aYear.MatchString(value) && dating[words[i-1]]
}

var (
	aYear  = regexp.MustCompile(`^(?:19|20)\d\d$`)
	dating = wordSet("in of since born from year")
)

func (s shape) isAttribute(words []string, i int) bool {
	if s.number() || !s.isConstant(words[i]) && words[i] != "true" && words[i] != "false" || i == 0 || i+1 == len(words) {
		return false
	}
	next := words[i+1]
	if words[i] != "true" && words[i] != "false" && !articles[words[i-1]] {
		return false
	}
	if words[i-1] == "no" && exists[next] {
		return true
	}
	return len(next) > 3 && !particles[next] && !verbs[next] && !generic[next] && !sameName(s.name, next) && !strings.HasSuffix(next, "ly") && !s.isConstant(next)
}

// exists are verbs behind what there is not: no error has occurred.
var exists = wordSet("has have had was were is are occurred happened in on of yet here")

var (
	articles = wordSet("a an the no any some its their his her")
	verbs    = wordSet("is was are were been being seems would could might should will does fits applies about with until because since when while then later overall though although also rather instead")
	generic  = wordSet("risk severity level levels priority rating mood tone value score answer category label class result verdict choice option sentiment status overall impact feeling")
)

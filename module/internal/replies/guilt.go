package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// What is said around an answer is about the matter, until it shows that it is about the
// answer. A number, a name, a "would" or a "wrong" in it says nothing of a value: the item
// was wrong, two more trains would run. That a sentence is about the answer shows by whom
// it speaks of, by where the word stands, and by a value that it gives for the same field.

// withdraws reports whether a sentence takes an answer back, or has it open.
func (r reply) withdraws(values signature.Values, sentence string) bool {
	if strings.Contains(sentence, "...") || strings.Contains(sentence, "…") {
		return true
	}
	sentence = hypothetical.ReplaceAllString(noted.ReplaceAllString(sentence, ""), " ")
	words := wordsOf(patient.ReplaceAllString(sentence, ""))
	about := len(words) < 5 || r.about(values, words)
	if about && (unsure.MatchString(sentence) || strings.Contains(sentence, "?")) || mayErr.MatchString(sentence) || madeUp.MatchString(sentence) && !passedOver.MatchString(sentence) || offersOther.MatchString(sentence) || retracts.MatchString(sentence) {
		return true
	}
	for i, w := range words {
		switch matter := material[w] || contracted(w); {
		case !matter && corrections[w], matter && (i == 0 && !contracted(w) || about && (corrections[w] || contracted(w))):
			return true
		case about && unexact[w]:
			return true
		}
	}
	return false
}

// remarksIn are the sentences of what is said around an answer, without JSON in them.
func remarksIn(text string) []string {
	return sentenceEnd.Split(latinized.ReplaceAllString(inBraces.ReplaceAllString(text, ""), "as"), -1)
}

var latinized = regexp.MustCompile(`(?i)\b(?:e\.g|i\.e|z\.b)\.`)

var inBraces = regexp.MustCompile(`\{[^{}]*\}`)

// noted finds how one begins to tell something.
var noted = regexp.MustCompile(`(?i)\b(?:it|this) (?:should|may|might|could|must) be (?:noted|mentioned|said|added|of interest)\b`)

// material are words of corrections that sentences about the matter have as well.
var material = wordSet(`error erroneous wrong incorrect incorrectly mistake mistaken mistakenly update updated edit edited change changed final
	correct corrected better prefer mind make twice would should could might ought actual actually otherwise denies denied disputes disagree
	disagrees contradicts revised revision amended strike scratch instead rather ignore ignored alternative alternatives apologies apologize
	apologise reflection original however meant recounted`)

// unexact are the hedges of what is not known for certain.
var unexact = wordSet(`approximate approximated approximation approx approximately roughly estimate estimated estimation probably likely unclear unknown
	assume assumes assumed assuming assumption presumes presumably provisional tentative unverified unconfirmed inferred illegible`)

// presentedAs reports what is said before an answer that speaks against it: that it is
// another, an example, or that there is none.
func (r reply) presentedAs(values signature.Values, before string) error {
	if err := r.foretold(values, before); err != nil {
		return err
	}
	if isFrame(before) || wrongOne.MatchString(withoutTicks(before)) {
		return structural("", "the answer may be an example; give the answer alone")
	}
	if blank(before) || len(before) > longestRemark {
		return nil
	}
	for _, sentence := range sentenceEnd.Split(before, -1) {
		if guesses.MatchString(sentence) || declines.MatchString(sentence) && !r.isOfMissing(values, wordsOf(sentence)) {
			return structural("", "the reply says %q before it answers; do one of the two", excerpt(strings.TrimSpace(sentence)))
		}
	}
	return nil
}

var (
	guesses  = regexp.MustCompile(`(?i)\bI(?:['’]m| am|['’]ll| will)? (?:just |only |merely |have to )?guess(?:ing)?\b|\b(?:this|it)(?:['’]s| is) (?:just |only )?a (?:\pL+ )?guess\b|(?:^|\bI(?:['’]m| am)) ?\W*not (?:\pL+ )?(?:sure|certain)\b`)
	wrongOne = regexp.MustCompile(`(?i)\b(?:wrong|incorrect|invalid|bad) (?:\pL+ )?(?:answer|output|reply|response|object|json|example)\b[^.\n]*:$`)
)

// declines finds what says that there is no answer.
var declines = regexp.MustCompile(`(?i)\bI(?:['’]m| am| was)? (?:really |also )?(?:can(?:not|['’]t)|could(?:n['’]t| not)|do(?:n['’]t| not)|did(?:n['’]t| not)|unable to|not able to) (?:\pL+ly )?(?:tell|know|determine|identify|help|answer|extract|assist|access|open|read|infer)\b`)

// isOfMissing reports whether words name a field that has no value.
func (r reply) isOfMissing(values signature.Values, words []string) bool {
	return slices.ContainsFunc(r.outputs, func(f signature.Field) bool {
		_, given := values.Get(f.Name)
		return !given && slices.ContainsFunc(words, shapeOf(f).named)
	})
}

// mayErr finds what says that who answers may be wrong, or guesses.
var mayErr = regexp.MustCompile(`(?i)\b(?:real|exact|true|actual|precise) (?:number|value|date|name|amount|figure|answer|count|total)\b|\bonly (?:covers?|counts?|includes?|the (?:first|last))\b|\bdouble[- ]?check|\b(?:please|to) (?:check|verify|confirm)\b|\b(?:I|it|this|that|these|they|values?|answers?) (?:\pL+ )?(?:may|might|could) (?:not )?(?:also |well |still )?(?:be|have|need|differ|contain|include|apply)\b|\bI (?:have |\pL+ly |just )*(?:mixed up|confused|assumed?|inferred|overlooked|missed|forgot|misread|miscounted|made up)\b`)

// madeUp finds what says that an answer is none.
var madeUp = regexp.MustCompile(`(?i)\b(?:just|only|merely|purely) (?:an? |for )?(?:example|sample|illustration|placeholder|template|draft|demonstration|test)\b|\bplaceholders?\b|\bhypothetical|\bdummy\b|\bmade[- ]up\b|\bfictional\b|\binvented\b|\bfor illustration\b|\bhallucinat`)

var passedOver = regexp.MustCompile(`(?i)\b(?:left out|leave out|omitted|ignored?|skipped)\b`)

// about reports whether a sentence speaks of the answer: of who gives it, of a field, of a
// value, or of it.
func (r reply) about(values signature.Values, words []string) bool {
	if len(words) > 0 && (pronouns[words[0]] && !conjunctions[words[0]] || words[0] == "there") && !isDemonstrative(words) {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return firstPerson[w] && w != "me" || answerWords[w] || slices.ContainsFunc(r.outputs, func(f signature.Field) bool { return shapeOf(f).named(w) })
	}) || slices.ContainsFunc(values, func(v signature.Value) bool { return spokenOf(v.JSON, words) })
}

// isDemonstrative reports whether words begin with a thing that is pointed at: this plan.
func isDemonstrative(words []string) bool {
	if words[0] != "this" && words[0] != "that" || len(words) == 1 {
		return false
	}
	next := words[1]
	return !verbs[next] && !modals[next] && !corrections[next] && !unexact[next] && !contracted(next)
}

var (
	conjunctions = wordSet("but and or which who")
	answerWords  = wordSet("answer answers value values result results output response reply object json above field fields classification label extraction guess")
)

// named reports whether a word is of the name of a field, or of one of its members.
func (s shape) named(word string) bool {
	for _, own := range wordsOf(spaced.Replace(s.name)) {
		if !prepositions[own] && (own == word || inflected(own, word) || strings.TrimSuffix(word, "s") == strings.TrimSuffix(own, "s")) {
			return true
		}
	}
	return slices.ContainsFunc(s.members, func(m member) bool { return m.shape.named(word) }) || s.items != nil && s.items.named(word)
}

var prepositions = wordSet("from to in on at of by for with as is has until")

// spokenOf reports whether one of some words is a value of one word.
func spokenOf(value json.RawMessage, words []string) bool {
	own := strings.ToLower(PlainText(value))
	return len(own) > 1 && len(own) < 50 && slices.Contains(words, own) && truth[own] == ""
}

// opposes reports whether a text gives another value for a field.
func (r reply) opposes(values signature.Values, text string) bool {
	return slices.ContainsFunc(r.outputs, func(f signature.Field) bool {
		value, given := values.Get(f.Name)
		return given && shapeOf(f).gainsaid(value, text)
	})
}

// gainsaid reports whether a text gives another value than that, or one for a member of it.
func (s shape) gainsaid(value json.RawMessage, text string) bool {
	if s.members != nil {
		var object signature.Values
		return json.Unmarshal(value, &object) == nil && slices.ContainsFunc(object, func(v signature.Value) bool {
			m, known := s.member(v.Name)
			return known && m.shape.gainsaid(v.JSON, text)
		})
	}
	if s.boolean {
		_, agrees := s.agreeing(PlainText(value), text)
		return !agrees || rivals(s, PlainText(value), wordsOf(text))
	}
	if !s.scalar() && !s.text {
		return false
	}
	return slices.ContainsFunc(sentenceEnd.Split(text, -1), func(sentence string) bool { return s.givenAnew(value, strings.TrimSpace(sentence)) })
}

// givenAnew reports whether a sentence gives another value: it is 30, 30 goals, or rather
// high.
func (s shape) givenAnew(value json.RawMessage, sentence string) bool {
	if s.text && s.constants == nil && !s.temporal() {
		return s.namesAnew(PlainText(value), sentence)
	}
	if said := unframed(s.name, sentence); said != sentence {
		if again := s.exact(said); again != nil && !equalJSON(again, value) {
			return true
		}
	}
	if s.integer && slices.ContainsFunc(wordsOf(sentence), func(w string) bool { return uncounted[w] }) || s.number() && oneMore.MatchString(sentence) || s.number() && reference.MatchString(sentence) && forgets.MatchString(sentence) {
		return true
	}
	for _, at := range s.others(PlainText(value), sentence) {
		before, behind := sentence[:at[0]], sentence[at[1]:]
		bare := endsThought(behind)
		if each.MatchString(before) && !bare {
			continue
		}
		if s.leadsTo(before, len(wordsOf(sentence)), bare) || s.claims(behind) || bare && s.tells(before) {
			return true
		}
	}
	return false
}

var oneMore = regexp.MustCompile(`(?i)\b(?:one|two|three|\d+|some|a few) (?:more|fewer|less|extra|additional)\b(?: than)?`)

// namesAnew reports whether a sentence gives another name than a text: the author is, it was
// written by, co-author:. Or says that there are several.
func (s shape) namesAnew(value, sentence string) bool {
	names := itIs.FindStringSubmatch(sentence)
	if label, said, ok := strings.Cut(sentence, ":"); ok && len(wordsOf(label)) < 4 && slices.ContainsFunc(wordsOf(label), s.named) {
		names = append(names, "", strings.TrimSpace(said))
	}
	if said := strings.TrimSuffix(Undecorated(unframed(s.name, sentence)), "."); said != sentence {
		names = append(names, "", said)
	}
	for i := 1; i < len(names); i += 2 {
		if name := leadingName.FindString(names[i]); name != "" && !holdsWords(value, name) {
			return true
		}
	}
	words := wordsOf(sentence)
	for i, w := range words {
		if i > 0 && (isNumeral(words[i-1]) || severals[words[i-1]]) && strings.HasSuffix(w, "s") && s.named(w) {
			return true
		}
	}
	return false
}

var (
	itIs        = regexp.MustCompile(`\b(?i:it|this|that|he|she)(?:['’]s| (?:is|was|should be|must be|would be|might be))(?: \p{Ll}+ by)? (\p{Lu}[\pL.'’-]*(?: \p{Lu}[\pL.'’-]*)*)`)
	leadingName = regexp.MustCompile(`^\p{Lu}[\pL\pN.&’-]*(?: (?:(?:of|the|de|von|van|and) )?\p{Lu}[\pL\pN.&’-]*)*`)
	severals    = wordSet("several multiple both many more other")
)

// endsThought reports whether what stands behind a value has no noun that the value is of:
// 13, if the attic counts, and not 13 rooms.
func endsThought(behind string) bool {
	behind = strings.TrimLeft(behind, "*\"”’ ")
	if behind == "" || strings.ContainsAny(behind[:1], ",;:.!?()–—-") {
		return true
	}
	first, _, _ := strings.Cut(behind, " ")
	first = strings.ToLower(strings.Trim(first, ".,;:"))
	return prepositions[first] && first != "of" || fitting[first] || subordinating[first]
}

var subordinating = wordSet("if when unless because since or and but so including without")

// tells reports whether a value without a noun of its own is said to be there: the log has 6,
// there are 13, counting the basement: 13.
func (s shape) tells(before string) bool {
	before = strings.TrimRight(before, "*\"“‘ ")
	if before == "" {
		return true
	}
	words := wordsOf(before)
	last := ""
	if len(words) > 0 {
		last = words[len(words)-1]
	}
	if s.constants != nil {
		return towards[last]
	}
	return telling[last] || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "=")
}

var (
	towards = wordSet("for to towards toward as with into between")
	telling = wordSet(`is are was were be been has have had having lists shows gives says counts contains names found find saw see got get counted so sind ist son sont sono es
		makes make becomes rather instead`)
	each = regexp.MustCompile(`(?i)\b(?:each|every|per)\b`)
)

// holdsWords reports whether a text has another in it, in whole words.
func holdsWords(text, other string) bool {
	return strings.Contains(" "+strings.Join(wordsOf(text), " ")+" ", " "+strings.Join(wordsOf(other), " ")+" ")
}

// others are the places of other values in a sentence: of numbers, or constants.
func (s shape) others(value, sentence string) (places [][]int) {
	find := numeralAt
	if s.constants != nil {
		find = phraseOf(s.constants)
	}
	for _, at := range find.FindAllStringIndex(s.withoutReferences(sentence), -1) {
		said := strings.ToLower(sentence[at[0]:at[1]])
		switch {
		case s.constants != nil && s.constant(said) != nil && PlainText(s.constant(said)) == value:
		case s.constants == nil && (!isNumeral(strings.Trim(said, ",.")) || strings.HasSuffix(said, "th") || strings.HasSuffix(said, "st") || strings.HasSuffix(said, "nd") || strings.HasSuffix(said, "rd")), s.temporal() && strings.Contains(value, said), numerals[said] == value:
		case s.number() && numberOf(said) != nil && decimal(value) != "" && numberOf(said).Cmp(numberOf(value)) == 0:
		default:
			places = append(places, at)
		}
	}
	return places
}

var numeralAt = regexp.MustCompile(`\d{4}-\d\d-\d\d|\d+(?:st|nd|rd|th)\b|-?\d[\d,.:]*\d|\d|\pL+`)

// phraseOf finds constants.
func phraseOf(constants []string) *regexp.Regexp {
	all := make([]string, len(constants))
	for i, c := range constants {
		all[i] = regexp.QuoteMeta(strings.ToLower(spaced.Replace(c)))
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(all, "|") + `)\b`)
}

// leadsTo reports whether what stands before a value gives it for the field: nothing, or
// the field or a word for it, and only what joins the two.
func (s shape) leadsTo(before string, of int, bare bool) bool {
	words := wordsOf(inMay.ReplaceAllString(before, " day "))
	if len(words) == 0 {
		return of < 5 || bare
	}
	if words[len(words)-1] == "to" && slices.ContainsFunc(words, s.named) {
		return true // was raised to
	}
	for i := len(words) - 1; i >= 0; i-- {
		switch w := words[i]; {
		case w == "not" || w == "no" || w == "never" || contracted(w):
			return false
		case w == "or" || w == "rather" || w == "actually" || w == "instead", equations[w]:
			return true
		case copulas[w]:
		case s.named(w):
			return (i == 0 || !bygone[words[i-1]]) && !(i == len(words)-1 && w+"s" == strings.ToLower(s.name)) // floor 7
		default:
			return answerWords[w] || pronouns[w] && (i < len(words)-1 || s.constants != nil) && !conjunctions[w] || counts[w] || strings.ContainsAny(before[len(before)-min(len(before), 2):], "=→≈")
		}
	}
	return of < 5 || slices.ContainsFunc(words, func(w string) bool { return verbs[w] || w == "be" })
}

var (
	copulas   = wordSet("is are was were be been being it's that's should would could might may must also really now only in on at of to the a an about around roughly nearly almost more less than like as very too here value number count level date correct right better still rated set")
	bygone    = wordSet("old original former previous regular earlier usual first list")
	equations = wordSet("makes equals totals totalling totaling altogether make become becomes")
)

// claims reports whether what stands behind a value makes it one of the field: its name,
// or that it fits as well.
func (s shape) claims(behind string) bool {
	words := wordsOf(inMay.ReplaceAllString(behind, " day "))
	return len(words) > 0 && (s.named(words[0]) || len(words) > 1 && s.named(words[1]) && !prepositions[words[0]] && !copulas[words[0]] && s.number() || fitting[words[0]])
}

var inMay = regexp.MustCompile(`\bMay\b`) // which may be otherwise

var fitting = wordSet("would could might may also too instead fits applies altogether overall more total")

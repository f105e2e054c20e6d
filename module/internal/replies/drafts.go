package replies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A reply may give an example or a draft before the answer, or take a first answer back
// and give another. The last is the answer if the words between them say so clearly: that
// the one before is no answer, or is corrected, and that the next is the final one.

// final is the last of several objects, and what is said before it, if the words between
// them say that it alone is the answer. There may be one correction, and nothing behind.
func (r reply) final(objects []found, behind string) (last found, ok bool) {
	n := len(objects) - 1
	if n < 1 || objects[n].unclosed || !blank(courtesies.ReplaceAllStringFunc(r.withoutEmpty(r.withoutEndMark(behind)), courtesy)) {
		return last, false
	}
	last = r.unwrapped(objects[n])
	if lacking, has := r.lacking(last.Values); lacking != nil || !has {
		return last, false
	}
	intro, corrected, frames := strings.TrimSpace(objects[n].before), 0, 0
	settles := saysFinal(intro)
	for i := range n {
		switch {
		case isFrame(objects[i].before):
			frames++
		case settles && !saysFinal(objects[i].before), isExample(objects[i].before), calledExample.MatchString(objects[i+1].before):
		case i == n-1 && corrects(objects[n].before) && (!saysFinal(objects[i].before) || regrets.MatchString(intro)):
			corrected++
		default:
			return last, false
		}
	}
	introduced := introducing.MatchString(intro) && (finality.MatchString(intro) || len(wordsOf(lastSentence(withoutTicks(intro)))) > 2)
	return last, !presentsAnother(intro) && (corrected > 0 || introduced || frames == n)
}

// saysFinal reports whether what is said before an object presents it as the final answer.
func saysFinal(before string) bool {
	return finalAnswer.MatchString(lastSentence(withoutTicks(before)))
}

var finalAnswer = regexp.MustCompile(`(?i)\bfinal(?: \pL+)? (?:answer|version|object|json|result|output|response|value|reply|count)\b`)

// regrets finds what takes a final answer back.
var regrets = regexp.MustCompile(`(?i)\b(?:wait|no|hold on|sorry|oops|actually|mistake|wrong|corrected|correction|revised)\b`)

// isExample reports whether what is said before an object presents it as one that is not
// the answer.
func isExample(before string) bool {
	sentence := lastSentence(withoutTicks(before))
	return example.MatchString(sentence) || supposed.MatchString(sentence) && !ownAnswer.MatchString(sentence)
}

// calledExample finds what calls the object before it an example.
var calledExample = regexp.MustCompile(`(?i)^[\s(.,–—-]*(?:(?:this|that|which|it) (?:is|was) )?(?:just |only |merely )?(?:an? |the )?(?:example|sample|template|format|illustration)\b`)

// isFrame reports whether a text presents what follows as an example, as the form of
// an answer, or as what it would be if things were otherwise.
func isFrame(before string) bool {
	before = withoutTicks(before)
	sentence := strings.TrimRight(lastSentence(before), ": \n")
	return !saysFinal(before) && (framed.MatchString(sentence) && !strings.HasSuffix(before, ".") || supposition.MatchString(before) && imagined.MatchString(sentence))
}

var (
	framed      = regexp.MustCompile(`(?i)\b(?:for (?:example|instance)|e\.g\.?|such as|something like(?: this)?|an? (?:example|sample|template|possible|hypothetical|fictional|dummy|made-up)(?: \pL+){0,3}|(?:example|sample|template|dummy|placeholder)(?: \pL+){0,2}|^(?:the |your )?(?:(?:expected|required|requested|desired|json|output) )*(?:format|form|schema|structure|template|shape)(?: of [\pL ]+)? (?:is|would be|should be|looks like)|(?:would|should|could|might) look(?: \pL+)? like(?: this)?)$`)
	supposition = regexp.MustCompile(`(?i)(?:^|[.,!;:\n] *|\b(?:and|then|but) )(?:if|suppos(?:e|ing)|assum(?:e|ing)|imagine|had)\b`)
	imagined    = regexp.MustCompile(`(?i)\bwould\b|\b(?:suppos(?:e|ing)|assum(?:e|ing)|imagine)\b`)
)

// supposed finds what another question would get, and ownAnswer what is said of this one.
var (
	supposed  = regexp.MustCompile(`(?i)\bwould (?:get|give|be|have|look|return|yield|say|result)\b`)
	ownAnswer = regexp.MustCompile(`(?i)\b(?:my|i|i['’]d|the answer|this)\b`)
)

var example = regexp.MustCompile(`(?i)\b(?:for example|for instance|e\.g|an? (?:example|sample|template)|draft|first (?:pass|attempt|try|guess|thought|take|cut|impression|draft)|initially|at first|rough(?:ly)?|looks? like|(?:output|answer|object|format|reply|result) (?:should|must|has to|is to) (?:be|look)|(?:^|\W)(?:example|sample|template|format|schema|attempt 1|initial(?: \pL+)?))\b`)

// introducing finds an introduction.
var introducing = regexp.MustCompile("(?i)(?::|\\b(?:is|be|give|this))\\**\\s*(?:`{3}\\w*)?\\s*$")

// corrects reports whether a text begins by taking back what stands before it, or ends by
// saying that the next is the final one.
func corrects(text string) bool {
	text = withoutTicks(text)
	return retracts.MatchString(text) || finality.MatchString(lastSentence(text))
}

var retracts = regexp.MustCompile(`(?i)^[\s*_(–—.-]*(?:(?:no|hm+|ah|oh|ok(?:ay)?|well|but)[,.!: ]+)*(?:wait|hold on|actually|sorry|oops|whoops|ups|correction|corrected|edit:|update:|scratch that|strike that|apologies|i apologi[sz]e|my (?:mistake|bad|apologies)|no[:,.!]|(?:that|this|it)(?:['’]s| is| was) (?:wrong|not right|incorrect|mistaken|a mistake|not correct)|i (?:misread|miscounted|overlooked|forgot|missed|mixed up|misjudged|miscalculated|made (?:a|an) (?:\w+ )?(?:mistake|error))|on (?:second thoughts?|reflection|closer \w+|re-?\w+ing)|re-?(?:counting|checking|reading|considering)|(?:looking|checking|reading|counting) (?:it )?again|let me (?:correct|fix|revise|redo|re-?\w+|(?:count|check|read|look) again)|(?:final|corrected|revised)\b)`)

var finality = regexp.MustCompile(`(?i)\b(?:final|corrected|revised|updated|fixed|correct|right) (?:answer|version|object|json|result|output|response|one|value|reply|count|list|code)\b|^\W*(?:final|corrected|correction|revised|updated|fixed)\W*$|\b(?:use|take) (?:this|that|the following)(?: one)? instead\b`)

// presentsAnother reports whether what is said before an object or a value presents it as
// something else than the final answer: as another's, a wrong one, one of several.
func presentsAnother(before string) bool {
	before = withoutTicks(before)
	sentence := lastSentence(before)
	clause := strings.TrimRight(sentence, " \t\n:*")
	clause = clause[strings.LastIndexAny(clause, ",;:")+1:]
	told := strings.HasSuffix(before, ".") || strings.HasSuffix(before, "!") // and presents nothing
	return strings.Contains(sentence, "?") || wavers.MatchString(before) || others.MatchString(sentence) || !told && notMeant.MatchString(clause)
}

var (
	// wavers finds doubt that is left.
	wavers = regexp.MustCompile(`(?i)\b(?:maybe|perhaps|possibly|not (?:\w+ )?sure|unsure|uncertain|might|can['’]t (?:decide|tell)|either|(?:the )?(?:first|former|original|previous|earlier|above)(?: \w+)? (?:is|was) (?:\w+ )?(?:right|correct|fine|better))\b`)

	// others finds what presents one of several, or an example.
	others = regexp.MustCompile(`(?i)^\W*(?:and|plus|also)\b|\b(?:options?|alternativ\w*|another|other|or|compar\w+|versus|vs|contrast|example|instance|e\.g|sample|template|schema|format|form|instead of|rather than|in place of|draft|both|reference)\b`)

	// notMeant finds what presents another's, or what is not so.
	notMeant = regexp.MustCompile(`(?i)\b(?:not|never|wrong|incorrect|naive|bad|broken|mistaken|old|previous|former|earlier|original|first|if|unless|would|could|may|says?|said|wrote|claims?|claimed|gave|got|had|someone|somebody|colleague|user|they|he|she|his|their|input|given|quoted?|ignore|avoid|discard|before|ideally|thinks?|thought|used to|until|was|were)\b|\b(?:\pL+['’]s|\pL+s['’]) (?:own )?(?:final |corrected |correct |revised )?(?:answer|version|object|json|result|output|response|reply|one|value|code)\b`)
)

// withoutTicks is a text without the fences in which the objects stand.
func withoutTicks(text string) string {
	return strings.TrimSpace(tickLines.ReplaceAllString(text, ""))
}

var tickLines = regexp.MustCompile("(?m)^[ \\t]*`{3,}\\w*[ \\t]*$|`{3,}\\w*[ \\t]*$")

// withoutDrafts marks the values that are given again behind a correction, once, as
// dropped, with what stands there.
func withoutDrafts(outputs []signature.Field, text string, marks []mark) {
	end, turn := EndName(outputs), -1
	for i, m := range marks[:len(marks)-1] {
		f, known := marked(outputs, end, m.name)
		if !known && !strings.EqualFold(m.name, end) || !correctedUnder(text[m.end:marks[i+1].start], known && f.Schema.AnyText()) {
			continue
		}
		if turn >= 0 || known && !givenIn(outputs, marks[i+1:], m.name) || !known && !givenIn(outputs, marks[i+1:], "") {
			return
		}
		turn = i
	}
	for i := range marks[:turn+1] {
		_, known := marked(outputs, end, marks[i].name)
		marks[i].dropped = !known || givenIn(outputs, marks[turn+1:], marks[i].name)
	}
}

// givenIn reports whether one of the marks is that of a field, or of any.
func givenIn(outputs []signature.Field, marks []mark, name string) bool {
	f, _ := fieldNamed(outputs, name)
	return slices.ContainsFunc(marks, func(m mark) bool {
		g, known := marked(outputs, EndName(outputs), m.name)
		return known && (name == "" || f.Name == g.Name)
	})
}

// correctedUnder reports whether what stands under a marker ends with a correction, from
// the line on where it begins. Of a text, which may go on in any words, it has to present
// what follows.
func correctedUnder(text string, anyText bool) bool {
	at := lineOfCorrection.FindStringIndex(text)
	if at == nil {
		return false
	}
	said := strings.TrimSpace(text[at[0]:])
	if anyText && !introducing.MatchString(said) && !finality.MatchString(lastSentence(said)) {
		return false
	}
	return len(said) < longestRemark && corrects(said) && !presentsAnother(said) && (finality.MatchString(said) || len(wordsOf(said)) > 2)
}

// lineOfCorrection finds where a line may begin a correction.
var lineOfCorrection = regexp.MustCompile("(?im)^(?:" + strings.TrimPrefix(retracts.String(), "(?i)^") + ")")

package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// What is said behind an answer is one of three: the answer once more, a courtesy
// or an explanation, or another answer. Only the last matters, but what cannot be
// told from it counts as it.

// longestRemark is how much of a remark is looked at, in bytes.
const longestRemark = 20_000

// stand reports why values do not stand, seeing what is said beside them.
func (r reply) stand(values signature.Values, behind string) error {
	if blank(behind) {
		return nil
	}
	if len(behind) > longestRemark {
		return structural("", "too much is said behind the answer; end with the answer")
	}
	rest, err := r.contradicted(values, commentSign.ReplaceAllString(behind, ""))
	if err != nil {
		return err
	}
	if r.takesBack(values, rest) {
		return structural("", "behind the answer the reply says %q, which may take the answer back; end with the answer", excerpt(rest))
	}
	return nil
}

// commentSign begins a comment behind an object, which is a remark as any other.
var commentSign = regexp.MustCompile(`^[ \t]*//[ \t]*`)

// excerpt is how a text begins, on one line.
func excerpt(text string) string {
	const most = 60
	words := strings.Join(strings.Fields(text), " ")
	if runes := []rune(words); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return words
}

// contradicted looks for other values beside those that were read, and returns
// what is said without those that are the same.
func (r reply) contradicted(values signature.Values, beside string) (rest string, err error) {
	var kept []string
	for line := range strings.SplitSeq(beside, "\n") {
		f, text, ok := r.label(line)
		if !ok {
			kept = append(kept, line)
			continue
		}
		value, given := values.Get(f.Name)
		if !given && courtesies.MatchString(text) && courtesy(text) == "" {
			continue
		}
		if again, err := readValue(f, looseText(text)); err != nil || !equalJSON(again, value) {
			return "", givenTwice(f.Name)
		}
	}
	found, prose, behind, err := objectsIn(strings.Join(kept, "\n"))
	if err != nil {
		return "", err
	}
	for _, o := range found {
		if again, err := r.respell(r.unwrapped(o)); err == nil && equalValues(again, values) {
			continue
		}
		for _, v := range o.Values {
			f, known := fieldNamed(r.outputs, v.Name)
			if value, _ := values.Get(f.Name); known && !equalJSON(v.JSON, value) {
				return "", givenTwice(f.Name)
			}
		}
	}
	if len(found) > 0 && (introduces(strings.Trim(prose, "`jsonJSON \n")) || blank(strings.Trim(prose, "`jsonJSON \n"))) {
		prose = ""
	}
	return prose + behind, nil
}

func looseText(text string) given { return given{text: text, loose: true} }

// courtesies are lines that end many replies and say nothing, as long as no
// second thought is in them.
var courtesies = regexp.MustCompile(`(?im)^[ \t]*(?:(?:note|p\.?s\.?): )?(?:please (?:let me know|feel free)|(?:let me know|tell me) (?:if|when|whether|should)|let me know|feel free|(?:i )?hope (?:this|that|it) helps|is there anything else|anything else|if you (?:need|have|want|would) (?:any|more|further|other|me|like)|would you like|i(?:'m| am) happy to|happy to|have a (?:nice|great|good)|\(?(?:word|character|token) count: \d+\)?$|(?:thanks?(?: you)?|bye|done|good luck|enjoy)[.!]*$)(?:\W.*)?$`)

var secondThought = regexp.MustCompile(`(?i)\b(?:wait|actually|wrong|mistake|sorry|correction|instead|correct|answer is)\b`)

// courtesy is what is left of such a line: nothing, if it says nothing.
func courtesy(line string) string {
	if secondThought.MatchString(line) {
		return line
	}
	return ""
}

// takesBack reports whether a text behind an answer may take it back.
func (r reply) takesBack(values signature.Values, behind string) bool {
	if inner, ok := strings.CutPrefix(strings.TrimSpace(behind), "("); ok {
		behind = strings.TrimSuffix(inner, ")")
	}
	rest := courtesies.ReplaceAllStringFunc(behind, courtesy)
	denied := false
	rest = lacks.ReplaceAllStringFunc(rest, func(sentence string) string {
		denied = denied || namesAnyGiven(values, sentence) || r.isOneTruth(values) && beginsWithNo.MatchString(sentence)
		return unlessDoubtful(sentence)
	})
	rest = strings.TrimFunc(rest, func(c rune) bool { return strings.ContainsRune("`~*_-# \t\r\n", c) || isPictogram(c) })
	if rest == "" || denied {
		return denied
	}
	words := wordsOf(patient.ReplaceAllString(rest, ""))
	if len(words) < 4 && !r.truncated || refutes.MatchString(rest) || alternative.MatchString(rest) || unfinished.MatchString(rest) ||
		slices.ContainsFunc(remarksIn(rest), func(sentence string) bool { return r.withdraws(values, sentence) }) {
		return true
	}
	return r.opposes(values, rest)
}

// isOneTruth reports whether an answer is nothing but a yes, to which what was not found
// may matter.
func (r reply) isOneTruth(values signature.Values) bool {
	_, only := r.only()
	return only && len(values) == 1 && string(values[0].JSON) == "true"
}

// alternative finds what begins with another answer, or against it: or is it Rome?
var alternative = regexp.MustCompile(`(?i)^(?://|#|/\*|\()?\s*(?:or|but|that said|having said that|on the other hand|then again)\b`)

// unfinished finds remarks that not all was seen from which the answer comes.
var unfinished = regexp.MustCompile(`(?i)\b(?:is|was|are|were|been|be|only|seems?|an?) (?:truncated|incomplete|cut off|illegible|unreadable|partial)\b`)

// patient finds where to wait is no second thought: it can wait.
var patient = regexp.MustCompile(`(?i)\b(?:can|to|will|may|must) wait\b`)

// refutes finds sentences that begin with a no. That there is no such thing, as in
// No email is given, takes nothing back.
var refutes = regexp.MustCompile(`(?im)(?:^|[.!?:;]\s)[^\pL\d\n]*(?:(?:not|sorry)\b|no(?:\s*[^\s\pL]|\s*$|\s+(?:it|that|this|the|i|you|we|they|one|way)\b))`)

// lacks finds sentences that say of something that the text does not have it.
var lacks = regexp.MustCompile(`(?i)[^.!?;\n]*\b(?:no|not|\w+n['’]t|without|omitted|left)\b[^.!?;:\n]*\b(?:given|mentioned|stated|provided|specified|included|listed|available|found|find|present|omitted|left (?:it |that |them )?out|out)\b[^.!?;:\n]*[.!]?`)

// unlessDoubtful returns a sentence that may give another value, else nothing.
func unlessDoubtful(sentence string) string {
	if slices.ContainsFunc(wordsOf(sentence), func(w string) bool { return corrections[w] || isNumeral(w) }) {
		return sentence
	}
	return ""
}

// namesAnyGiven reports whether a sentence, which says that something is lacking,
// speaks of what is given.
func namesAnyGiven(values signature.Values, sentence string) bool {
	return slices.ContainsFunc(wordsOf(sentence), func(w string) bool { return namesGiven(values, w) })
}

// namesGiven reports whether a word is the name of a value, or of a member of one.
func namesGiven(values signature.Values, word string) bool {
	return slices.ContainsFunc(values, func(v signature.Value) bool {
		var members signature.Values
		return sameName(v.Name, word) || json.Unmarshal(v.JSON, &members) == nil && namesGiven(members, word)
	})
}

// sentenceEnd is where a sentence ends, but not the whole of 0.15.
var sentenceEnd = regexp.MustCompile(`[.!](?:\s|$)|\n`)

// clauseEnd is where a clause that gives a value may end, with what joins it to the
// next.
var clauseEnd = regexp.MustCompile(`(?:[.!;:,](?:\s+|$)|\n)(?:(?i:so|thus|hence|therefore|and|then|overall)[ ,]+)*`)

// reasoned reports whether the reasons for an answer, which are an output themselves,
// end with another value than the one that is given behind them.
func (r reply) reasoned(values signature.Values) error {
	for i, v := range values {
		if !reasons[strings.ToLower(v.Name)] || v.JSON[0] != '"' || i == len(values)-1 {
			continue
		}
		if err := r.foretold(values[i+1:], lastSentence(PlainText(v.JSON))); err != nil {
			return err
		}
	}
	return nil
}

func lastSentence(text string) string {
	text = strings.TrimRight(text, ".! \n")
	text = text[max(0, len(text)-500):]
	if all := sentenceEnd.FindAllStringIndex(text, -1); len(all) > 0 {
		return text[all[len(all)-1][1]:]
	}
	return text
}

// foretold reports whether prose before an answer comes to another value of a field
// that one word says: so the ratio is 0.15. Of several, the last counts.
func (r reply) foretold(values signature.Values, prose string) error {
	if blank(prose) || len(prose) > longestRemark {
		return nil
	}
	for _, v := range values {
		f, _ := fieldNamed(r.outputs, v.Name)
		if s := shapeOf(f); !s.scalar() {
			if s.text && s.constants == nil && namedOtherwise(f.Name, PlainText(v.JSON), lastSentence(prose)) {
				return structural(f.Name, "is said to be another before the answer than in it; say which")
			}
		} else if last := s.lastIn(prose); last != nil && !equalJSON(last, v.JSON) {
			return structural(f.Name, "is said to be %s before the answer, and something else in it; say which", last)
		} else if last == nil && s.boolean && s.denied(PlainText(v.JSON), prose) {
			return structural(f.Name, "is said before the answer to be the contrary of what is in it; say which")
		}
	}
	return nil
}

// namedOtherwise reports whether a sentence says of a field that it is another name than
// the one that is given, of which neither is a part of the other.
func namedOtherwise(field, value, sentence string) bool {
	said := Undecorated(unframed(field, strings.TrimSpace(sentence)))
	if said == sentence || !properName.MatchString(said) || !properName.MatchString(value) {
		return false
	}
	return !holdsWords(said, value) && !holdsWords(value, said)
}

var properName = regexp.MustCompile(`^\p{Lu}[\pL\pN.&'’-]*(?: (?:of|the|de|von|van|and|&|\p{Lu}[\pL\pN.&'’-]*)){0,5}$`)

// lastIn is the last value that prose gives. A name with a colon is a label, or the
// end of a clause that goes on.
func (s shape) lastIn(prose string) json.RawMessage {
	if day := s.dayIn(prose); day != nil {
		return day
	}
	if last := s.lastSaid(s.clauses(prose)); last != nil || !valueLabel.MatchString(prose) {
		return last
	}
	return s.lastSaid(clauseEnd.Split(prose, -1))
}

// dayIn is the last day that prose gives behind the name of a field: it was signed on
// 2024-03-06.
func (s shape) dayIn(prose string) json.RawMessage {
	if s.format != date {
		return nil
	}
	named := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(spaced.Replace(s.name)) + `\b[^.;,\n\d]{0,20}(\d{4}-\d\d-\d\d)\b`)
	if all := named.FindAllStringSubmatch(prose, -1); len(all) > 0 {
		return Quote(all[len(all)-1][1])
	}
	return nil
}

// clauses are those of prose. A label says what something is.
func (s shape) clauses(prose string) []string {
	prose = valueLabel.ReplaceAllStringFunc(prose, func(label string) string {
		name := strings.Trim(label, "*_: ")
		if sums[strings.ToLower(name)] || sameName(name, s.name) {
			return name + " is "
		}
		return label
	})
	return clauseEnd.Split(prose, -1)
}

var valueLabel = regexp.MustCompile(`(?m)[*_]*\b\w+[*_]*:[*_]* `)

var sums = wordSet("total sum count answer result")

// denied reports whether prose is nothing but another yes or no, or ends with a sentence
// that says the contrary of a value.
func (s shape) denied(value, prose string) bool {
	word := strings.ToLower(strings.Trim(prose, " \t\n*_.!"))
	if truth[word] != "" {
		return truth[word] != value
	}
	last := lastSentence(prose)
	if strings.ContainsAny(last, "?:\"") {
		return false
	}
	_, agrees := s.agreeing(value, last)
	return !agrees
}

// totalSaid finds clauses that say what a count comes to: the total is 1304 visitors.
var totalSaid = regexp.MustCompile(`(?i)^(?:the |my |our )?(?:grand |overall )?(?:total|sum|count|result|answer)[*_]*(?: number)?(?: of [\pL ]+)? (?:is|was|comes to|=) [*_]*(\d[^*_\n]*)[*_]*$`)

// demanded is how reasons say what an answer has to be.
var demanded = regexp.MustCompile(` (?:must|should|has to|needs to) be `)

// lastSaid is the last value that clauses give: the ratio is 0.15, it is not spam.
func (s shape) lastSaid(clauses []string) (value json.RawMessage) {
	var counted []json.RawMessage // maybe of parts
	for _, clause := range clauses {
		clause = demanded.ReplaceAllString(strings.Trim(clause, " \t*`"), " is ")
		if said := unframed(s.name, clause); said != clause {
			if v := s.exact(strings.TrimRight(said, ".")); v != nil {
				value = v
			}
		} else if m := totalSaid.FindStringSubmatch(clause); m != nil && s.number() {
			if v := s.exact(m[1]); v != nil {
				value = v
			}
		} else if v := s.verdict(clause); v != nil {
			value = v
		} else if v := s.stated(clause); v != nil && s.integer {
			counted = append(counted, v)
		}
	}
	if value == nil && len(counted) == 1 {
		return counted[0]
	}
	return value
}

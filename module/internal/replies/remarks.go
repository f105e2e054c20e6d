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
	rest, err := r.contradicted(values, behind)
	if err != nil {
		return err
	}
	if r.takesBack(values, rest) {
		return structural("", "what is said behind the answer may take it back; end with the answer")
	}
	return nil
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
var courtesies = regexp.MustCompile(`(?im)^[ \t]*(?:(?:note|p\.?s\.?): )?(?:please (?:let me know|feel free)|let me know|feel free|(?:i )?hope (?:this|that|it) helps|is there anything else|anything else|if you (?:need|have|want|would) (?:any|more|further|other|me|like)|would you like|i(?:'m| am) happy to|happy to|have a (?:nice|great|good)|(?:thanks?(?: you)?|bye|done|good luck|enjoy)[.!]*$)(?:\W.*)?$`)

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
	rest := courtesies.ReplaceAllStringFunc(behind, courtesy)
	denied := false
	rest = lacks.ReplaceAllStringFunc(rest, func(sentence string) string {
		denied = denied || namesAnyGiven(values, sentence)
		return unlessDoubtful(sentence)
	})
	rest = strings.TrimFunc(rest, func(c rune) bool { return strings.ContainsRune("`*_-# \t\r\n", c) || isPictogram(c) })
	if rest == "" || denied {
		return denied
	}
	words := wordsOf(patient.ReplaceAllString(rest, ""))
	if len(words) < 4 && !r.truncated || refutes.MatchString(rest) ||
		slices.ContainsFunc(words, func(w string) bool { return corrections[w] || contracted(w) }) {
		return true
	}
	return r.opposes(values, rest)
}

// patient finds where to wait is no second thought: it can wait.
var patient = regexp.MustCompile(`(?i)\b(?:can|to|will|may|must) wait\b`)

// opposes reports whether a text gives another value for a field.
func (r reply) opposes(values signature.Values, text string) bool {
	words := wordsOf(text)
	for _, f := range r.outputs {
		value, given := values.Get(f.Name)
		if !given {
			continue
		}
		s := shapeOf(f)
		if s.boolean {
			if _, agrees := s.agreeing(PlainText(value), text); !agrees {
				return true
			}
		}
		if rivals(s, PlainText(value), words) && !s.weighed(PlainText(value), "\n\n"+text, words) || restates(f, value, text) {
			return true
		}
	}
	return false
}

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

// restates reports whether a sentence gives a field another value: The answer
// is Rome.
func restates(f signature.Field, value json.RawMessage, text string) bool {
	for _, sentence := range sentenceEnd.Split(text, -1) {
		sentence = strings.TrimSpace(sentence)
		said := unframed(f.Name, sentence)
		if sentence == "" || said == sentence {
			continue
		}
		if again, err := readValue(f, given{text: said, loose: true}); err == nil && !equalJSON(again, value) {
			return true
		}
	}
	return false
}

// sentenceEnd is where a sentence ends, but not the whole of 0.15.
var sentenceEnd = regexp.MustCompile(`[.!](?:\s|$)|\n`)

// clauseEnd is where a clause that gives a value may end, with what joins it to the
// next.
var clauseEnd = regexp.MustCompile(`(?:[.!;:,](?:\s+|$)|\n)(?:(?i:so|thus|hence|therefore|and|then|overall)[ ,]+)*`)

// foretold reports whether prose before an answer comes to another value of a field
// that one word says: so the ratio is 0.15. Of several, the last counts.
func (r reply) foretold(values signature.Values, prose string) error {
	if blank(prose) || len(prose) > longestRemark {
		return nil
	}
	clauses := clauseEnd.Split(prose, -1)
	for _, v := range values {
		f, _ := fieldNamed(r.outputs, v.Name)
		if s := shapeOf(f); !s.scalar() {
			continue
		} else if last := s.lastSaid(clauses); last != nil && !equalJSON(last, v.JSON) {
			return structural(f.Name, "is said to be %s before its marker, and something else under it; say which", last)
		}
	}
	return nil
}

// lastSaid is the last value that clauses give: the ratio is 0.15, it is not spam.
func (s shape) lastSaid(clauses []string) (value json.RawMessage) {
	for _, clause := range clauses {
		clause = strings.Trim(clause, " \t*`")
		if said := unframed(s.name, clause); said != clause {
			if v := s.exact(strings.TrimRight(said, ".")); v != nil {
				value = v
			}
		} else if v := s.verdict(clause); v != nil {
			value = v
		}
	}
	return value
}

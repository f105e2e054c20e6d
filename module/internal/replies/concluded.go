package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// A reply may reason first and come to its value in the end, or pronounce it in a sentence.

var conclusion = regexp.MustCompile(`(?is)^(.{8,}?)(?:[,;.]|\s[–—-]) (?:so|hence|thus|therefore)(?: the (?:answer|result|value|verdict) is)?[:,]? ([^\n]{1,60})$`)

// concluded reads a value behind the reason for it: the writer is neither happy nor sad,
// so: neutral.
func (s shape) concluded(text string) json.RawMessage {
	m := conclusion.FindStringSubmatch(text)
	if m == nil || !s.scalar() || s.lasts() || len(text) > 600 {
		return nil
	}
	value := s.exact(m[2])
	reason := s.withoutDenied("", m[1])
	if value == nil || s.withoutDenied(PlainText(value), m[1]) != reason {
		return nil
	}
	before := excluded.ReplaceAllStringFunc(reason, func(clause string) string {
		if words := wordsOf(clause); slices.Contains(words, strings.ToLower(PlainText(value))) {
			return clause
		}
		return ""
	})
	if refutes.MatchString(m[1]) || !s.reasonFor(before) || s.namesOther(PlainText(value), before) {
		return nil
	}
	return value
}

// excluded finds what says of some values that they are none.
var excluded = regexp.MustCompile(`(?i)\bneither \S+ nor [^\s,.;]+|\b(?:is|are|was)(?:n['’]t| not) [^\s,.;]+`)

// pronounced finds the value that a sentence pronounces, with what is around it.
var pronounced = regexp.MustCompile("(?is)^(.*?\\b(?:is|as|be|(?:call|rate|label|judge|consider|deem) (?:it|this))) (?:an? )?([*\"`“]*[\\w -]{2,30}?[*\"`”]*)((?:[.,;:!]|\\s+[(–—-]|\\s+(?:because|since|as|due)\\b).*)?$")

// pronounces reads a sentence about a field, and the reason for what it says: based on
// the report, the severity is **critical**, because …
func (s shape) pronounces(text string) json.RawMessage {
	said := s.withoutDenied("", text)
	m := pronounced.FindStringSubmatch(strings.TrimSpace(said))
	if m == nil || len(said) > 1500 || s.constants == nil && !s.boolean || s.number() {
		return nil
	}
	value := s.exact(strings.Trim(m[2], "\"`“”"))
	if value == nil || !s.isSubject(m[1]) || strings.Contains(m[1], "\n") || refutes.MatchString(said) {
		return nil
	}
	before, own := withoutOwn(m[1]), PlainText(value)
	if s.withoutDenied(own, text) != said {
		return nil
	}
	if words := wordsOf(before); slices.ContainsFunc(words, func(w string) bool {
		return reported[w] || opens[w] || waverings[w] || s.isConstant(w) || truth[w] != ""
	}) ||
		!s.reasonFor(before+" "+m[3]) || s.namesOther(own, before+" "+m[3]) {
		return nil
	}
	return value
}

// withoutDenied is a text without what it says of other values that they are none: this is
// not an error and not a warning.
func (s shape) withoutDenied(value, text string) string {
	return deniedValue.ReplaceAllStringFunc(text, func(clause string) string {
		words := wordsOf(clause)
		if last := words[len(words)-1]; !s.isConstant(last) || strings.EqualFold(last, value) {
			return clause
		}
		return ""
	})
}

var deniedValue = regexp.MustCompile(`(?i)\b(?:(?:this|it) )?(?:(?:is|was) )?(?:neither|nor|(?:and |or )?(?:not|no))(?: an?)? [\w-]+[.,;]?`)

// isSubject reports whether a clause that leads to a value is about the field, or about
// what was to be judged.
func (s shape) isSubject(lead string) bool {
	clause := lead[strings.LastIndexAny(lead, ",.;")+1:]
	return len(wordsOf(clause)) <= 9 && (ofField(s.name, clause) || judgedThing.MatchString(strings.TrimSpace(clause)))
}

var judgedThing = regexp.MustCompile(`(?i)^(?:i(?:['’]d| would)? \pL+ )?(?:it|this|this \pL+|the (?:text|message|mail|e-?mail|letter|passage|review|article|document|report|ticket))(?: is| as| to be)?$`)

// opens are words of sentences that leave open what they name.
var opens = wordSet("whether question say feel feels call calls calling wonder asked unclear")

// ownJudgement is how a model says that a judgement is its own.
var ownJudgement = regexp.MustCompile(`(?i)\bI (?:would|['’]d)? ?(?:rate|classify|categori[sz]e|label|assess|judge|mark|call)\b|\bI['’]d (?:rate|classify|categori[sz]e|label|assess|judge|mark|call)\b`)

func withoutOwn(text string) string { return ownJudgement.ReplaceAllString(text, "") }

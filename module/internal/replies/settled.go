package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// A model may give a value, take it back, and say in the end which is the final one.
// Nobody takes another than that, if it is said as clearly.

// lastWord finds a last clause that says which value is the final one: the correct count
// is 42, actually 42, make that a 4.
var lastWord = regexp.MustCompile("(?is)^(.*(?:[.!,;\\n—–]|\\s-\\s)\\s*)(?:so |thus |hence )?(?:(?:the |my )?(?:final|correct|corrected) (\\pL+)(?: is(?: now)?|:)|(?:it['’]s |it is |so )?actually,?(?: it['’]s| it is| an?)?|(?:so )?make (?:that|it)(?: an?)?|(?:so )?it(?: should| must)(?: rather)? be|(?:so |then )?(?:it['’]s|it is)) [*\"`]*([^\\s*\"`]+?)[*\"`]*(?: (?:instead|then|after all))?[.!]?\\s*$")

// takenBack finds what takes back the value before it, as the one does who gave it.
var takenBack = regexp.MustCompile(`(?i)^[\s.!,—–-]*(?:(?:no|hmm+|ah|oh),? )?(?:(?:wait|hold on|actually|correction|sorry|oops|scratch that)\b|no\b[,.:!])`)

var (
	finals   = regexp.MustCompile(`(?i)\b(?:final|correct|corrected) \pL+(?: is\b|:)|\b(?:actually,?|make (?:that|it)|it (?:should|must) be)(?: an?)? [*"]*\d`)
	ownWords = wordSet("i i've i’ve my")
)

// settled reads a value that is taken back for another.
func (s shape) settled(text string) json.RawMessage {
	if !s.scalar() || s.lasts() || len(text) > 2000 {
		return nil
	}
	m := lastWord.FindStringSubmatch(text)
	if m == nil || m[2] != "" && !settles[strings.ToLower(m[2])] && !strings.EqualFold(m[2], s.name) {
		return nil
	}
	first, between := firstSaid(m[1])
	said := wordsOf(between + text[len(m[1]):])
	own := m[2] == "" || slices.ContainsFunc(said, func(w string) bool { return ownWords[w] }) || strings.HasPrefix(strings.ToLower(text[len(m[1]):]), "final ")
	if s.exact(first) == nil || !own || !takenBack.MatchString(between) || unsettled(between) || len(finals.FindAllString(text, 2)) > 1 || m[2] == "" && rivals(s, "no value", wordsOf(between)) {
		return nil
	}
	return s.exact(m[3])
}

// firstSaid cuts a text where its first clause ends: at a dash, a line, or a stop that
// is not within a number.
func firstSaid(text string) (first, rest string) {
	at := clauseStop.FindStringIndex(text)
	if at == nil {
		return text, ""
	}
	return text[:at[0]], text[at[0]:]
}

var clauseStop = regexp.MustCompile(`[.!]+(?:\s|$)|,\s|\s-\s|[\n—–]`)

// settles are names of what is given in the end.
var settles = wordSet("answer value result count number total sum score rating certainty confidence mood verdict choice decision")

// unsettled reports whether second thoughts go on: by a doubt, or by what another
// says.
func unsettled(between string) bool {
	return strings.ContainsAny(between, "?\"“”") || unsure.MatchString(between) ||
		slices.ContainsFunc(wordsOf(between), func(w string) bool { return hedges[w] && w != "really" || waverings[w] })
}

var waverings = wordSet("maybe perhaps may might could would should if says said claims claimed according they he she example suppose still stands torn undecided hesitate doubt")

package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// A model may give a value, take it back, and say in the end which is the final one.
// Nobody takes another than that, if it is said as clearly.

// lastWord finds a last sentence that says which value is the final one.
var lastWord = regexp.MustCompile("(?is)^(.*[.!\\n—–]\\s*)(?:so |thus |hence )?(?:the |my )?(?:final|correct|corrected) (\\pL+)(?: is(?: now)?|:) [*\"`]*([^\\s*\"`]+?)[*\"`]*\\.?\\s*$")

// takenBack finds what takes back the value before it, as the one does who gave it.
var takenBack = regexp.MustCompile(`(?i)^[\s.!—–]*(?:no,? |hmm,? )?(?:wait|actually|correction|sorry|oops)\b`)

var finals, ownWords = regexp.MustCompile(`(?i)\b(?:final|correct|corrected) \pL+(?: is\b|:)`), wordSet("i i've i’ve my")

// settled reads a value that is taken back for another.
func (s shape) settled(text string) json.RawMessage {
	if !s.scalar() || len(text) > 2000 {
		return nil
	}
	m := lastWord.FindStringSubmatch(text)
	if m == nil || !settles[strings.ToLower(m[2])] && !strings.EqualFold(m[2], s.name) {
		return nil
	}
	at := strings.IndexAny(m[1], ".\n—–")
	for at > 0 && at+1 < len(m[1]) && m[1][at] == '.' && m[1][at+1] != ' ' && m[1][at+1] != '\n' {
		next := strings.IndexAny(m[1][at+1:], ".\n—–")
		if next < 0 {
			return nil
		}
		at += 1 + next
	}
	first, between := m[1][:at], m[1][at:]
	said := wordsOf(between + text[len(m[1]):])
	own := slices.ContainsFunc(said, func(w string) bool { return ownWords[w] }) || strings.HasPrefix(strings.ToLower(text[len(m[1]):]), "final ")
	if s.exact(first) == nil || !own || !takenBack.MatchString(between) || unsettled(between) || len(finals.FindAllString(text, 2)) > 1 {
		return nil
	}
	return s.exact(m[3])
}

// settles are names of what is given in the end.
var settles = wordSet("answer value result count number total sum score rating certainty confidence mood verdict choice decision")

// unsettled reports whether second thoughts go on: by a doubt, or by what another
// says.
func unsettled(between string) bool {
	return strings.ContainsAny(between, "?\"“”") || unsure.MatchString(between) ||
		slices.ContainsFunc(wordsOf(between), func(w string) bool { return hedges[w] && w != "really" || waverings[w] })
}

var waverings = wordSet("maybe perhaps may might could would should if says said claims claimed according they he she example suppose still stands torn undecided hesitate doubt")

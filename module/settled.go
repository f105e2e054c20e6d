package module

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

// takenBack finds what takes back the value before it.
var takenBack = regexp.MustCompile(`(?i)\b(?:wait|actually|correction|misread|miscounted|missed|mistake|mistaken|wrong|sorry|oops)\b`)

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
	if s.exact(first) == nil || !takenBack.MatchString(between) || unsettled(between) {
		return nil
	}
	return s.exact(m[3])
}

// settles are names of what is given in the end.
var settles = wordSet("answer value result count number total sum score rating certainty confidence mood verdict choice decision")

// unsettled reports whether second thoughts go on: by a doubt, or by what another
// says.
func unsettled(between string) bool {
	return strings.ContainsAny(between, "?\"“”") || unsure.MatchString(between) || lastWord.MatchString(between) ||
		slices.ContainsFunc(wordsOf(between), func(w string) bool { return hedges[w] && w != "really" || waverings[w] })
}

var waverings = wordSet("maybe perhaps might could would should if then says said claims answer's according they he she example suppose still stands")

package replies

import (
	"regexp"
	"strings"
)

var (
	thinkStart = regexp.MustCompile(`(?i)<(?:think|thinking|thoughts?|scratchpad)>`)
	thinkEnd   = regexp.MustCompile(`(?i)</(?:think|thinking|thoughts?|scratchpad)>`)
)

// withoutThoughts drops the thoughts before the answer, drafts included, and
// those whose beginning was part of the prompt. Tags after the first marker, or
// within a line, belong to a value.
func withoutThoughts(text string) (string, error) {
	if !strings.Contains(text, "<") {
		return text, nil
	}
	starts, ends := thinkStart.FindAllStringIndex(text, -1), thinkEnd.FindAllStringIndex(text, -1)
	if len(starts)+len(ends) == 0 {
		return text, nil
	}
	var kept strings.Builder
	at := 0
	for {
		starts = after(starts, at)
		for len(starts) > 0 && !alone(text[at:starts[0][0]]) {
			starts = starts[1:]
		}
		stop := len(text)
		if len(starts) > 0 {
			stop = starts[0][0]
		}
		if lone := lastLone(text, after(ends, at), stop); lone > 0 {
			kept.Reset()
			at = lone
		}
		head := text[at:stop]
		if len(starts) == 0 || HasMarker(head) {
			return kept.String() + text[at:], nil
		}
		kept.WriteString(head)
		if ends = after(ends, stop); len(ends) == 0 {
			return "", structural("", "the reply ends before its thoughts do; close them and answer")
		}
		at = ends[0][1]
	}
}

// after drops the tags that begin before a place.
func after(tags [][]int, at int) [][]int {
	for len(tags) > 0 && tags[0][0] < at {
		tags = tags[1:]
	}
	return tags
}

// alone reports whether a tag behind this text has its line for itself so far.
func alone(before string) bool {
	before = strings.TrimRight(before, " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// lastLone returns the place behind the last end of thoughts before stop that
// ends its line, and behind that line; 0 if there is none.
func lastLone(text string, ends [][]int, stop int) int {
	lone := 0
	for _, e := range ends {
		if e[1] > stop {
			break
		}
		rest := strings.TrimLeft(text[e[1]:stop], " \t")
		if rest == "" || rest[0] == '\n' {
			lone = min(stop, stop-len(rest)+1)
		}
	}
	return lone
}

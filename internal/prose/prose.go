// Package prose splits and shortens tool and schema descriptions.
package prose

import (
	"regexp"
	"strings"
	"unicode"
)

const (
	maxSummary  = 160 // bytes of a summary, unless its first sentence is longer
	maxSentence = 400 // bytes of the first sentence
)

// Sentences splits a description into sentences, list items and separate lines.
func Sentences(description string) []string {
	var all []string
	for _, paragraph := range paragraphs(description) {
		from := 0
		for _, end := range sentences(paragraph) {
			if sentence := strings.TrimSpace(paragraph[from:end]); sentence != "" {
				all = append(all, sentence)
			}
			from = end
		}
	}
	return all
}

var (
	item     = regexp.MustCompile(`^([-*•#>|]|\d+[.:)])`)
	terminal = regexp.MustCompile(`[.!?:;。！？]["')\]]*$`)
)

const shortLine = 60 // bytes; the author ended a shorter line on purpose, not because of its length

// paragraphs splits text into lines and list items. It joins lines that were broken only to limit their length.
func paragraphs(text string) []string {
	var all []string
	open := false // the next line may belong to the last one
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		own := line == "" || item.MatchString(line) || !unicode.IsLower([]rune(line)[0])
		switch {
		case line == "":
		case open && !own, open && len(all[len(all)-1]) > shortLine && !item.MatchString(line):
			all[len(all)-1] += " " + line
		default:
			all = append(all, line)
		}
		open = line != "" && !terminal.MatchString(line)
	}
	return all
}

var formatWords = regexp.MustCompile("(?i)\\b(" +
	"ISO|RFC|UTC|UUID|YYYY|glob|regex|regexp|pattern|wildcard|format|formatted|syntax|encoded|base64|" +
	"e\\.g|i\\.e|for example|such as|like|must|cannot|required|mandatory|absolute|relative|units?|bytes|" +
	"(milli)?seconds|minutes|hours|days|pixels|percent|timestamp|epoch|separated|indexed|0-based|1-based|" +
	"inclusive|exclusive|prefix|suffix|starts?|escaped?|one of|possible values|allowed|accepted|" +
	"supported|options|max(imum)?|min(imum)?" +
	")\\b|https?://|[\"'`\u201c](\\S{1,30})[\"'`\u201d]")

// MentionsFormat reports whether a sentence seems to describe the form of a value: its
// format, its unit, its limits or an example.
func MentionsFormat(sentence string) bool {
	heading := strings.HasSuffix(strings.TrimRight(sentence, "*_ "), ":")
	return !heading && strings.Contains(sentence, " ") && formatWords.MatchString(sentence)
}

var sentenceEnd = regexp.MustCompile(`[.!?]["')\]]* |[。！？]["')\]」』）]* ?`)

// Summary returns the first sentences of text, which must not contain line breaks. It cuts
// only after a sentence, since half a sentence about a format is misleading.
func Summary(text string) string {
	if len(text) <= maxSummary {
		return text
	}
	end := 0
	for _, next := range sentences(text) {
		if end > 0 && next > maxSummary {
			break
		}
		end = next
	}
	if end <= maxSentence {
		return text[:end]
	}
	return cutAtWord(text, maxSentence)
}

// sentences returns the position at which each sentence in text ends.
func sentences(text string) []int {
	var ends []int
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		if !abbreviated(text[:at[0]], text[at[1]:]) {
			ends = append(ends, at[0]+len(strings.TrimRight(text[at[0]:at[1]], " ")))
		}
	}
	return append(ends, len(text))
}

// abbreviated reports whether the period between before and after ends an abbreviation,
// not a sentence.
func abbreviated(before, after string) bool {
	for _, short := range []string{"e.g", "i.e", "etc", "vs", "cf", "approx", "incl"} {
		if strings.HasSuffix(before, short) {
			return true
		}
	}
	return after != "" && unicode.IsLower([]rune(after)[0])
}

func cutAtWord(text string, limit int) string {
	cut := strings.ToValidUTF8(text[:limit-len("…")], "")
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

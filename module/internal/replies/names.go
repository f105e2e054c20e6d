package replies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// Some fields hold the name of one thing. What is no name, or two, is not read as one.

// naming are words for such fields.
var naming = wordSet(`city town village country capital state region name first_name last_name surname firstname lastname person author company
	brand vendor supplier customer client patient guest sender recipient buyer seller party street airline airport currency colour color
	language manager owner director organisation organization department university school employer author artist hotel restaurant`)

func holdsName(f signature.Field) bool { return naming[nounOf(f.Name)] }

// nounOf is the last word of the name of a field, in small letters.
func nounOf(name string) string {
	return strings.ToLower(name[strings.LastIndexAny(name, "_- ")+1:])
}

// isBrief reports whether a field holds a name or a title, around which marks are
// decoration.
func isBrief(f signature.Field) bool { return holdsName(f) || titled[strings.ToLower(f.Name)] }

// nameIn is the name that a text gives: alone, in a sentence that says it of the field, or
// decorated. It returns a reason if the text is none.
func nameIn(f signature.Field, text string) (name, reason string) {
	if said := unframed(f.Name, text); said != text && properName.MatchString(strings.TrimSuffix(said, ".")) {
		return strings.TrimSuffix(said, "."), ""
	}
	words := wordsOf(text)
	switch {
	case len(text) > 200:
		return text, ""
	case sameName(f.Name, text), notThere.MatchString(text), len(text) < 10 && noName[strings.ToLower(strings.Trim(text, "."))]:
		return "", "is said not to be known; leave no placeholder for it"
	case strings.ContainsAny(text, "?？"), slices.ContainsFunc(words, func(w string) bool { return undecidedName[w] }), eitherName.MatchString(text):
		return "", "is given as a choice, or with a doubt; decide on one"
	case strings.HasSuffix(text, "。"), strings.HasSuffix(text, ".") && len(words) > 3 && sentenceWord.MatchString(text):
		return "", "is given as a sentence; write the name alone"
	}
	return text, ""
}

// noName is written where a name is not known.
var noName = wordSet("n/a na null nil - – — xxx")

// undecidedName are words that leave a name open.
var undecidedName = wordSet("either possibly probably maybe perhaps presumably")

// eitherName finds two names with an or or a stroke between them.
var eitherName = regexp.MustCompile(`(?i:[\s(](?:or|oder|ou) \S)|^\p{Lu}\pL{2,} ?/ ?\p{Lu}\pL{2,}$`)

var sentenceWord = regexp.MustCompile(`(?i)\b(?:is|are|was|were|has|have|had|comes?|came|sent|lives?|lived|mentions?|says|said|does|not)\b`)

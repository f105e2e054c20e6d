package replies

import (
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// A model that changes a program may leave out what it does not change, with a comment in
// its place. Who takes it for the program loses the rest.

// leavesOut reports whether there is a comment in a program that stands for code that is
// not there.
func leavesOut(code string) bool {
	for line := range strings.SplitSeq(code, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && strings.IndexByte("/#-<{*;%", line[0]) >= 0 && len(line) < 200 && abbreviated.MatchString(line) {
			return true
		}
	}
	return false
}

// abbreviated finds such a comment: // ... same as before, # rest of the file unchanged.
var abbreviated = regexp.MustCompile(`(?i)^(?://+|\{?/\*+|#+|--|<!--|\*|;+|%)\s*(?:` + strings.Join([]string{
	`\.{3}|…`,
	`\((?:the )?(?:rest|remaining|same|existing|previous|earlier|unchanged|omitted)\b[^\n]*\)` + commentEnd,
	`(?:unchanged|omitted|snip(?:ped)?|truncated|(?:same )?as (?:before|above)|same as (?:before|above)|no changes?(?: here| needed)?)` + commentEnd,
	`(?:(?:all |and )?the |your |all (?:your |of the )?|any )?(?:rest of (?:the |your |this )?|existing |remaining )` + codeParts + `(?: (?:here|goes here|unchanged|as (?:before|is)|(?:stays?|remains?|is|are) (?:the same|unchanged|as (?:before|is)|omitted)(?: as (?:before|above))?|omitted|above|below))?` + commentEnd,
	`(?:(?:the |all )?(?:other |previous |same |original )?)` + codeParts + ` (?:unchanged|as before|(?:stays?|remains?|is|are) (?:the same|unchanged|as before|omitted)(?: as (?:before|above))?|(?:same )?as (?:before|above)|omitted(?: for brevity)?)` + commentEnd,
	`(?:previous|existing|original|same|other) ` + codeParts + `(?: here| goes here)` + commentEnd,
	`previous (?:code|program|function)` + commentEnd,
	`(?:(?:insert|add|put|write|place|implement|paste) )?(?:your|the) (?:existing |own |actual |original |other )?` + codeParts + ` (?:goes )?here` + commentEnd,
}, "|") + `)`)

const (
	codeParts  = `(?:code|program|functions?|file|class(?:es)?|methods?|imports?|logic|implementation|body|script|query|module|component|handlers?|routes?|tests?|definitions?|setup|content|constructor|fields|props|styles|config(?:uration)?)`
	commentEnd = `[\s.…]*(?:\*/\}?|-->)?\s*$`
)

// entire is a text of a field that has a program, or that stood in a fence, unless a part
// of it is left out.
func entire(f signature.Field, text string, fenced bool) error {
	code := isCode(f)
	switch {
	case (fenced || code) && leavesOut(text):
		return structural(f.Name, "has a comment in it that stands for a part that is left out; write it whole")
	case code && unfilled.MatchString(text):
		return structural(f.Name, "has a placeholder in it; write what belongs there")
	case (code || isBrief(f)) && spoken.MatchString(text):
		return structural(f.Name, "is said to somebody; write the value alone")
	case code && proseBehind.MatchString(text):
		return structural(f.Name, "has an explanation behind it; write the code alone")
	case titled[strings.ToLower(f.Name)] && eitherOr.MatchString(text):
		return structural(f.Name, "gives a choice; decide on one")
	}
	return nil
}

// unfilled finds what is to be replaced in a program: <your_table>, SELECT ... FROM.
var unfilled = regexp.MustCompile(`(?i)<(?:your|my)[ _-]?\w*>|<\w+_(?:name|column|table|id|here)>|\b(?:SELECT|FROM|WHERE|JOIN)\s+(?:\.\.\.|…)`)

// spoken finds a refusal or a question where a program or a name belongs.
var spoken = regexp.MustCompile(`^(?:I(?:['’]m| am) (?:sorry|unable|not able)|I (?:cannot|can['’]t|can not|won['’]t|don['’]t (?:see|have|know)|do not (?:see|have|know)|could not|couldn['’]t|need (?:the|more|to know))|(?:I['’]m )?[Ss]orry, (?:but )?I\b|Unfortunately,? (?:I|there)\b|(?:Could|Can|Would) you (?:please )?(?:tell|give|share|provide|paste|send|show|clarify)|Please (?:provide|share|paste|send|give|tell|specify|clarify))\b`)

// proseBehind finds a paragraph of prose behind a program.
var proseBehind = regexp.MustCompile(`\n\s*(?:Explanation|Notes?|Erklärung|Explication|Explicación): \pL`)

// eitherOr finds a choice of titles.
var eitherOr = regexp.MustCompile(`(?i)^either\b.*\bor\b`)

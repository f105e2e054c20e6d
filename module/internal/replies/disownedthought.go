package replies

import (
	"regexp"
	"slices"
	"strings"
)

// withdrawn reports whether the reasoning of a reply says that its own program, or call, is
// not to be run, or waits for somebody. A reasoning weighs many things, and refuses what a
// page asks for while it does what was asked: only sentences count that are certainly of
// this one, and questions, refusals to "do it" and quotations only where it ends with them.
func withdrawn(reasoning string) bool {
	if text, ok := quotedText(strings.TrimSpace(reasoning)); ok {
		reasoning = text
	}
	if reasoning = ends(reasoning); !mayWithdraw(reasoning) {
		return false
	}
	reasoning = unquotedWords(reasoning)
	return awaited.MatchString(reasoning) || slices.ContainsFunc(refused.FindAllStringIndex(reasoning, -1), func(at []int) bool {
		return !instead.MatchString(reasoning[at[1]:])
	})
}

// mayWithdraw spares most texts the expressions: each of them finds one of these.
func mayWithdraw(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(withdrawals, func(part string) bool { return strings.Contains(text, part) })
}

var withdrawals = []string{
	"not", "n't", "n’t", "never", "refus", "declin", "unable",
	"confirm", "approv", "agree", "consent", "allow", "authori", "your", "let me know", "tell me", "?", "to run", "to execute",
}

// withdrawnBeside reports whether what stands in a reply around its program withdraws it,
// under whatever name.
func withdrawnBeside(text, code string) bool {
	before, behind, found := strings.Cut(text, code)
	return found && (mayWithdraw(ends(before)) || mayWithdraw(ends(behind))) && (withdrawn(opening.ReplaceAllString(ends(before), "")) || withdrawn(behind))
}

// ends is how a long text begins and how it ends, which is where it is withdrawn.
func ends(text string) string {
	if len(text) <= longestTalk {
		return text
	}
	return text[:longestTalk/2] + "\n" + text[len(text)-longestTalk/2:]
}

// opening is what stands between a reasoning and the program.
var opening = regexp.MustCompile("(?:\\s|\\[\\[[^\\]\n]*\\]\\]|```\\w*|</?\\w+>)+$")

const (
	runThis = `(?:be )?(?:(?:run|execut)(?:e|n?ing)? (?:this|that|it|(?:this|that|the|such an?|any such) (?:code|program|script|snippet|(?:tool )?call))|(?:mak|perform|issu)(?:e|ing)? (?:this|that|the|such a) (?:tool )?call)`
	refuse  = `(?:refuse|decline)`
	agree   = `(?:confirm|approve|agree|consent|allow|authori[sz]e)`

	// speaker is who refuses: I, or nobody that is named.
	speaker = `(?:\b(?:I|we)|(?:^|[.!?;:\n])\W*|\b(?:and|so|but))(?:'(?:m|ll|d|re|ve)| (?:am|are|will|would|have to|must|therefore|also|still|do|really|simply|definitely|clearly))* ?`
	// stops is what follows: that it is not run twice, or on Sundays, is no refusal.
	stops = `(?:\s*(?:[.!?;:)–—\n]|$)|,? (?:because|since|as (?:it|this|that|the|I|we)|(?:without|unless|until|before) (?:your?|the user|(?:an? |any |explicit |further |prior |human )*` + leave + `))\b)`
)

// refused finds what is not to be run, and instead what is done in its place.
var (
	refused = anyOf(
		speaker+`(?:won't|will not|must not|mustn't|never|would not|wouldn't|shall not|not going to|`+refuse+` to|not willing to|do not want to|don't want to)(?: \w+ly)? (?:`+runThis+`(?:,|`+stops+`)|do (?:this|it)\W*$)`,
		speaker+refuse+` (?:this|that|the) (?:code|program|script|snippet|(?:tool )?call)`+stops,
		speaker+`(?:cannot|can't|can not|should not|shouldn't|may not|not (?:allowed|permitted|authori[sz]ed|able) to|unable to)(?: \w+ly)? `+runThis+stops,
		`\bthis(?: (?:code|program|script|snippet|(?:tool )?call))? (?:must|should|shall|may|can)(?: not|not|n't) be (?:run|executed|made)`+stops,
		`(?:^|[.!?;:\n])\W*(?:please )?(?:do not|don't|never) `+runThis+stops,
	)
	instead = regexp.MustCompile(`(?i)^[^.!?\n]*\binstead\b|^\W*(?:instead\b|(?:so |but )?(?:I|we) (?:only|just) (?:read|list|count|print|look|extract|fetch|compute|summari[sz]e)\b)`)
)

// awaited finds what waits for somebody, and what is somebody else's.
var awaited = anyOf(
	`(?:^|[.!?;,\n–—])\W*(?:so |then )?please `+agree+`(?:[^.!?\n]* before (?:I|we|this|it)\b|[^.!?\n]* (?:that|if|whether) I (?:may|should|can|shall|could)\b|\W*$)`,
	`\bbefore (?:I|we) [^.!?\n]*\bplease `+agree,
	`\b(?:I|we)(?:'m| am|'ll| will| must| still| first)* (?:need|require|await|awaiting|wait for|waiting for) your (?:\w+ ){0,2}`+leave+`(?: first| before (?:I|this|it)\b[^.!?\n]*)?\s*(?:[.!;\n]|$)`,
	`\b(?:once|until|unless|after|if|as soon as) you(?:'ve| have)? `+agree+`\w*[^.!?\n]*\bI(?:'ll| will| can| may) `+runThis,
	`\b`+runThis+`[^.,!?\n]* (?:once|until|unless|after|when|if|as soon as) you(?:'ve| have)? `+agree,
	`\b(?:let me know|tell me) (?:if|whether|when) (?:I (?:may|should|can|shall|could)|(?:you(?:'d like| would like| want) me )?to) (?:go ahead|proceed|continue|`+runThis+`)`,
	`(?:(?:^|[.!?;:,\n])\W*(?:(?:so|but|and|now) )?(?:should|shall|may|can) (?:I|we)|\b(?:do you want|would you like) me to) (?:really |now )?(?:go ahead|proceed|continue|do (?:this|it)\b|`+runThis+`)[^.!?\n]*\?\W*$`,
	source+`[^.!?,\n]*`+says+`[^.!?,\n]*\bto (?:run|execute) (?:this|that|it|the following)\b[^.!?,\n]*:\s*$`,
)

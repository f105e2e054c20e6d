package replies

import (
	"strings"
)

// Hesitates reports whether what a reply says beside its fields, or in those that explain
// them, may mean that they are not to be acted on: they are refused, quoted, asked about,
// taken back, or wait for somebody. It is for replies of which something will be done,
// where a needless question is the lesser evil.
func Hesitates(said, reasoning string) bool {
	if withdrawn(reasoning) {
		return true
	}
	text, err := visible(said)
	if err != nil {
		return false
	}
	above, behind := beside(text)
	return disowned(above, behind) || rethought.MatchString(behind) || uncalled.MatchString(above) || uncalled.MatchString(behind)
}

// beside is what stands before the fields of a reply, and behind them.
func beside(text string) (above, behind string) {
	if from, to := strings.Index(text, "[["), strings.LastIndex(text, "]]"); from >= 0 && to > from {
		behind = text[to+len("]]"):]
		if last := text[strings.LastIndex(text[:to], "[["):to]; !strings.Contains(strings.ToLower(last), endOfForm) {
			behind = "" // it is the value of the last field
		}
		return text[:from], behind
	}
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && to > from {
		return text[:from], text[to+1:]
	}
	return "", ""
}

const endOfForm = "completed"

// uncalled finds sentences that refuse a call, hold it up, or say that it is somebody
// else's. That another one is not made, or not yet, is a reason for this.
var uncalled = anyOf(
	`\b(?:I|we)\b[^.,;:!?\n]{0,20}(?:won't|not|never|don't|cannot|can't|refuse to|decline to) (?:\w+ ){0,2}`+acts+`(?: (?:this|that|it|the|such|these|so|any)\b|\W*(?:\n|$))`,
	`(?:^|\n|[.,;:!?(] *)(?:please )?(?:do not|don't|never) (?:\w+ )?`+acts+` (?:this|that|it|the)\b`,
	`\b(?:must|should|shall|may|can|is|are)(?: not|n't) (?:to )?be (?:made|called|sent|performed|issued|submitted)\b`,
	source+`[^.!?,\n]*`+says+`[^.!?,\n]*\b(?:to `+acts+`|this call|the (?:following )?call)\b`,
	`\bsecond thoughts?\b|\b(?:this|it) (?:is|would be) (?:just |only |merely )?(?:an example|a dry run)\b|\bfor example\W*$|\bhypothetical|\bpretend\b|\b(?:imagine|imaginary)\b`,
)

// acts are what is done with a call, and what a call does.
const acts = `(?:mak|call|send|perform|issu|submit|do|act on)(?:e|ing)?\b`

package replies_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
)

// TestError checks that an error names every field that is wrong, and why.
func TestError(t *testing.T) {
	t.Parallel()
	spec := parsed(t, `text -> mood: Literal["good", "bad"], score: float(ge=0, le=1)`)
	tooHigh := replies.Problem{Field: "score", Kind: replies.KindConstraint, Message: "the value must be at most 1, not 3"}
	noMood := replies.Problem{Field: "mood", Kind: replies.KindStructure, Message: "is missing"}
	for reply, want := range map[string][]replies.Problem{
		"no": {{Kind: replies.KindStructure, Message: "no field was found in the reply; answer with the JSON object"}},
		"[[ ## mood ## ]]\nawful\n[[ ## score ## ]]\nhigh\n[[ ## completed ## ]]": {
			{Field: "mood", Kind: replies.KindConstraint, Message: `the value must be one of "good", "bad", not "awful"`},
			{Field: "score", Kind: replies.KindStructure, Message: `cannot be read: the value must be a number, not "high"`},
		},
		`{"score": 3, "author": "Ada"}`: {noMood, tooHigh},
		`{"mood": "good", "score": 3}`:  {tooHigh},
	} {
		_, err := replies.Read(spec, reply, false, replies.Object)
		var wrong *replies.Error
		if !errors.As(err, &wrong) || !slices.Equal(wrong.Problems, want) {
			t.Errorf("%q: %v, want %v", reply, err, want)
		}
	}
}

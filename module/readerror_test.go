package module

import (
	"errors"
	"slices"
	"testing"

	"github.com/writ-go/writ/signature"
)

// TestReadError checks that Go callers learn which field is wrong and why.
func TestReadError(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.Parse(`text -> mood: Literal["good", "bad"], score: float(ge=0, le=1)`, "")).Spec()
	for reply, want := range map[string][]ReadProblem{
		"no": {{Field: "", Kind: KindStructure, Message: "no field was found in the reply; answer with the JSON object"}},
		"[[ ## mood ## ]]\nawful\n[[ ## score ## ]]\nhigh" + "\n[[ ## completed ## ]]": {
			{Field: "mood", Kind: KindConstraint, Message: `the value must be one of "good", "bad", not "awful"`},
			{Field: "score", Kind: KindStructure, Message: `cannot be read: the value must be a number, not "high"`},
		},
		`{"score": 3}`: {
			{Field: "mood", Kind: KindStructure, Message: "is missing"},
			{Field: "score", Kind: KindConstraint, Message: "the value must be at most 1, not 3"},
		},
		`{"score": 3, "author": "Ada"}`: {
			{Field: "mood", Kind: KindStructure, Message: "is missing"},
			{Field: "score", Kind: KindConstraint, Message: "the value must be at most 1, not 3"},
		},
		`{"mood": "good", "score": 3}`: {{Field: "score", Kind: KindConstraint,
			Message: "the value must be at most 1, not 3"}},
	} {
		_, err := JSON().Read(spec, reply, false)
		var wrong *ReadError
		if !errors.As(err, &wrong) || !slices.Equal(wrong.Problems, want) {
			t.Errorf("%q: %v, want %v", reply, err, want)
		}
	}
}

package replies_test

import (
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

// TestBareMisfits holds that of a reply which is nothing but a value, the model is told
// what is wrong with the value, in whatever form it was asked for. Of one that may be
// anything else, it is told the form.
func TestBareMisfits(t *testing.T) {
	t.Parallel()
	level := spec[struct {
		Level uint8 `json:"level" jsonschema:"minimum=1,maximum=5"`
	}]()
	when := spec[struct {
		When time.Time `json:"when"`
	}]()
	count := spec[struct {
		Count int    `json:"count"`
		Note  string `json:"note,omitempty"`
	}]()
	wait := spec[struct {
		Wait time.Duration `json:"wait"`
	}]()
	const noField = "no field was found in the reply; answer with the JSON object"
	for _, c := range []struct {
		spec  *signature.Spec
		reply string
		kind  module.ProblemKind
		want  string
	}{
		{level, "9", module.Constraint, `the field "level" has a value that is not allowed: the value must be at most 5, not 9`},
		{level, "**nine**", module.Constraint, `the field "level" has a value that is not allowed: the value must be at most 5, not 9`},
		{level, "```\n0\n```", module.Constraint, `the field "level" has a value that is not allowed: the value must be at least 1, not 0`},
		{level, "[9]", module.Structure, `the field "level" cannot be read: the value must be an integer, not an array`},
		{level, "high", module.Structure, `the field "level" cannot be read: the value must be an integer, not "high"`},
		{when, "2026-01-02", module.Constraint, `the field "when" has a value that is not allowed: the value must be a date-time such as 2026-01-31T15:04:05Z, not "2026-01-02"`},
		{when, "2026-01-02 10:00", module.Constraint, `the field "when" has a value that is not allowed: the value must be a date-time such as 2026-01-31T15:04:05Z, not "2026-01-02 10:00"`},
		{count, "42.5", module.Constraint, `the field "count" has a value that is not allowed: the value must be an integer, not 42.5`},
		{wait, "5 months", module.Structure, `the field "wait" does not say for certain how long; write an integer of nanoseconds, or a number with its unit, as in "90 seconds"`},
		{level, "I can't tell.", module.Structure, noField},
		{level, "9 9", module.Structure, noField},
		{level, "9\n\nor so", module.Structure, noField},
		{kinds["two"], "9", module.Structure, noField},
		{kinds["optional"], "Sorry, I have nothing to say about that, as it seems.", module.Structure, noField},
	} {
		_, err := module.JSON().Read(c.spec, c.reply, false)
		wrong, _ := err.(*module.ReadError)
		if wrong == nil || len(wrong.Problems) != 1 || wrong.Problems[0].Kind != c.kind || wrong.Error() != c.want {
			t.Errorf("%q: got %v\nwant %s: %s", c.reply, err, c.kind, c.want)
		}
	}
}

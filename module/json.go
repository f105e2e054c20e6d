package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/signature"
)

// maxInput is the number of bytes up to which an input is part of a trajectory's JSON.
const maxInput = 64 << 10

// MarshalJSON also writes the total usage, the answer, and Err's text as "error". For each prompt it writes only the
// messages that differ from those of the previous step.
func (t Trajectory) MarshalJSON() ([]byte, error) {
	type plain Trajectory
	t.Inputs = slices.DeleteFunc(slices.Clone(t.Inputs), func(v signature.Value) bool { return len(v.JSON) > maxInput })
	return json.Marshal(struct {
		plain
		Steps  []stepJSON      `json:"steps,omitempty"`
		Error  string          `json:"error,omitempty"`
		Usage  event.Usage     `json:"usage"`
		Answer json.RawMessage `json:"answer,omitempty"`
	}{plain(t), stepsJSON(t.Steps), errorText(t.Err), t.Usage(), t.Answer()})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Trajectory) UnmarshalJSON(raw []byte) error {
	type plain Trajectory
	var read struct {
		plain
		Steps  []stepJSON      `json:"steps"`
		Error  string          `json:"error"`
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*t = Trajectory(read.plain)
	t.Steps = stepsOf(read.Steps)
	if read.Error != "" {
		t.Err = errors.New(read.Error)
	}
	if len(t.Steps) == 0 && t.Chosen == 0 {
		t.answer = read.Answer
	}
	return nil
}

// stepJSON is the JSON form of a step. Instead of the whole prompt, it has the difference from the previous step's
// prompt.
type stepJSON struct {
	Step
	lm.RecordedPrompt
}

func stepsJSON(steps []Step) []stepJSON {
	list := make([]stepJSON, len(steps))
	var before lm.Prompt
	for i, s := range steps {
		sent := lm.Prompt{Messages: s.Prompt, Tools: s.Tools}
		list[i] = stepJSON{s, sent.Record(before)}
		before = sent
	}
	return list
}

// stepsOf is the inverse of stepsJSON, except that it does not restore attachments.
func stepsOf(list []stepJSON) []Step {
	var steps []Step
	var sent lm.Prompt
	for _, s := range list {
		sent = s.Restore(sent)
		s.Step.Prompt, s.Step.Tools = sent.Messages, sent.Tools
		steps = append(steps, s.Step)
	}
	return steps
}

// MarshalJSON writes infinite values as the largest finite numbers, and NaN as 0.
func (s Score) MarshalJSON() ([]byte, error) {
	type plain Score
	s.Value, s.Parts = finite(s.Value), maps.Clone(s.Parts)
	for name, part := range s.Parts {
		s.Parts[name] = finite(part)
	}
	return json.Marshal(plain(s))
}

func finite(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return max(-math.MaxFloat64, min(f, math.MaxFloat64))
}

// errorText returns an error's text, even if its Error method panics.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}

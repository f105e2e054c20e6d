package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/writ-go/writ/module/internal/lm"
)

// MarshalJSON also writes the total usage, the answer, and the text of Err as "error". For each prompt it writes only
// the messages that differ from those of the previous step.
func (t Trajectory) MarshalJSON() ([]byte, error) {
	type plain Trajectory
	return json.Marshal(struct {
		plain
		Steps  []stepJSON      `json:"steps,omitempty"`
		Error  string          `json:"error,omitempty"`
		Usage  Usage           `json:"usage"`
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

// stepJSON is a step with what differs from the prompt of the step before.
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

// stepsOf reads what stepsJSON wrote, except for attachments.
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

// MarshalJSON writes the text of Err as "error", and the trajectory.
func (e *IncompleteError) MarshalJSON() ([]byte, error) {
	if e == nil {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		Error      string     `json:"error"`
		Trajectory Trajectory `json:"trajectory"`
	}{errorText(e.Err), e.Trajectory})
}

// MarshalJSON writes infinite values as the greatest finite number, and NaN as 0.
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

// errorText returns the text of an error, even if its Error method panics.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}

// MarshalJSON writes the event as "run_start".
func (e RunStart) MarshalJSON() ([]byte, error) {
	type plain RunStart
	return eventJSON("run_start", plain(e))
}

// MarshalJSON writes the event as "model_request", with the text of the messages.
func (e ModelRequest) MarshalJSON() ([]byte, error) {
	type plain ModelRequest
	return eventJSON("model_request", struct {
		plain
		Messages []lm.RecordedMessage `json:"messages"`
		Tools    []lm.RecordedTool    `json:"tools,omitempty"`
	}{plain(e), lm.RecordMessages(e.Messages), lm.RecordTools(e.Options.Tools)})
}

// MarshalJSON writes the event as "text_delta".
func (e TextDelta) MarshalJSON() ([]byte, error) {
	type plain TextDelta
	return eventJSON("text_delta", plain(e))
}

// MarshalJSON writes the event as "model_response", with the text of Err as "error".
func (e ModelResponse) MarshalJSON() ([]byte, error) {
	type plain ModelResponse
	return eventJSON("model_response", struct {
		plain
		Error string `json:"error,omitempty"`
	}{plain(e), errorText(e.Err)})
}

// MarshalJSON writes the event as "reply_rejected".
func (e ReplyRejected) MarshalJSON() ([]byte, error) {
	type plain ReplyRejected
	return eventJSON("reply_rejected", plain(e))
}

// MarshalJSON writes the event as "program_start".
func (e ProgramStart) MarshalJSON() ([]byte, error) {
	type plain ProgramStart
	return eventJSON("program_start", plain(e))
}

// MarshalJSON writes the event as "fell_back".
func (e FellBack) MarshalJSON() ([]byte, error) {
	type plain FellBack
	return eventJSON("fell_back", plain(e))
}

// MarshalJSON writes the event as "tool_call_start".
func (e ToolCallStart) MarshalJSON() ([]byte, error) {
	type plain ToolCallStart
	return eventJSON("tool_call_start", plain(e))
}

// MarshalJSON writes the event as "tool_call_end".
func (e ToolCallEnd) MarshalJSON() ([]byte, error) {
	type plain ToolCallEnd
	return eventJSON("tool_call_end", plain(e))
}

// MarshalJSON writes the event as "program_end".
func (e ProgramEnd) MarshalJSON() ([]byte, error) {
	type plain ProgramEnd
	return eventJSON("program_end", plain(e))
}

// MarshalJSON writes the event as "scored".
func (e Scored) MarshalJSON() ([]byte, error) {
	type plain Scored
	return eventJSON("scored", plain(e))
}

// MarshalJSON writes the event as "answered".
func (e Answered) MarshalJSON() ([]byte, error) {
	type plain Answered
	return eventJSON("answered", plain(e))
}

// MarshalJSON writes the event as "failed", with the text of Err as "error".
func (e Failed) MarshalJSON() ([]byte, error) {
	type plain Failed
	return eventJSON("failed", struct {
		plain
		Error string `json:"error"`
	}{plain(e), errorText(e.Err)})
}

// eventJSON returns the JSON of an event with its type as the first member.
func eventJSON(event string, e any) ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"event":"`+event+`",`), raw[1:]...), nil // every event has an Origin
}

package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// MarshalJSON writes it with the whole usage, the answer, and the text of Err as
// "error".
func (t Trajectory) MarshalJSON() ([]byte, error) {
	type plain Trajectory
	t.Score = finite(t.Score)
	return json.Marshal(struct {
		plain
		Error  string          `json:"error,omitempty"`
		Usage  Usage           `json:"usage"`
		Answer json.RawMessage `json:"answer,omitempty"`
	}{plain(t), errorText(t.Err), t.Usage(), t.Answer()})
}

// UnmarshalJSON reads what MarshalJSON has written.
func (t *Trajectory) UnmarshalJSON(raw []byte) error {
	type plain Trajectory
	var read struct {
		plain
		Error  string          `json:"error"`
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*t = Trajectory(read.plain)
	if read.Error != "" {
		t.Err = errors.New(read.Error)
	}
	if len(t.Steps) == 0 && t.Chosen == 0 {
		t.answer = read.Answer
	}
	return nil
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

// MarshalJSON writes a score beyond all numbers as the greatest there is, and none as 0.
func (j Judgement) MarshalJSON() ([]byte, error) {
	type plain Judgement
	j.Score = finite(j.Score)
	return json.Marshal(plain(j))
}

func finite(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return max(-math.MaxFloat64, min(f, math.MaxFloat64))
}

// errorText is the text of an error, also of one that panics when asked for it.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}

// MarshalJSON writes the event as "asked".
func (e Asked) MarshalJSON() ([]byte, error) {
	type plain Asked
	return eventJSON("asked", plain(e))
}

// MarshalJSON writes the event as "delta".
func (e Delta) MarshalJSON() ([]byte, error) {
	type plain Delta
	return eventJSON("delta", plain(e))
}

// MarshalJSON writes the event as "replied".
func (e Replied) MarshalJSON() ([]byte, error) {
	type plain Replied
	return eventJSON("replied", plain(e))
}

// MarshalJSON writes the event as "started".
func (e Started) MarshalJSON() ([]byte, error) {
	type plain Started
	return eventJSON("started", plain(e))
}

// MarshalJSON writes the event as "calling".
func (e Calling) MarshalJSON() ([]byte, error) {
	type plain Calling
	return eventJSON("calling", plain(e))
}

// MarshalJSON writes the event as "called".
func (e Called) MarshalJSON() ([]byte, error) {
	type plain Called
	return eventJSON("called", plain(e))
}

// MarshalJSON writes the event as "ended".
func (e Ended) MarshalJSON() ([]byte, error) {
	type plain Ended
	return eventJSON("ended", plain(e))
}

// MarshalJSON writes the event as "judged".
func (e Judged) MarshalJSON() ([]byte, error) {
	type plain Judged
	return eventJSON("judged", plain(e))
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

// eventJSON is an event's object with its type as the first member.
func eventJSON(event string, e any) ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"event":"`+event+`",`), raw[1:]...), nil // it has an origin
}

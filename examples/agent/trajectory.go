package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
)

// trajectoryOf returns what a run did, whether or not it has an answer.
func trajectoryOf(pred *module.Prediction[agent.Answer], err error) module.Trajectory {
	if incomplete, ok := errors.AsType[*module.IncompleteError](err); ok {
		return incomplete.Trajectory
	}
	if pred == nil {
		return module.Trajectory{}
	}
	return pred.Trajectory
}

// recording is the file that -trajectory writes: the JSON of a trajectory, with the run's task as one more member.
type recording struct {
	trajectory module.Trajectory
	inputs     agent.Task
}

// MarshalJSON implements [json.Marshaler].
func (r recording) MarshalJSON() ([]byte, error) {
	inputs, err := json.Marshal(r.inputs)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(r.trajectory)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"inputs":%s,%s`, inputs, text[1:]), nil // a trajectory always has members
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *recording) UnmarshalJSON(text []byte) error {
	var more struct {
		Inputs agent.Task `json:"inputs"`
	}
	if err := json.Unmarshal(text, &more); err != nil {
		return err
	}
	r.inputs = more.Inputs
	return json.Unmarshal(text, &r.trajectory)
}

// record writes the run's trajectory to the file of -trajectory. Other users cannot read the file, since it has the
// whole prompts and results.
func (c *config) record(pred *module.Prediction[agent.Answer], err error) error {
	t := trajectoryOf(pred, err)
	switch {
	case c.trajectory == "":
		return nil
	case len(t.Steps) == 0 && err == nil:
		return fmt.Errorf("the run had ended before, so %s was not written; record a new run", c.trajectory)
	case len(t.Steps) == 0:
		return nil
	}
	text, err := json.MarshalIndent(recording{t, c.in}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(c.trajectory, append(text, '\n'), 0o600)
}

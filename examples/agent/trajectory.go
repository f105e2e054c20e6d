package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
)

// record writes the run's trajectory to the file of -trajectory, with the run's inputs as one more member. Other users
// cannot read the file, since it has the whole prompts and results.
func (c *config) record(pred *module.Prediction[agent.Answer], err error) error {
	t := pred.TrajectoryOf(err)
	switch {
	case c.trajectory == "" || len(t.Steps) == 0 && err != nil:
		return nil
	case len(t.Steps) == 0:
		return fmt.Errorf("the run had ended before, so %s was not written; record a new run", c.trajectory)
	}
	inputs, err := json.Marshal(c.in)
	if err != nil {
		return err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, fmt.Appendf(nil, `{"inputs":%s,%s`, inputs, text[1:]), "", "  "); err != nil {
		return err
	}
	return os.WriteFile(c.trajectory, b.Bytes(), 0o600)
}

// recorded reads what record wrote.
func (c *config) recorded() (t module.Trajectory, in agent.Task, err error) {
	text, err := os.ReadFile(c.trajectory)
	if err == nil {
		var more struct{ Inputs *agent.Task }
		more.Inputs = &in
		err = errors.Join(json.Unmarshal(text, &t), json.Unmarshal(text, &more))
	}
	if err != nil {
		err = fmt.Errorf("the trajectory %s: %w", c.trajectory, err)
	}
	return t, in, err
}

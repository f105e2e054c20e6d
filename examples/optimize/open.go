package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

// open opens everything that can fail before a model is called.
func (c *command) open(ctx context.Context) (err error) {
	if c.sig, err = signature.Parse(c.signature, c.instructions); err != nil {
		return err
	}
	if c.student, err = c.openModel("model", c.model, student); err != nil {
		return err
	}
	if c.reflector, err = c.openModel("reflection", c.reflection, reflection); err != nil {
		return err
	}
	if err := c.openProgram(); err != nil {
		return err
	}
	if err := c.readData(); err != nil {
		return err
	}
	if n := len(c.data.dev); c.optimizer != "" && c.calls > 0 && c.calls < n {
		return fmt.Errorf("-calls is %d, but scoring the %d examples of -dev once takes %d calls", c.calls, n, n)
	}
	if c.score, err = c.data.metricOf(ctx, c.metric); err != nil {
		return err
	}
	return c.checkOutput()
}

// openModel returns the model that a flag names, or nil.
func (c *command) openModel(flag, name string, simulated func() llms.Model) (llms.Model, error) {
	switch {
	case name == "":
		return nil, nil
	case name == "student":
		return simulated(), nil
	case !strings.Contains(name, ":"):
		return nil, fmt.Errorf("no model is named %q; -%s is %s", name, flag, strings.ReplaceAll(modelUsage, "`", ""))
	}
	model, err := models.Open(name, models.Options{Progress: c.stderr})
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", flag, err)
	}
	return model, nil
}

// openProgram makes the program, and loads what -save wrote.
func (c *command) openProgram() error {
	predict := func() program { return module.NewPredict(c.sig, c.student, nil) }
	c.program = predict()
	if c.load == "" {
		return nil
	}
	state, err := os.ReadFile(c.load)
	if err != nil {
		return fmt.Errorf("-load: %w", err)
	}
	var saved struct {
		Predictors map[string]struct{ Picked bool }
	}
	_ = json.Unmarshal(state, &saved) // module.Load says what is wrong
	if _, is := saved.Predictors["Modules[0]"]; is {
		if c.optimizer == "ensemble" {
			return fmt.Errorf("%s is an ensemble already; use another -optimizer", c.load)
		}
		var members []program
		for range saved.Predictors {
			members = append(members, predict())
		}
		c.program = optimize.NewEnsemble(members)
	}
	for path, p := range module.Predictors(c.program) {
		if saved.Predictors[path].Picked {
			p.PickDemos = optimize.Nearest(3, nil) // as KNNFewShot does
		}
	}
	if err := module.Load(bytes.NewReader(state), c.program); err != nil {
		return fmt.Errorf("-load %s: %w", c.load, err)
	}
	return nil
}

// checkOutput returns why -dir or -save cannot be written.
func (c *command) checkOutput() error {
	if c.dir != "" {
		if err := os.MkdirAll(c.dir, 0o700); err != nil {
			return fmt.Errorf("-dir: %w", err)
		}
	}
	if c.save == "" {
		return nil
	}
	_, missing := os.Lstat(c.save)
	f, err := os.OpenFile(c.save, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("-save: %w", err)
	}
	f.Close()
	if missing != nil {
		return os.Remove(c.save)
	}
	return nil
}

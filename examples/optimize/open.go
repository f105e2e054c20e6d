package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	replies "github.com/writ-go/writ/module/models"
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
	need := len(c.data.dev) * len(maps.Collect(module.Predictors(c.program))) // an ensemble has several
	if c.optimizer != "" && c.calls > 0 && c.calls < need {
		return fmt.Errorf("-calls is %d, but scoring the %d examples of -dev once takes %d calls", c.calls,
			len(c.data.dev), need)
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
		if err := c.checkDir(); err != nil {
			return fmt.Errorf("-dir: %w", err)
		}
	}
	if c.save == "" {
		return nil
	}
	for _, examples := range []string{c.train, c.dev, c.test} {
		if sameFile(c.save, examples) {
			return fmt.Errorf("-save would overwrite the examples in %s; name another file", c.save)
		}
	}
	old, err := os.Stat(c.save)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return fmt.Errorf("-save: %s is not a file", c.save)
	case c.dir != "" && sameFile(c.dir, filepath.Dir(c.save)):
		return errors.New("-save must not be in -dir, which has files of its own; name a file in another directory")
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

// checkDir makes -dir, and returns why a search cannot use it.
func (c *command) checkDir() error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	log, err := replies.OpenStore(&replies.StoreOptions{Mode: replies.Resume, Path: filepath.Join(c.dir, "replies.jsonl")})
	if err != nil {
		return err
	}
	if log.Len() > 0 {
		fmt.Fprintf(c.stderr, "%s has replies of an earlier search; the same questions are not asked again\n", c.dir)
	}
	return log.Close()
}

func sameFile(a, b string) bool {
	of, errA := os.Stat(a)
	and, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(of, and)
}

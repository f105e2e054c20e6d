package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/tools/journal"
)

// actions are the words after "agent runs". Those after "list" and "prune" need the ID of a run.
var actions = []string{"list", "prune", "show", "resume", "cancel", "rollback"}

// check returns an error for wrong arguments of "agent runs".
func (c *config) check(args int) error {
	i := slices.Index(actions, c.action)
	if i < 0 || c.journal == "" || args > 1 || (args == 1) != (i > 1) || c.older <= 0 {
		return fmt.Errorf("agent: write runs, then one of %q, then -journal and other flags, then the ID of one run, "+
			"but none for list and prune; -older must be positive", actions)
	}
	return nil
}

// manage does what "agent runs" asks for. The task is the ID of the run.
func (c *config) manage(ctx context.Context, runs *agent.Runs) error {
	runner, err := agent.NewRunner(runs, (*agent.Agent)(nil), nil) // it runs nothing
	if err != nil {
		return err
	}
	switch c.action {
	case "list":
		list, err := runs.List(ctx)
		for _, r := range list {
			c.describe(r)
		}
		return err
	case "prune":
		pruned, err := runs.Prune(ctx, agent.Retention{Runs: c.older})
		for _, id := range pruned.Removed {
			fmt.Fprintln(c.stdout, "removed:", id)
		}
		return err
	case "cancel":
		return runner.Cancel(ctx, c.task)
	}
	info, err := runner.Get(ctx, c.task)
	if err != nil {
		return err
	}
	calls, err := runs.Calls(ctx, c.task)
	encoder := json.NewEncoder(c.stdout)
	encoder.SetIndent("", "  ")
	return errors.Join(err, encoder.Encode(struct {
		agent.RunInfo
		Calls map[string][]journal.Entry `json:"calls"` // by the IDs of their journals
	}{info, calls}))
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// runAgain runs a step of the file of -trajectory again, with the recorded results, and prints what happens. It needs
// neither the servers nor the model.
func (c *config) runAgain(ctx context.Context) error {
	t, in, err := c.recorded()
	if err != nil {
		return err
	}
	if c.step > len(t.Steps) {
		return fmt.Errorf("%s has %s; pass -step with one of them", c.trajectory, display.Plural(len(t.Steps), "step"))
	}
	step := t.Steps[c.step-1]
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	history := append(signature.History{}, in.History...) // not null
	fmt.Fprintf(c.stdout, "program:\n%s\n", show.Indent(step.Code, "│ "))
	out, err := agent.Replay(ctx, box, step, sandbox.Program{
		Inputs: map[string]any{"task": cmp.Or(c.task, in.Task), "history": history},
	})
	if out == nil {
		return err
	}
	was, is := describe(step.Outcome), describe(out)
	fmt.Fprint(c.stdout, is)
	if err != nil {
		return err
	}
	if was == is {
		fmt.Fprintln(c.stdout, "the same as recorded")
		return nil
	}
	old, now := strings.Split(was, "\n"), strings.Split(is, "\n")
	i := 0
	for i < min(len(old), len(now))-1 && old[i] == now[i] {
		i++
	}
	return fmt.Errorf("the outcome differs from the recorded one:\n- %s\n+ %s", old[i], now[i])
}

// describe returns what a program did: its calls, its console and its end.
func describe(o *sandbox.Outcome) string {
	var b strings.Builder
	for _, call := range o.Calls {
		end := canonical.JSON(call.Result)
		switch {
		case call.Pending:
			end = "had not ended"
		case call.Error != nil:
			end = "failed: " + call.Error.Message
		}
		fmt.Fprintf(&b, "call %s(%s)\n│ %s\n", call.Tool, canonical.JSON(call.Args), end)
	}
	if o.Stdout.Bytes+o.Stderr.Bytes > 0 {
		fmt.Fprintf(&b, "console:\n%s\n", show.Indent(o.Stdout.Text+o.Stderr.Text, "│ "))
	}
	switch {
	case o.Failure != nil:
		fmt.Fprintf(&b, "failed:\n%s\n", show.Indent(o.Failure.String(), "✗ "))
	case o.Submitted:
		fmt.Fprintf(&b, "submitted %s\n", canonical.JSON(o.Value))
	default:
		fmt.Fprintf(&b, "ended %s\n", canonical.JSON(o.Value))
	}
	return b.String()
}

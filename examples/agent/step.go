package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

var errDiffers = errors.New("the program did not do what it did when it was recorded")

// runAgain runs a step of the file of -trajectory again, with the recorded results, and prints what happens. It needs
// neither the servers nor the model.
func (c *config) runAgain(ctx context.Context) error {
	text, err := os.ReadFile(c.trajectory)
	if err != nil {
		return err
	}
	var r recording
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s is not the file of a trajectory: %w", c.trajectory, err)
	}
	if c.step > len(r.trajectory.Steps) {
		return fmt.Errorf("%s has %s; pass -step with one of them",
			c.trajectory, display.Plural(len(r.trajectory.Steps), "step"))
	}
	step := r.trajectory.Steps[c.step-1]
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	report := show.Progress(c.stdout)
	report(ctx, event.ProgramStart{Code: step.Code})
	history := r.inputs.History
	if history == nil {
		history = signature.History{} // as in the run
	}
	out, err := agent.Replay(ctx, box, step, sandbox.Program{
		Inputs: map[string]any{"task": cmp.Or(c.task, r.inputs.Task), "history": history},
	})
	if out == nil {
		return err
	}
	for _, call := range out.Calls {
		report(ctx, event.ToolCallEnd{Call: call})
		if call.Result != nil {
			fmt.Fprintf(c.stdout, "     %s\n", display.Cut(string(call.Result), 500))
		}
	}
	if err != nil {
		return err
	}
	if text := out.Stdout.Text + out.Stderr.Text; text != "" {
		fmt.Fprintf(c.stdout, "   console:\n%s\n", show.Indent(text, "   │ "))
	}
	report(ctx, event.ProgramEnd{Outcome: out})
	if out.Value != nil {
		fmt.Fprintf(c.stdout, "   value: %s\n", out.Value)
	}
	return c.compare(step.Outcome, out)
}

// compare prints the differences between a recorded outcome and the outcome of the same program now.
func (c *config) compare(was, is *sandbox.Outcome) error {
	same := true
	for _, part := range []struct{ name, was, is string }{
		{"end", end(was), end(is)},
		{"value", canonical.JSON(was.Value), canonical.JSON(is.Value)},
		{"console", was.Stdout.Text, is.Stdout.Text},
		{"errors on the console", was.Stderr.Text, is.Stderr.Text},
		{"calls", calls(was), calls(is)},
	} {
		if part.was == part.is {
			continue
		}
		same = false
		fmt.Fprintf(c.stdout, "\n%s, as recorded:\n%s\n", part.name, show.Indent(cmp.Or(part.was, "(none)"), "   - "))
		fmt.Fprintf(c.stdout, "%s, now:\n%s\n", part.name, show.Indent(cmp.Or(part.is, "(none)"), "   + "))
	}
	if !same {
		return errDiffers
	}
	fmt.Fprintln(c.stdout, "\nthe same as recorded")
	return nil
}

// end says how a program ended.
func end(o *sandbox.Outcome) string {
	switch {
	case o.Failure != nil:
		return o.Failure.String()
	case o.Submitted:
		return "submitted"
	}
	return "ended"
}

// calls lists the calls of a program and how they ended. Their arguments are not compared, since policies may have
// changed them, and Replay has compared those of the program.
func calls(o *sandbox.Outcome) (list string) {
	for _, call := range o.Calls {
		list += call.Tool
		switch {
		case call.Pending:
			list += " had not ended"
		case call.Error != nil:
			list += " failed: " + call.Error.Message
		}
		list += "\n"
	}
	return list
}

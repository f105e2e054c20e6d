package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
)

// converse carries out the tasks that a person types, until the input ends or a task is interrupted. With "runs resume",
// the first one is that of the run. The model sees earlier tasks with their answers.
func (c *config) converse(ctx context.Context, bot *agent.Agent) error {
	for {
		if c.resume == "" {
			task, err := c.ask("> ")
			if errors.Is(err, errNoAnswer) {
				return nil
			} else if err != nil {
				return err
			}
			if c.in.Task = task; task == "" {
				continue
			}
		}
		pred, err := c.turn(ctx, bot)
		answer := agent.Answer{Answer: "There is no answer."}
		if pred != nil {
			answer = pred.Output
		}
		if err = c.finish(pred, err); err != nil {
			if _, paused := errors.AsType[*agent.PausedError](err); paused || ctx.Err() != nil {
				return err
			}
			fmt.Fprintln(c.stderr, "agent:", err)
			answer.Answer += " " + err.Error()
		}
		turn, err := bot.Turn(agent.Task{Task: c.in.Task}, answer)
		if err != nil {
			return err
		}
		c.in.History, c.resume = append(c.in.History, turn), ""
	}
}

// turn carries out one task.
func (c *config) turn(ctx context.Context, bot *agent.Agent) (*module.Prediction[agent.Answer], error) {
	if c.journal != "" {
		return c.durable(ctx, bot)
	}
	pred, err := bot.Run(ctx, c.in)
	if errors.Is(ctx.Err(), context.Canceled) && err != nil {
		err = fmt.Errorf("%w; with -journal, Ctrl-C only pauses a task", err)
	}
	return pred, err
}

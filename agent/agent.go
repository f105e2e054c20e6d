// Package agent runs tasks that are given as text.
//
// An Agent is a [module.CodeAct] whose input is a task and whose output is an
// answer in words:
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"os"
//
//		"github.com/writ-go/writ/agent"
//		"github.com/writ-go/writ/module/models"
//		"github.com/writ-go/writ/sandbox"
//		"github.com/writ-go/writ/tools"
//		"github.com/writ-go/writ/tools/mcptools"
//	)
//
//	func main() {
//		if err := run(context.Background()); err != nil {
//			fmt.Fprintln(os.Stderr, err)
//			os.Exit(1)
//		}
//	}
//
//	func run(ctx context.Context) error {
//		model, err := models.Open("openai:gpt-5.1", nil)
//		if err != nil {
//			return err
//		}
//		servers, err := mcptools.Open(ctx, "mcp_servers.json", nil)
//		if err != nil {
//			return err
//		}
//		defer servers.Close()
//		set, err := tools.NewSet(ctx, servers)
//		if err != nil {
//			return err
//		}
//		box, err := sandbox.New(nil)
//		if err != nil {
//			return err
//		}
//		defer box.Close()
//		bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
//		if err != nil {
//			return err
//		}
//		answer, err := bot.Run(ctx, "How many files are in the folder?")
//		if err != nil {
//			return err
//		}
//		fmt.Println(answer.Text)
//		return nil
//	}
package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Options configures an [Agent].
type Options struct {
	// Sandbox runs the programs. It is required: whoever opens it closes it.
	Sandbox module.Sandbox

	// Tools is what programs may call; nil for nothing.
	Tools *tools.Set

	// Instructions says how to go about tasks. Empty is a general instruction.
	Instructions string

	// Module configures the CodeAct; the zero value is its defaults.
	Module module.Options
}

// Agent runs tasks. It is safe for concurrent use.
type Agent struct {
	module *module.CodeAct[task, conclusion]
}

type task struct {
	Task string `json:"task" jsonschema:"description=what is to be done"`
}

type conclusion struct {
	Answer string `json:"answer" jsonschema:"description=what was found or done; for the person who gave the task"`
}

// Answer is what came of a task.
type Answer struct {
	// Text is the answer, in words.
	Text string

	// Trajectory is everything that was done.
	Trajectory module.Trajectory
}

const general = "Do the task. Look before you act, and do only what the task asks for. Then report what you found or did, with the facts that matter."

// New returns an agent. It returns an error if the model or Options.Sandbox is
// missing.
func New(model llms.Model, o *Options) (*Agent, error) {
	if model == nil {
		return nil, errors.New("agent: there is no model; open one by models.Open, or pass one of langchaingo's")
	}
	if o == nil || o.Sandbox == nil {
		return nil, errors.New("agent: Options.Sandbox is missing; open one by sandbox.New and close it in the end")
	}
	instructions := o.Instructions
	if instructions == "" {
		instructions = general
	}
	sig, err := signature.New[task, conclusion](instructions)
	if err != nil {
		return nil, err
	}
	return &Agent{module.NewCodeAct(sig, model, o.Sandbox, o.Tools, &o.Module)}, nil
}

// ErrNoTask is returned for a task without text.
var ErrNoTask = errors.New("agent: the task is empty; say what is to be done")

// Run does a task and returns the answer. The error is [ErrNoTask] or a
// *[module.IncompleteError], which holds everything that was done.
func (a *Agent) Run(ctx context.Context, text string) (*Answer, error) {
	if a == nil {
		return nil, errors.New("agent: it is nil; make one by New, and look at the error that it returned")
	}
	if strings.TrimSpace(text) == "" {
		return nil, ErrNoTask
	}
	pred, err := a.module.Run(ctx, task{text})
	if err != nil {
		return nil, err
	}
	return &Answer{Text: pred.Output.Answer, Trajectory: pred.Trajectory}, nil
}

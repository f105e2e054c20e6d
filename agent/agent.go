// Package agent provides an agent that carries out tasks described in words, and durable runs of any module, which go
// on after a pause or a crash: see [Start] and [Resume]. A [Runner] runs many of them for a service.
//
// An Agent is a [module.CodeAct] whose input is a task and whose output is an answer in words. Like any other
// [module.Module], it can be streamed, evaluated and optimized, and it can be part of larger modules.
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
//		pred, err := bot.Run(ctx, agent.Task{Task: "How many files are in the folder?"})
//		if err != nil {
//			return err
//		}
//		fmt.Println(pred.Output.Answer)
//		return nil
//	}
package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// Options configures an [Agent].
type Options struct {
	// Sandbox runs the programs. It is required. The caller must close it.
	Sandbox module.Sandbox

	// Tools are the tools that programs may call. Nil means no tools.
	Tools *tools.Set

	// Programs is a folder of saved programs, which are tools as well: see [WithPrograms]. The reasons why programs are
	// left out are logged as warnings. Empty means no saved programs.
	Programs string

	// Instructions tells the model how to work. If empty, general instructions are used.
	Instructions string

	// Module configures the CodeAct. The zero value of every field is its default.
	Module module.Options
}

// An Agent carries out tasks. It is a [module.Module] and safe for concurrent use.
type Agent struct {
	// Module writes and runs the programs. Its Predictor is the agent's Predictor.
	Module *module.CodeAct[Task, Answer]

	signature *signature.Signature[Task, Answer]
}

// Task is the input to an [Agent].
type Task struct {
	// History is the conversation so far, from the oldest turn to the newest. It may be nil. [Agent.Turn] makes a turn.
	// For a conversation in which programs can use variables of earlier turns, use a [module.Chat].
	History signature.History `json:"history,omitempty" jsonschema:"description=earlier tasks with their answers"`

	// Task describes what to do.
	Task string `json:"task" jsonschema:"description=what is to be done"`
}

// Answer is the output of an [Agent].
type Answer struct {
	// Answer says in words what was found or done.
	Answer string `json:"answer" jsonschema:"description=what was found or done; for the person who gave the task"`
}

const general = "Do the task. Look before you act, and do only what the task asks for. Then report what you found " +
	"or did, with the facts that matter."

// New returns an agent. It returns an error if the model or Options.Sandbox is nil, or if the folder Options.Programs
// cannot be used.
func New(model llms.Model, o *Options) (*Agent, error) {
	if model == nil {
		return nil, errors.New("agent: the model is missing; open one with models.Open, or pass a langchaingo model")
	}
	if o == nil || o.Sandbox == nil {
		return nil, errors.New("agent: Options.Sandbox is not set; create one with sandbox.New, and close it when done")
	}
	instructions := o.Instructions
	if instructions == "" {
		instructions = general
	}
	sig, err := signature.New[Task, Answer](instructions)
	if err != nil {
		return nil, err
	}
	settings, set := o.Module, o.Tools
	if o.Programs != "" {
		var leftOut []error
		if set, leftOut, err = WithPrograms(context.Background(), set, o.Programs, o.Sandbox, &settings); err != nil {
			return nil, err
		}
		for _, e := range leftOut {
			cmp.Or(settings.Logger, slog.Default()).Warn(e.Error())
		}
	}
	settings.Kind = cmp.Or(settings.Kind, "Agent")
	return &Agent{Module: module.NewCodeAct(sig, model, o.Sandbox, set, &settings), signature: sig}, nil
}

// ErrNoTask is returned for a task without text.
var ErrNoTask = errors.New("agent: the task is empty; say what to do")

var errNotMade = errors.New("agent: the Agent is nil or empty; create one with New, and check New's error")

// Run carries out a task. The error is [ErrNoTask] or an error returned by [module.CodeAct.Run]. An
// *[module.IncompleteError] contains a record of everything that was done.
func (a *Agent) Run(ctx context.Context, in Task) (*module.Prediction[Answer], error) {
	if a == nil || a.Module == nil {
		return nil, errNotMade
	}
	if strings.TrimSpace(in.Task) == "" {
		return nil, ErrNoTask
	}
	return a.Module.Run(ctx, in)
}

// Turn returns a turn for [Task.History], which consists of a task and its answer.
func (a *Agent) Turn(in Task, out Answer) (signature.Values, error) {
	if a == nil || a.signature == nil {
		return nil, errNotMade
	}
	return a.signature.Turn(in, out)
}

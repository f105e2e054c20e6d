package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
)

const (
	taskInput = `{
  "type": "object",
  "properties": {
    "task": {"type": "string", "minLength": 1, "description": "What is to be done, in words, with everything that one has to know for it."},
    "environment": {"type": "string", "description": "The name of an environment: the programs may then be TypeScript, and import its npm packages."},
    "steps": {"type": "integer", "minimum": 1, "description": "How many programs may be written."},
    "tokens": {"type": "integer", "minimum": 1, "description": "How many tokens the model may read and write in all."},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000000, "description": "Seconds it may take. The server's own limits still hold."}
  },
  "required": ["task"],
  "additionalProperties": false
}`
	taskOutput = `{
  "type": "object",
  "properties": {
    "success": {"type": "boolean"},
    "answer": {"type": "string"},
    "error_type": {"type": "string", "description": "If there is no answer: TIMEOUT, STEPS, BUDGET, MODEL, INVALID_ARGUMENT or FAILED."},
    "error": {"type": "string"},
    "duration_ms": {"type": "number"},
    "steps": {
      "type": "array",
      "description": "The programs that were written, and what came of them.",
      "items": {
        "type": "object",
        "properties": {"code": {"type": "string"}, "observation": {"type": "string"}},
        "required": ["code"]
      }
    },
    "usage": {
      "type": "object",
      "properties": {
        "calls": {"type": "integer"},
        "input_tokens": {"type": "integer"},
        "output_tokens": {"type": "integer"}
      },
      "required": ["calls", "input_tokens", "output_tokens"]
    },
    "calls": {
      "type": "array",
      "description": "The tool calls that were made, in order, whether or not there is an answer.",
      "items": {
        "type": "object",
        "properties": {
          "tool": {"type": "string"},
          "state": {"type": "string"},
          "args": {"type": "string", "description": "The arguments, in part."},
          "error": {"type": "string"}
        },
        "required": ["tool", "state", "args"]
      }
    }
  },
  "required": ["success", "duration_ms", "steps", "usage", "calls"]
}`
)

type taskArgs struct {
	Task    string  `json:"task"`
	Steps   int     `json:"steps"`
	Tokens  int     `json:"tokens"`
	Timeout float64 `json:"timeout"`

	Environment string `json:"environment"`
}

// report is the result of a task.
type report struct {
	Success    bool         `json:"success"`
	Answer     string       `json:"answer,omitempty"`
	ErrorType  string       `json:"error_type,omitempty"`
	Error      string       `json:"error,omitempty"`
	DurationMS float64      `json:"duration_ms"`
	Steps      []taskStep   `json:"steps"`
	Usage      module.Usage `json:"usage"`
	Calls      []effect     `json:"calls"`
}

func (r report) failed() bool { return !r.Success }

type taskStep struct {
	Code        string `json:"code"`
	Observation string `json:"observation,omitempty"`
}

type effect struct {
	Tool  string `json:"tool"`
	State string `json:"state"`
	Args  string `json:"args"`
	Error string `json:"error,omitempty"`
}

func (c *client) taskTool() tool {
	return offer(mcp.Tool{
		Name:  "run_task",
		Title: "Do a task",
		Description: "Do a task that is given in words: a model of the server's writes programs, with the tools that " +
			"execute_code has, until it can answer.",
		InputSchema:  json.RawMessage(taskInput),
		OutputSchema: json.RawMessage(taskOutput),
		Annotations:  hints(mcp.ToolAnnotations{}, true, true),
	}, c.runTask).telling(func(p *problem) any {
		return report{ErrorType: p.kind, Error: p.message, Steps: []taskStep{}, Calls: []effect{}}
	})
}

func (c *client) runTask(ctx context.Context, r *mcp.CallToolRequest, in taskArgs) (done report, err error) {
	if strings.TrimSpace(in.Task) == "" {
		return report{}, invalid("the task is empty; say what to do")
	}
	err = c.app.tasks.Do(ctx, c.principal.Name, func(ctx context.Context) error {
		done, err = c.runTaskNow(ctx, r, in)
		return err
	})
	return done, forModel(err)
}

func (c *client) runTaskNow(ctx context.Context, r *mcp.CallToolRequest, in taskArgs) (report, error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return report{}, err
	}
	defer release()
	compiler, err := c.compiler(ctx, program{Environment: in.Environment})
	if err != nil {
		return report{}, err
	}
	most := c.app.settings.task.within(in)
	model := models.NewBudget(models.Limits{Tokens: most.tokens}).Model(c.app.model, c.app.settings.model)
	bot, err := agent.New(model, &agent.Options{Sandbox: queued{c}, Tools: view.set, Module: module.Options{
		// the catalog has logged the warnings
		MaxIters: most.steps, Compiler: compiler, OnEvent: taskProgress(ctx, r), Logger: slog.New(slog.DiscardHandler),
	}})
	if err != nil {
		return report{}, err
	}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, most.time, errTaskTime)
	defer cancel()
	pred, err := bot.Run(ctx, agent.Task{Task: in.Task})
	if err != nil {
		c.app.log.Warn("a task has no answer", "err", err)
	}
	report, err := newReport(ctx, pred, err, time.Since(began))
	report.Error = c.app.hidden.text(report.Error)
	return report, err
}

// queued has the programs of tasks take turns with all others.
type queued struct{ *client }

// Run is of [module.Sandbox].
func (q queued) Run(ctx context.Context, p sandbox.Program) (out *sandbox.Outcome, err error) {
	err = q.app.queue.Do(ctx, q.principal.Name, func(ctx context.Context) error {
		out, err = q.app.box.Run(ctx, p)
		return err
	})
	return out, err
}

// taskLimits bound one task.
type taskLimits struct {
	steps, tokens int
	time          time.Duration
}

// within is what a task may use that asks for less.
func (l taskLimits) within(in taskArgs) taskLimits {
	l.steps, l.tokens = lesser(l.steps, in.Steps), lesser(l.tokens, in.Tokens)
	l.time = lesser(l.time, seconds(in.Timeout))
	return l
}

// lesser returns the smaller of two limits. Zero means no limit.
func lesser[T int | time.Duration](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

var errTaskTime = errors.New("the task took longer than it may")

// newReport says what came of a task. If there is no answer, it says what was done.
// Only what did not come from the task is an error.
func newReport(ctx context.Context, pred *module.Prediction[agent.Answer], err error, took time.Duration) (report,
	error) {
	r := report{Success: err == nil, DurationMS: milliseconds(took), Steps: []taskStep{}, Calls: []effect{}}
	var t module.Trajectory
	if err == nil {
		r.Answer, t = pred.Output.Answer, pred.Trajectory
	} else {
		incomplete, ok := errors.AsType[*module.IncompleteError](err)
		timeout := context.Cause(ctx) == errTaskTime
		if !ok || ctx.Err() != nil && !timeout {
			return r, err
		}
		t = incomplete.Trajectory
		r.ErrorType, r.Error = why(incomplete, timeout)
	}
	r.Usage = t.Usage()
	for _, s := range t.Steps {
		if s.Code != "" || s.Observation != "" { // a model that failed has written none
			r.Steps = append(r.Steps, taskStep{s.Code, s.Observation})
		}
	}
	for _, e := range t.Calls {
		item := effect{Tool: e.Tool, State: string(e.State), Args: cut(string(e.Args), 500)}
		if e.Err != nil {
			item.Error = e.Err.Error()
		}
		r.Calls = append(r.Calls, item)
	}
	return r, nil
}

func why(err *module.IncompleteError, timeout bool) (kind, message string) {
	var model *models.Error
	switch {
	case timeout:
		return "TIMEOUT", errTaskTime.Error()
	case errors.Is(err, module.ErrMaxIters):
		return "STEPS", err.Error()
	case errors.As(err, &model) && model.Kind == models.KindOverBudget:
		return "BUDGET", err.Error()
	case errors.As(err, &model):
		return "MODEL", fmt.Sprintf("the model of the server failed (%v); its log says why", model.Kind)
	}
	return "FAILED", err.Error()
}

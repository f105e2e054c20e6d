package codemode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
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
	Success    bool        `json:"success"`
	Answer     string      `json:"answer,omitempty"`
	ErrorType  string      `json:"error_type,omitempty"`
	Error      string      `json:"error,omitempty"`
	DurationMS float64     `json:"duration_ms"`
	Steps      []taskStep  `json:"steps"`
	Usage      event.Usage `json:"usage"`
	Calls      []effect    `json:"calls"`
}

func (r report) failed() bool { return !r.Success }

// content implements [result]: the answer, or why the task failed and which calls were made.
func (r report) content() []mcp.Content {
	if r.Success {
		return textContent(r.Answer)
	}
	lines := []string{fmt.Sprintf("no answer: %s: %s", r.ErrorType, r.Error)}
	for i, c := range r.Calls {
		if i == 0 {
			lines = append(lines, "\ntool calls:")
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("- %s(%s): %s %s", c.Tool, c.Args, c.State, c.Error)))
	}
	return textContent(strings.Join(lines, "\n"))
}

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
	return offer(definition("run_task"), c.runTask).failing(func(p *problem) result {
		return report{ErrorType: p.kind, Error: p.message, Steps: []taskStep{}, Calls: []effect{}}
	})
}

func (c *client) runTask(ctx context.Context, r *mcp.CallToolRequest, in taskArgs) (done report, err error) {
	if strings.TrimSpace(in.Task) == "" {
		return report{}, invalid("the task is empty; say what to do")
	}
	ctx, tell, end := c.progress(ctx, r)
	defer end()
	err = c.app.tasks.Do(ctx, c.principal.Name, func(ctx context.Context) error {
		done, err = c.runTaskNow(ctx, tell, in)
		return err
	})
	return done, forModel(err)
}

func (c *client) runTaskNow(ctx context.Context, tell func(message string), in taskArgs) (report, error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return report{}, err
	}
	defer release()
	compiler, err := c.compiler(ctx, programArgs{Environment: in.Environment})
	if err != nil {
		return report{}, err
	}
	limits := c.app.options.Task.within(in)
	bot, err := agent.New(c.app.options.Model, &agent.Options{Sandbox: queued{c}, Tools: view.set, Module: module.Options{
		// the catalog has logged the warnings
		MaxIters: limits.Steps, Compiler: compiler, Embedder: c.app.catalog.meaning, OnEvent: c.onEvent(tell),
		Logger: slog.New(slog.DiscardHandler),
	}})
	if err != nil {
		return report{}, err
	}
	began := time.Now()
	ctx = budget.With(ctx, budget.Limits{Tokens: limits.Tokens})
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time, errTaskTime)
	defer cancel()
	pred, err := bot.Run(ctx, agent.Task{Task: in.Task})
	if err != nil {
		c.app.log.Warn("a task has no answer", "err", err)
	}
	report, err := newReport(ctx, pred, err, time.Since(began))
	report.Error = c.app.secrets.text(report.Error)
	return report, err
}

// queued is a sandbox for tasks. Their programs wait in the queue of all programs.
type queued struct{ *client }

// Run implements [module.Sandbox].
func (q queued) Run(ctx context.Context, p sandbox.Program) (out *sandbox.Outcome, err error) {
	err = q.app.queue.Do(ctx, q.principal.Name, func(ctx context.Context) error {
		out, err = q.app.box.Run(ctx, p)
		return err
	})
	return out, err
}

// Check implements [module.Sandbox].
func (q queued) Check(ctx context.Context, p sandbox.Program) (result sandbox.CheckResult, err error) {
	err = q.app.queue.Do(ctx, q.principal.Name, func(ctx context.Context) error {
		result, err = q.app.box.Check(ctx, p)
		return err
	})
	return result, err
}

// within returns a task's limits, which are lower if its client sets lower limits.
func (l TaskLimits) within(in taskArgs) TaskLimits {
	return TaskLimits{lesser(l.Steps, in.Steps), lesser(l.Tokens, in.Tokens), lesser(l.Time, seconds(in.Timeout))}
}

// lesser returns the smaller of two limits. Zero means no limit.
func lesser[T int | time.Duration](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

var errTaskTime = errors.New("the task exceeded its time limit")

// newReport returns the result of a task. If the task has no answer, the result says what was done. Errors
// that the task did not cause are returned as errors.
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
		if s.Code != "" || s.Observation != "" { // empty if the model failed
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
	case errors.Is(err, budget.ErrSpent):
		return "BUDGET", err.Error()
	case errors.As(err, &model):
		return "MODEL", fmt.Sprintf("the server's model failed (%v); the server's log says why", model.Kind)
	}
	return "FAILED", err.Error()
}

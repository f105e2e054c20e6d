package codemode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/internal/imports"
	"github.com/writ-go/writ/internal/evidence"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/sandbox"
)

const languageTS = "typescript"

func (c *client) executeTool(v *view) tool {
	t := definition("execute_code")
	t.Description = c.describeExecute(v)
	return offer(t, c.run).failing(refused)
}

// programArgs are the arguments of a tool that runs a program.
type programArgs struct {
	Code      string                     `json:"code"`
	Variables map[string]json.RawMessage `json:"variables"`
	Timeout   float64                    `json:"timeout"` // seconds
	Session   string                     `json:"session"`
	Language  string                     `json:"language"`
	RetryOf   string                     `json:"retry_of"` // the ID of a run, or noRetry

	Environment string `json:"environment"`
}

// run waits for the client's turn and runs one program with the tools that exist then. Program errors are part of the
// execution, for the model to read.
func (c *client) run(ctx context.Context, r *mcp.CallToolRequest, p programArgs) (e execution, err error) {
	prepared, err := p.prepare()
	if err != nil {
		return execution{}, err
	}
	ctx, tell, end := c.progress(ctx, r)
	defer end()
	prepared.OnCall = c.onCall(tell)
	err = c.app.queue.Do(ctx, c.principal.Name, func(ctx context.Context) error {
		e, err = c.runNow(ctx, r.Session, p, prepared)
		return err
	})
	return e, forModel(err)
}

func (c *client) runNow(ctx context.Context, from *mcp.ServerSession, p programArgs, prepared sandbox.Program) (
	execution, error) {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		return execution{}, err
	}
	defer release()
	prepared.Tools = view.programs
	prepared.Limits.Time = lesser(c.app.box.Limits().Time, seconds(p.Timeout))
	if prepared.Compiler, err = c.compiler(ctx, p); err != nil {
		return execution{}, err
	}
	attempt, err := c.app.runsOf(c.principal.Name).begin(ctx, from, p.RetryOf)
	if err != nil {
		return execution{}, err
	}
	defer attempt.end(false) // after a panic
	prepared.Attempt = attempt
	out, session, err := c.runIn(withNested(ctx, prepared.Limits.Time), p.Session, prepared)
	warnings := attempt.end(err == nil && out.Failure == nil)
	switch {
	case out == nil && errors.Is(err, context.Canceled): // canceled before the program called a tool
		return execution{}, context.Cause(ctx)
	case out == nil:
		return execution{}, err
	}
	out.Warnings = append(out.Warnings, evidence.Unfinished(out.Calls, view.set)...)
	e := newExecution(out)
	e.Session, e.Warnings = session, append(e.Warnings, warnings...)
	c.addHints(p, &e)
	if err != nil && !e.failUnknown(out, err) { // the client must still learn which calls were made
		c.app.log.Error("a program was stopped", "client", c.principal.Name, "err", err)
		e.fail(errorServer,
			"the server stopped the program, which is not the program's fault; calls lists what was done")
	}
	attempt.report(out, &e)
	return e, nil
}

func (p programArgs) prepare() (sandbox.Program, error) {
	if strings.TrimSpace(p.Code) == "" {
		return sandbox.Program{}, invalid("the program is empty; pass JavaScript")
	}
	inputs := make(map[string]any, len(p.Variables))
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) { // sorted, so that the error is always the same
		if !jsonvalue.IsIdentifier(name) || globals.Reserved(name) {
			return sandbox.Program{}, invalid("variables: %q cannot be the name of a constant", name)
		}
		inputs[name] = p.Variables[name]
	}
	return sandbox.Program{Source: p.Code, Inputs: inputs}, nil
}

// runIn runs a program alone or in a session. It returns the session's handle.
func (c *client) runIn(ctx context.Context, session string, p sandbox.Program) (out *sandbox.Outcome, _ string,
	err error) {
	if session == "" {
		out, err = c.app.box.Run(ctx, p)
		return out, "", err
	}
	began := session == "new"
	if began {
		if session, err = c.space().NewSession(ctx); err != nil {
			return nil, "", err
		}
	}
	out, err = c.space().RunSession(ctx, session, c.app.box, p)
	if began && out == nil { // the client does not get the session's handle
		err = errors.Join(err, c.space().RemoveSession(context.WithoutCancel(ctx), session))
	}
	return out, session, err
}

func seconds(n float64) time.Duration {
	if n == 0 {
		return 0
	}
	return max(time.Duration(n*float64(time.Second)), time.Nanosecond)
}

// refused returns the result for a program that was not run.
func refused(p *problem) result {
	e := newExecution(&sandbox.Outcome{})
	e.fail(cmp.Or(p.kind, invalidArgument), p.message)
	return e
}

// compiler returns the compiler for a program. It is nil for JavaScript without imports.
func (c *client) compiler(ctx context.Context, p programArgs) (sandbox.Compiler, error) {
	if p.Environment == "" && p.Language != languageTS {
		return nil, nil
	}
	compiler, err := c.app.compiler()
	if err != nil || p.Environment == "" {
		return compiler, err
	}
	e, err := c.environment(ctx, p.Environment, false)
	if err != nil {
		return nil, err
	}
	names, err := e.packages.Importable()
	tree, treeErr := e.packages.FS()
	if err := cmp.Or(err, treeErr); err != nil {
		return nil, err
	}
	return compiler.With(imports.New(tree, names, c.whyNotImportable(ctx, e))), nil
}

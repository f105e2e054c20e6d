package typescript

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/writ-go/writ/internal/bundling"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/lru"
	"github.com/writ-go/writ/sandbox/internal/worker"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
)

// Options configures a [Compiler]. A zero field means its default.
type Options struct {
	// Time is how long one step may take; default 10 s. Compiling a program takes one step, and a second step
	// if the program's imports are not cached.
	Time time.Duration

	// Memory is the number of bytes that a worker may use in addition to its own needs;
	// default 512 MiB.
	Memory int64

	// Workers is the maximum number of processes, each of which compiles one program at a
	// time. Default 2.
	Workers int

	// Command starts a dedicated worker program instead of the running executable. It must
	// import this package and must not do anything else.
	Command []string

	// FullIsolation is as in [sandbox.Options].
	FullIsolation bool
}

// withDefaults returns a copy with defaults.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if min(c.Time, time.Duration(c.Memory), time.Duration(c.Workers)) < 0 {
		return c, fmt.Errorf("typescript: an option is negative: %+v; use zero for the default", c)
	}
	c.Time = cmp.Or(c.Time, 10*time.Second)
	c.Memory = cmp.Or(c.Memory, 512<<20)
	c.Workers = cmp.Or(c.Workers, 2)
	return c, nil
}

// Compiler compiles TypeScript programs in worker processes that it owns. It is safe for
// concurrent use.
type Compiler struct {
	options   Options
	pool      *workers.Pool
	packages  bundling.Packages          // nil if programs may import nothing
	libraries lru.Cache[string, library] // keyed by the imports
}

// New returns a compiler, which the caller must close. Nil options mean the defaults. New
// starts one worker and returns an error if that fails.
func New(o *Options) (*Compiler, error) {
	options, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	pool, err := workers.NewPool(workers.Options{
		Kind: kind, Memory: options.Memory, Max: options.Workers, Command: options.Command,
		MinIsolation: worker.Require(options.FullIsolation),
	})
	if err != nil {
		return nil, fmt.Errorf("typescript: %w", err)
	}
	return &Compiler{options: options, pool: pool}, nil
}

// ErrClosed is returned by a compiler that has been closed.
var ErrClosed = errors.New("typescript: the compiler has been closed")

var errNotMade = errors.New("typescript: this Compiler is nil or empty; create one with New and check the error " +
	"that New returns")

// Ready returns an error if the compiler is closed ([ErrClosed]) or was not created by
// New. Modules call it before they call a model.
func (c *Compiler) Ready() error {
	switch {
	case c == nil || c.pool == nil:
		return errNotMade
	case c.pool.Closed():
		return ErrClosed
	}
	return nil
}

// Close waits until the workers have finished their tasks, and ends them. It may be called more than once.
func (c *Compiler) Close() error {
	if c == nil || c.pool == nil {
		return nil
	}
	return c.pool.Close()
}

// Compile implements [sandbox.Compiler]. Its error is [ErrClosed], ctx's error, or the reason why no worker can be
// started.
func (c *Compiler) Compile(ctx context.Context, source string) (*sandbox.Compiled, error) {
	if c == nil || c.pool == nil {
		return nil, errNotMade
	}
	var t transformed
	findings, err := c.run(ctx, task{Program: source}, fileHost{}, &t)
	if err == nil && findings == nil {
		findings = findingsOf(t.Faults)
	}
	if err == nil && findings == nil {
		findings = c.refused(t.Imports)
	}
	if err != nil || findings != nil {
		return &sandbox.Compiled{Findings: findings}, err
	}
	compiled := &sandbox.Compiled{Source: t.Source, Map: []byte(t.Map)}
	if len(t.Imports) > 0 {
		compiled.Library, compiled.Findings, err = c.library(ctx, t.Imports)
	}
	return compiled, err
}

// With returns a compiler that uses the workers of c, for programs that may also import
// packages. Only package agent/codemode, which installs and finds the packages, can call it.
func (c *Compiler) With(p bundling.Packages) sandbox.Compiler {
	if c == nil {
		c = &Compiler{}
	}
	return &Compiler{options: c.options, pool: c.pool, packages: p}
}

// run executes a task in a worker and decodes the result into answer. Errors in the program or
// its packages are findings.
func (c *Compiler) run(ctx context.Context, t task, host engine.Host, answer any) ([]sandbox.Finding, error) {
	request, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("typescript: %w", err)
	}
	job := &engine.Job{
		Inputs: []engine.Input{{Name: "task", JSON: request}}, Tools: fileTools,
		Limits: engine.Limits{Time: c.options.Time, Memory: c.options.Memory, Output: maxAnswer},
	}
	result, err := c.pool.Run(ctx, nil, job, host)
	switch {
	case errors.Is(err, workers.ErrClosed):
		return nil, ErrClosed
	case err != nil:
		return nil, fmt.Errorf("typescript: %w", err)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("typescript: %w", context.Cause(ctx))
	case result.Failure != nil:
		return []sandbox.Finding{failed(result.Failure, c.options.Time)}, nil
	}
	if err := json.Unmarshal(result.Value, answer); err != nil {
		return nil, fmt.Errorf("typescript: the worker's answer: %w", err)
	}
	return nil, nil
}

// failed returns the finding for a worker that failed.
func failed(f *engine.Failure, limit time.Duration) sandbox.Finding {
	const simpler = "write a simpler program, and import less"
	switch f.Kind {
	case engine.KindTimeout:
		return sandbox.Finding{Kind: sandbox.KindTimeout,
			Message: fmt.Sprintf("compiling the program took longer than %v", limit), Hint: simpler}
	case engine.KindMemory:
		return sandbox.Finding{Kind: sandbox.KindMemoryLimit, Message: "the compiler ran out of memory", Hint: simpler}
	case engine.KindTooLarge:
		return sandbox.Finding{Kind: "source_limit", Message: f.Message, Hint: simpler}
	}
	return sandbox.Finding{Kind: sandbox.KindSyntax,
		Message: "the compiler cannot parse the program; it may be nested too deeply", Hint: simpler}
}

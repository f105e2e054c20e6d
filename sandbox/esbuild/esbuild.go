package esbuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
)

// Options configures a [Bundler]. A zero field means its default.
type Options struct {
	// Time is how long one step may take; default 10 s. A program takes one step, and
	// another if it imports something that is not known yet.
	Time time.Duration

	// Memory is how many bytes a worker may use beyond what it needs itself;
	// default 512 MiB.
	Memory int64

	// Workers is how many processes there are at most, each compiling one program
	// at a time; further ones wait. Default 2.
	Workers int

	// Files and Bytes are how many files of packages one program may be made of, and
	// what these have together; default 4,000 and 32 MiB.
	Files, Bytes int

	// Libraries is how many bundles each compiler of Packages keeps, for programs with
	// the same imports; default 32. Together they have 32 MiB at most.
	Libraries int

	// Command starts a dedicated worker program instead of the running executable.
	// It must import this package and may do nothing else.
	Command []string

	// InheritEnv and MinIsolation are as in [sandbox.Options].
	InheritEnv   []string
	MinIsolation sandbox.Isolation
}

// withDefaults is a copy with nothing left open.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	if min(c.Time, time.Duration(c.Memory), time.Duration(c.Workers), time.Duration(c.Files), time.Duration(c.Bytes),
		time.Duration(c.Libraries)) < 0 {
		return c, fmt.Errorf("esbuild: an option is negative: %+v; leave it zero for the default", c)
	}
	c.Time = or(c.Time, 10*time.Second)
	c.Memory = or(c.Memory, 512<<20)
	c.Workers = or(c.Workers, 2)
	c.Files, c.Bytes = or(c.Files, 4000), or(c.Bytes, 32<<20)
	c.Libraries = or(c.Libraries, 32)
	return c, nil
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Bundler compiles TypeScript, in worker processes that it owns. It is a
// [sandbox.Compiler] of programs that import nothing; [Bundler.Packages] makes one
// for those that do. It is safe for concurrent use.
type Bundler struct {
	options Options
	pool    *workers.Pool
	alone   *packages
}

// New returns a bundler, which the caller closes. Nil options are the defaults. It
// starts one worker at once, and returns an error that says why if that fails.
func New(o *Options) (*Bundler, error) {
	options, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	pool, err := workers.NewPool(workers.Options{
		Kind: kind, Memory: options.Memory, Max: options.Workers, Command: options.Command,
		InheritEnv: options.InheritEnv, MinIsolation: worker.Isolation(options.MinIsolation),
	})
	if err != nil {
		return nil, fmt.Errorf("esbuild: %w", err)
	}
	b := &Bundler{options: options, pool: pool}
	b.alone = newPackages(b, nil, nil, nil)
	return b, nil
}

// ErrClosed is returned by compilers of a bundler that has been closed.
var ErrClosed = errors.New("esbuild: the bundler has been closed")

var errNotMade = errors.New("esbuild: this bundler is nil or empty; make one by New, and look at the error that " +
	"it returned")

// Ready says why nothing can be compiled, if so: the bundler is closed, which is
// [ErrClosed], or was not made by New. Modules ask for it before they ask a model.
func (b *Bundler) Ready() error {
	switch {
	case b == nil || b.pool == nil:
		return errNotMade
	case b.pool.Closed():
		return ErrClosed
	}
	return nil
}

// Close ends the workers, after what they are doing. It may be called again.
func (b *Bundler) Close() error {
	if b == nil || b.pool == nil {
		return nil
	}
	return b.pool.Close()
}

// Compile implements [sandbox.Compiler]: TypeScript without imports. It returns
// [ErrClosed], the error of a ctx that is done, or why no worker can be started.
func (b *Bundler) Compile(ctx context.Context, source string) (*sandbox.Compiled, error) {
	if b == nil || b.pool == nil {
		return nil, errNotMade
	}
	return b.alone.Compile(ctx, source)
}

// Packages returns a compiler of TypeScript programs that may import the named
// npm packages from root/node_modules, and nothing else; these may import whatever
// their package.json says. Only regular files in node_modules are read, and no
// symbolic link is followed if root tells of them, as [os.DirFS] and [os.Root.FS]
// do. Nothing of a package but its code is run.
//
// What was made of a package is used again until a package.json that was read, or
// node_modules/.package-lock.json, has changed: that is what installing changes.
func (b *Bundler) Packages(root fs.FS, allow []string) sandbox.Describer {
	return newPackages(b, root, allow, nil)
}

// PackagesOr is [Bundler.Packages] for hosts that know more of the packages that may
// not be imported, or are not there. It asks why of each that a program imports, but
// for the modules of Node: for what the finding is to say, and for its hint, without
// which it lists what may be imported. An empty message leaves the finding as it is.
// why changes nothing of what can be imported, and is called concurrently if the
// compiler is.
func (b *Bundler) PackagesOr(root fs.FS, allow []string,
	why func(name string) (message, hint string)) sandbox.Describer {
	return newPackages(b, root, allow, why)
}

// run has a worker do a task. What the text is guilty of is a finding.
func (b *Bundler) run(ctx context.Context, t task, host engine.Host, answer any) ([]sandbox.Finding, error) {
	request, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("esbuild: %w", err)
	}
	job := &engine.Job{
		Inputs: []engine.Input{{Name: "task", JSON: request}}, Tools: fileTools,
		Limits: engine.Limits{Time: b.options.Time, Memory: b.options.Memory, Output: maxAnswer},
	}
	result, err := b.pool.Run(ctx, job, host)
	switch {
	case errors.Is(err, workers.ErrClosed):
		return nil, ErrClosed
	case err != nil:
		return nil, fmt.Errorf("esbuild: %w", err)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("esbuild: %w", context.Cause(ctx))
	case result.Failure != nil:
		return []sandbox.Finding{failed(result.Failure, b.options.Time)}, nil
	}
	if err := json.Unmarshal(result.Value, answer); err != nil {
		return nil, fmt.Errorf("esbuild: the worker's answer: %w", err)
	}
	return nil, nil
}

// failed says why a worker did not come to an end.
func failed(f *engine.Failure, limit time.Duration) sandbox.Finding {
	const simpler = "write a simpler program, and import less"
	switch f.Kind {
	case engine.Timeout:
		return sandbox.Finding{Kind: sandbox.KindTimeout, Message: fmt.Sprintf("compiling the program took longer than %v",
			limit), Hint: simpler}
	case engine.Memory:
		return sandbox.Finding{Kind: sandbox.KindMemoryLimit, Message: "the compiler ran out of memory", Hint: simpler}
	case engine.TooLarge:
		return sandbox.Finding{Kind: sandbox.KindSourceLimit, Message: f.Message, Hint: simpler}
	}
	return sandbox.Finding{Kind: sandbox.KindSyntax,
		Message: "the compiler cannot make sense of the program: it is nested too deep, or worse", Hint: simpler}
}

package esbuild

import (
	"cmp"
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
	// Time is how long one step may take; default 10 s. A program needs one step, and a
	// second one if its imports are not cached.
	Time time.Duration

	// Memory is the number of bytes that a worker may use in addition to its own needs;
	// default 512 MiB.
	Memory int64

	// Workers is the maximum number of processes, each of which compiles one program at a
	// time. Default 2.
	Workers int

	// Files and Bytes limit the number and total size of the files that one program may
	// import; default 4,000 and 32 MiB.
	Files, Bytes int

	// Libraries is the number of bundles that each compiler of Packages caches, for
	// programs with the same imports; default 32. Their total size is at most 32 MiB.
	Libraries int

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
	if min(c.Time, time.Duration(c.Memory), time.Duration(c.Workers), time.Duration(c.Files), time.Duration(c.Bytes),
		time.Duration(c.Libraries)) < 0 {
		return c, fmt.Errorf("esbuild: an option is negative: %+v; use zero for the default", c)
	}
	c.Time = cmp.Or(c.Time, 10*time.Second)
	c.Memory = cmp.Or(c.Memory, 512<<20)
	c.Workers = cmp.Or(c.Workers, 2)
	c.Files, c.Bytes = cmp.Or(c.Files, 4000), cmp.Or(c.Bytes, 32<<20)
	c.Libraries = cmp.Or(c.Libraries, 32)
	return c, nil
}

// Bundler compiles TypeScript in worker processes that it owns. It is a [sandbox.Compiler]
// for programs without imports; for programs with imports, see [Bundler.Packages]. It is
// safe for concurrent use.
type Bundler struct {
	options Options
	pool    *workers.Pool
	alone   *packages
}

// New returns a bundler, which the caller must close. Nil options mean the defaults. New
// starts one worker and returns an error if that fails.
func New(o *Options) (*Bundler, error) {
	options, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	pool, err := workers.NewPool(workers.Options{
		Kind: kind, Memory: options.Memory, Max: options.Workers, Command: options.Command,
		MinIsolation: worker.Require(options.FullIsolation),
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

var errNotMade = errors.New("esbuild: this Bundler is nil or empty; create one with New and check the error " +
	"that New returns")

// Ready returns an error if the bundler is closed ([ErrClosed]) or was not created by
// New. Modules call it before they call a model.
func (b *Bundler) Ready() error {
	switch {
	case b == nil || b.pool == nil:
		return errNotMade
	case b.pool.Closed():
		return ErrClosed
	}
	return nil
}

// Close ends the workers when they have finished their work. It may be called more than
// once.
func (b *Bundler) Close() error {
	if b == nil || b.pool == nil {
		return nil
	}
	return b.pool.Close()
}

// Compile implements [sandbox.Compiler] for TypeScript without imports. Its error is
// [ErrClosed], the error of ctx, or the reason why no worker can be started.
func (b *Bundler) Compile(ctx context.Context, source string) (*sandbox.Compiled, error) {
	if b == nil || b.pool == nil {
		return nil, errNotMade
	}
	return b.alone.Compile(ctx, source)
}

// Packages returns a compiler of TypeScript programs that may import the named npm packages
// from root/node_modules, and no others. The packages may import the dependencies that
// their package.json lists. Only regular files in node_modules are read. Symbolic links are
// not followed if root reports them, as [os.DirFS] and [os.Root.FS] do. Scripts of packages
// do not run.
//
// Bundles are cached until node_modules/.package-lock.json or a package.json that was
// read has changed.
func (b *Bundler) Packages(root fs.FS, allow []string) sandbox.Describer {
	return newPackages(b, root, allow, nil)
}

// PackagesOr is like [Bundler.Packages], for hosts that can explain why a package cannot
// be imported. It calls why for each package that a program imports and that is not
// allowed or not installed, except for the modules of Node.js. why returns the message
// and hint of the finding. An empty message keeps the default finding; an empty hint
// keeps the list of available packages. why may be called concurrently.
func (b *Bundler) PackagesOr(root fs.FS, allow []string, why func(name string) (message,
	hint string)) sandbox.Describer {
	return newPackages(b, root, allow, why)
}

// run executes a task in a worker. Errors in the program or its packages are findings.
func (b *Bundler) run(ctx context.Context, t task, host engine.Host, answer any) ([]sandbox.Finding, error) {
	request, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("esbuild: %w", err)
	}
	job := &engine.Job{
		Inputs: []engine.Input{{Name: "task", JSON: request}}, Tools: fileTools,
		Limits: engine.Limits{Time: b.options.Time, Memory: b.options.Memory, Output: maxAnswer},
	}
	result, err := b.pool.Run(ctx, nil, job, host)
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

package temporal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Options configures an [Agent]. The Store and the Objects are required. All workers of an agent need the same options,
// except for Cached and CacheFor.
type Options struct {
	// Store keeps the journals of the runs. All workers must reach it.
	Store journal.Store

	// Objects keeps large values. All workers must reach it.
	Objects Objects

	// Tools are the tools whose calls are activities. The module has them, too, with its policies. Other tools are
	// called within [Agent]'s activity Advance. No module within the run may have another tool with the same path.
	Tools *tools.Set

	// Version separates workers whose modules behave differently, such as those with other tools or instructions: runs
	// stay with workers that have the same Version. The default is "".
	Version string

	// Queue, if set, names the task queue for the calls of a tool, by its path. If Queue is nil or returns "", the call
	// is made by the workers of the agent. See [Agent.RegisterTools].
	Queue func(tool string) string

	// CallTimeout and AskTimeout limit an attempt of a call and of a request. Zero means 10 minutes. If a call whose
	// class is Effect or Unclassified takes longer, its outcome is unknown.
	CallTimeout, AskTimeout time.Duration

	// Heartbeat is the time after which a worker that does not answer counts as ended. Its calls of class Effect and
	// Unclassified are then unknown; other activities are tried again elsewhere. Zero means 30 seconds.
	Heartbeat time.Duration

	// Attempts is the number of attempts of requests, and of calls whose class is Read or Idempotent. Zero means 5.
	Attempts int

	// Cached is the number of runs that a worker keeps in memory while it waits for their calls. Zero means 64.
	Cached int

	// CacheFor is how long a worker keeps a run in memory while nothing happens. Until then, no other worker can take
	// the run from a worker that lives. Zero means 30 seconds.
	CacheFor time.Duration
}

// Agent runs a module on Temporal. It is safe for concurrent use.
type Agent struct {
	name    string
	options Options
	tools   map[string]*tools.Binding // by path
	runs    *agent.Runs
	version string
	own     string // the task queue of this process, for the runs that it has in memory
	module  any    // the [module.Module] that New got
	begin   func(ctx context.Context, predictors []byte, run string, input json.RawMessage) (returned, error)
	resume  func(context.Context, []byte, agent.Checkpoint, map[string]agent.Decision) (returned, error)

	mu    sync.Mutex
	lives map[string]*live // by run; guarded by mu
}

// New returns an Agent. The name is that of its workflow, and begins the names of its task queues.
func New[In, Out any](name string, m module.Module[In, Out], o *Options) (*Agent, error) {
	if o == nil || o.Store == nil || o.Objects == nil || name == "" {
		return nil, errors.New("temporal: an agent needs a name, a Store and Objects; set them")
	}
	if o.CallTimeout < 0 || o.AskTimeout < 0 || o.Heartbeat < 0 || o.Attempts < 0 || o.Cached < 0 || o.CacheFor < 0 {
		return nil, errors.New("temporal: an option is negative; set it to zero for its default")
	}
	a := &Agent{name: name, options: *o, lives: map[string]*live{}, version: version(o.Version), module: m,
		tools: map[string]*tools.Binding{}, runs: agent.NewRuns(store{o.Store})}
	a.own = a.TaskQueue() + "-" + rand.Text()[:12]
	for _, b := range o.Tools.Bindings() {
		if b.Module == nil {
			a.tools[b.Path()] = b
		}
	}
	c := &a.options
	c.CallTimeout, c.AskTimeout = cmp.Or(c.CallTimeout, 10*time.Minute), cmp.Or(c.AskTimeout, 10*time.Minute)
	c.Heartbeat = cmp.Or(c.Heartbeat, 30*time.Second)
	c.Attempts, c.Cached, c.CacheFor = cmp.Or(c.Attempts, 5), cmp.Or(c.Cached, 64), cmp.Or(c.CacheFor, 30*time.Second)
	a.begin = func(ctx context.Context, p []byte, run string, input json.RawMessage) (returned, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return returned{}, fmt.Errorf("temporal: the input cannot be decoded: %w", err)
		}
		m, err := with(m, p)
		if err != nil {
			return returned{}, err
		}
		return encoded(agent.Start(ctx, a.runs, run, named[In, Out]{m}, in))
	}
	a.resume = func(ctx context.Context, p []byte, c agent.Checkpoint, d map[string]agent.Decision) (returned, error) {
		m, err := with(m, p)
		if err != nil {
			return returned{}, err
		}
		return encoded(agent.Resume(ctx, a.runs, named[In, Out]{m}, c, d))
	}
	return a, nil
}

// named gives the predictors of a module their paths, for trajectories.
type named[In, Out any] struct{ module module.Module[In, Out] }

// Wrapped returns the module, so that no other one goes on with its runs.
func (n named[In, Out]) Wrapped() any { return n.module }

// Run implements [module.Module].
func (n named[In, Out]) Run(ctx context.Context, in In) (*module.Prediction[Out], error) {
	return module.Run(ctx, n.module, in)
}

// with returns a copy of a module whose predictors have a state that [module.Save] has written, or m if it is nil.
func with[M any](m M, predictors []byte) (M, error) {
	if predictors == nil {
		return m, nil
	}
	c := module.Clone(m)
	return c, module.Load(bytes.NewReader(predictors), c)
}

// returned is what a run returns.
type returned struct {
	output     json.RawMessage
	trajectory module.Trajectory
}

func encoded[Out any](p *module.Prediction[Out], err error) (r returned, _ error) {
	r.trajectory = p.TrajectoryOf(err)
	if err == nil {
		r.output, err = json.Marshal(p.Output)
	}
	return r, err
}

// version returns a hash of what decides how a recorded run is repeated.
func version(definition string) string {
	text := []string{definition, runtime.Version(), runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == "github.com/writ-go/writ" || m.Path == "github.com/dop251/goja" {
				m = cmp.Or(m.Replace, m)
				text = append(text, m.Path, m.Version, m.Sum)
			}
		}
	}
	return digestOf(fmt.Appendf(nil, "%q", text))[:8]
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:8])
}

// TaskQueue returns the name of the task queue for the agent's workflows. It differs between versions of Writ, of its
// engine and of Go, between architectures, and between Options.Version, so that a run stays with workers that can
// repeat it.
func (a *Agent) TaskQueue() string { return a.name + "-" + a.version }

// Register registers the workflow and the activities at a worker for [Agent.TaskQueue].
func (a *Agent) Register(r worker.Registry) {
	r.RegisterWorkflowWithOptions(a.workflow, workflow.RegisterOptions{Name: a.name})
	a.registerRuns(r)
	a.RegisterTools(r)
}

// registerRuns registers the activities for runs in memory.
func (a *Agent) registerRuns(r worker.Registry) {
	r.RegisterActivityWithOptions(a.advance, activity.RegisterOptions{Name: a.name + activityAdvance})
	r.RegisterActivityWithOptions(a.ask, activity.RegisterOptions{Name: a.name + activityAsk})
}

// RegisterTools registers the activity that makes calls, at a worker for a task queue that Options.Queue returns.
func (a *Agent) RegisterTools(r worker.Registry) {
	r.RegisterActivityWithOptions(a.call, activity.RegisterOptions{Name: a.name + activityCall})
}

// Close drops the runs that the process has in memory, so that other workers can take them. Call it after the workers
// have stopped.
func (a *Agent) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for run, l := range a.lives {
		a.drop(run, l)
	}
}

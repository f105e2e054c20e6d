package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/esbuild"
	"github.com/writ-go/writ/sandbox/npm"
	"github.com/writ-go/writ/sandbox/workspace"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/mcptools/serve"
)

const version = "0.1.0"

// app is the state that all clients share.
type app struct {
	settings *settings
	log      *slog.Logger
	hidden   hidden
	catalog  *catalog
	box      *sandbox.Sandbox
	store    *workspace.Store
	passing  string                           // the folder of the store, if it goes with the server; or ""
	bundler  func() (*esbuild.Bundler, error) // started when it is first needed
	bundling chan struct{}                    // closed when it was
	model    llms.Model                       // nil: there is no run_task
	queue    *serve.Queue                     // of programs
	tasks    *serve.Queue
	installs *serve.Queue
	checks   *serve.Queue // of arguments
	clients  clients
}

// open starts everything that the settings want. What it has opened before an error
// is closed again.
func open(ctx context.Context, s *settings, log io.Writer) (_ *app, err error) {
	a := &app{settings: s, bundling: make(chan struct{})}
	a.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: a.hidden.attr}))
	a.bundler = sync.OnceValues(func() (*esbuild.Bundler, error) {
		defer close(a.bundling)
		return esbuild.New(nil)
	})
	a.queue = serve.NewQueue(s.turns())
	a.tasks = a.queue.AddQueue("tasks", &serve.QueueOptions{Running: mostTasks, PerPrincipal: mostTasks / 2})
	a.installs = a.queue.AddQueue("installs",
		&serve.QueueOptions{Running: mostInstalls, PerPrincipal: 1, Wait: npm.DefaultTimeout})
	a.checks = a.queue.AddQueue("checks", &serve.QueueOptions{Running: runtime.GOMAXPROCS(0)})
	defer func() {
		if err != nil {
			a.close()
			err = errors.New(a.hidden.text(err.Error())) // it may quote a server
		}
	}()
	if s.model != "" {
		if a.model, err = s.open(s.model); err != nil {
			return nil, err
		}
	}
	if a.box, err = sandbox.New(s.sandbox()); err != nil {
		return nil, err
	}
	if err = a.openStore(); err != nil {
		return nil, err
	}
	a.catalog, err = openCatalog(ctx, s.config, &a.hidden, s.startup, mcptools.Options{Trust: s.trust, Logger: a.log})
	return a, err
}

// mostTasks is how many tasks are done at the same time, half of them for one client
// at most. They mostly wait for the model.
const mostTasks = 16

// mostInstalls is how many npm run at the same time, one for each client.
const mostInstalls = 2

// programs is how many programs run at the same time.
func (s *settings) programs() int { return cmp.Or(s.workers, max(4, 2*runtime.NumCPU())) }

// turns returns the options of the queue in which programs wait. A program may wait for
// longer than the time limit of one program, so that a client whose programs use all of
// their time delays others but does not cause refusals.
func (s *settings) turns() *serve.QueueOptions {
	return &serve.QueueOptions{Running: s.programs(), Waiting: s.waiting, PerPrincipal: s.each, Wait: s.limits.Time +
		30*time.Second}
}

func (a *app) openStore() (err error) {
	dir := a.settings.storage
	if dir == "" {
		if a.passing, err = os.MkdirTemp("", "writ-"); err != nil {
			return err
		}
		dir = a.passing
	}
	a.store, err = workspace.Open(dir, nil)
	return err
}

func (a *app) close() {
	if a.box != nil {
		a.box.Close()
	}
	select {
	case <-a.bundling:
		if b, err := a.bundler(); err == nil {
			b.Close()
		}
	default:
	}
	if a.catalog != nil {
		a.catalog.close()
	}
	if a.store != nil {
		a.store.Close()
	}
	if a.passing != "" {
		if err := os.RemoveAll(a.passing); err != nil {
			a.log.Error("the folder of this run stays", "err", err)
		}
	}
}

// local is the principal of the client on stdio, and of all clients if there is no
// authentication.
var local = serve.Principal{Name: "local"}

// serve answers clients until ctx is done or, on stdio, the client has gone.
func (a *app) serve(ctx context.Context, o *serve.Options, hup <-chan os.Signal) error {
	beside, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() { stop(); group.Wait() }()
	group.Go(func() { a.catalog.watch(beside, hup, a.updateClients) })
	group.Go(func() { a.sweep(beside) })
	group.Go(func() { a.warnOfPatterns(beside) })
	return serve.Run(ctx, func(p serve.Principal) *mcp.Server { return a.client(p).server }, o)
}

// sweep removes unused files, sessions and environments once a day.
func (a *app) sweep(ctx context.Context) {
	for {
		if _, err := a.store.Sweep(ctx); err != nil && ctx.Err() == nil {
			a.log.Error("sweeping the storage", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(24 * time.Hour):
		}
	}
}

package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/agent/codemode/internal/packages"
	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/sandbox/typescript"
	"github.com/writ-go/writ/tools"
)

// A Server offers code mode to MCP clients. It is safe for concurrent use.
type Server struct {
	options  *Options
	log      *slog.Logger
	secrets  *secrets
	catalog  *catalog
	box      *sandbox.Sandbox
	store    *workspace.Store
	compiler func() (*typescript.Compiler, error) // the first call starts the compiler
	queue    *queue.Queue                         // for programs
	tasks    *queue.Queue
	installs *queue.Queue
	checks   *queue.Queue // for checks of arguments
	clients  clients
	runs     sync.Map // *runs by owner

	closed  atomic.Bool
	close   func() error       // closes the server at the first call
	stop    context.CancelFunc // stops the goroutines in the background
	running sync.WaitGroup     // the goroutines in the background
	closers []func() error
}

// New returns a server, which the caller must close. It does not wait for the servers in [Options.Config]. The error
// lists everything that is wrong with the options, or says what could not be started.
func New(o *Options) (*Server, error) { return open(o, time.Second) }

// open is like New. poll is the interval between checks of the configuration for changes.
func open(o *Options, poll time.Duration) (_ *Server, err error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("codemode: %w", err)
	}
	o = o.defaults()
	s := &Server{options: o, secrets: &secrets{}}
	s.close = sync.OnceValue(s.closeOnce)
	s.log = slog.New(redacting{o.Logger.Handler(), s.secrets})
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	defer func() {
		if err != nil {
			// Remove secrets: the error may quote a server's output.
			err = fmt.Errorf("codemode: %s", s.secrets.text(errors.Join(err, s.Close()).Error()))
		}
	}()
	if err = s.openSandbox(); err != nil {
		return nil, err
	}
	if err = s.openStore(); err != nil {
		return nil, err
	}
	s.openQueues()
	if s.catalog, err = openCatalog(ctx, s, poll); err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.catalog.close, s.closeRuns)
	if err = s.loadRuns(ctx); err != nil {
		return nil, err
	}
	s.running.Go(func() { s.catalog.watch(ctx, s.updateClients) })
	s.running.Go(func() { s.sweep(ctx) })
	return s, nil
}

func (s *Server) openSandbox() (err error) {
	if s.box = s.options.Sandbox; s.box == nil {
		if s.box, err = sandbox.New(nil); err != nil {
			return err
		}
		s.closers = append(s.closers, s.box.Close)
	}
	compiler := sync.OnceValues(func() (*typescript.Compiler, error) {
		if err := s.usable(); err != nil {
			return nil, err
		}
		return typescript.New(nil)
	})
	s.closers = append(s.closers, func() error {
		if c, err := compiler(); err == nil { // a closed server does not start a compiler
			return c.Close()
		}
		return nil
	})
	s.compiler = compiler
	return nil
}

func (s *Server) openStore() (err error) {
	dir := s.options.Storage
	remove := func() error { return nil }
	if dir == "" {
		if dir, err = os.MkdirTemp("", "writ-"); err != nil {
			return err
		}
		remove = func() error { return os.RemoveAll(dir) }
	}
	if s.store, err = workspace.Open(dir); err != nil {
		return errors.Join(err, remove())
	}
	s.closers = append(s.closers, s.store.Close, remove)
	return nil
}

// maxTasks is the maximum number of tasks that run at once. Each principal may run half as many. Tasks mostly
// wait for the model.
const maxTasks = 16

// maxInstalls is the maximum number of installations that run at once. Each principal may run one.
const maxInstalls = 2

func (s *Server) openQueues() {
	s.queue = queue.New(s.queueOptions())
	s.tasks = s.queue.AddQueue("tasks", &queue.Options{Running: maxTasks, PerPrincipal: maxTasks / 2})
	s.installs = s.queue.AddQueue("installs",
		&queue.Options{Running: maxInstalls, PerPrincipal: 1, Wait: packages.Timeout})
	s.checks = s.queue.AddQueue("checks", &queue.Options{Running: runtime.GOMAXPROCS(0)})
}

func (s *Server) queueOptions() *queue.Options {
	o := s.options.Queue
	o.MeterProvider = s.options.MeterProvider
	o.Wait = cmp.Or(o.Wait, s.box.Limits().Time+30*time.Second)
	return &o
}

// Close cancels the programs and tasks that still run, and ends the server's processes and connections. Later calls are
// rejected. To let programs finish, call [Server.Shutdown] first.
func (s *Server) Close() error { return s.close() }

// Shutdown refuses new calls, waits for the calls in progress, and closes the server. When ctx is done, it closes the
// server at once. Calls that it refuses get the error that the server is shutting down.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.queue != nil {
		s.queue.Shutdown(ctx)
	}
	return s.Close()
}

func (s *Server) closeOnce() error {
	s.closed.Store(true)
	s.stop()
	if s.queue != nil {
		s.queue.Stop()
	}
	s.running.Wait()
	var errs []error
	for _, closer := range s.closers {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// SetTools replaces [Options.Tools]. The next program has the new tools, running programs keep their
// tools, and clients are notified. If the error is not nil, nothing has changed.
func (s *Server) SetTools(set *tools.Set) error {
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.catalog.replace(set); err != nil {
		return fmt.Errorf("codemode: %w", err)
	}
	s.updateClients()
	return nil
}

// Reload reads [Options.Config] and connects to its servers again. It does not wait for the connections;
// the log has the result.
func (s *Server) Reload() { notify(s.catalog.reloads) }

// sweep removes unused code files, sessions and environments once a day.
func (s *Server) sweep(ctx context.Context) {
	for {
		if _, err := s.store.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("cannot sweep the storage", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(24 * time.Hour):
		}
	}
}

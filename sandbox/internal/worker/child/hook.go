package child

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// Sandbox is the kind of worker that runs programs with the engine alone.
const Sandbox = "writ-sandbox"

const (
	// Processors is the GOMAXPROCS of a worker. With one processor, a goroutine that
	// has something for another hands it over without a system call.
	Processors = 1
	// Marker begins argv[0] of every worker. An argument is not inherited by
	// what the program starts later, as an environment variable would be.
	Marker = "writ-worker/"
	// TokenEnv holds what hello must repeat.
	TokenEnv = "WRIT_WORKER_TOKEN"
	// StatusFailed is the exit status of a worker that could not begin or go on.
	StatusFailed = 125
)

// Run runs one job, as [engine.Engine.Run] does. The job's tools are shared with later
// runs and must not be changed.
type Run func(ctx context.Context, job *engine.Job, host engine.Host) *engine.Result

// hooks are the kinds of worker that this executable can become. It is written
// by package init only.
var hooks = map[string]bool{}

// Registered reports whether this executable can become workers of the named kind.
func Registered(kind string) bool { return hooks[kind] }

func init() { Hook(Sandbox, new(engine.Engine).Run) }

// Hook makes this executable able to become workers of the named kind. It is
// called from the init of the package that owns the kind, which must not wait
// for its importers: their init runs later, and never in a worker of this kind.
//
// In a process that was started as such a worker, Hook does not return: it gives
// up all that a worker doesn't need, serves runs until the host closes the
// connection, and exits.
func Hook(name string, run Run) {
	hooks[name] = true
	if len(os.Args) > 0 && os.Args[0] == Marker+name {
		become(run)
	}
}

// become makes this process a worker, and ends it.
func become(run Run) {
	defer leave(StatusFailed)
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(os.Stderr, "writ worker: panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err := work(run); err != nil {
		fmt.Fprintln(os.Stderr, "writ worker:", err)
		return
	}
	leave(0)
}

// work serves until the host closes the connection.
func work(run Run) error {
	link, err := attach()
	if err != nil {
		return fmt.Errorf("this is not a worker's place, start the program by its own name: %w", err)
	}
	s := newServer(link, run)
	h, err := s.handshake(os.Getenv(TokenEnv))
	if err != nil {
		return err
	}
	isolation, err := harden.Harden(h.Memory)
	if err != nil {
		return fmt.Errorf("can't be made safe: %w", err)
	}
	if !isolation.MemoryCap {
		s.run = watched(run, h.Memory*harden.MemoryFactor)
	}
	s.growth = newGrowth(h.Memory)
	if err := s.out.Send(worker.KindReady, 0, worker.Ready{Isolation: isolation}); err != nil {
		return err
	}
	return s.serve()
}

// IsWorker says whether the process is, or was started as, a worker of any kind.
func IsWorker() bool {
	return os.Getenv(TokenEnv) != "" || len(os.Args) > 0 && strings.HasPrefix(os.Args[0], Marker)
}

// leave ends the process at once. os.Exit would take a second under the race
// detector.
func leave(status int) { syscall.Exit(status) }

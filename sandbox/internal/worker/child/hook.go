package child

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/vm"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// Sandbox is the kind of worker that runs programs in the engine.
const Sandbox = "writ-sandbox"

const (
	// Processors is the GOMAXPROCS of a worker. With one processor, a goroutine hands
	// data to another without a system call.
	Processors = 1
	// Marker begins argv[0] of every worker. Unlike an environment variable, an argument
	// is not inherited by processes that the program starts later.
	Marker = "writ-worker/"
	// TokenEnv is the environment variable whose value [worker.Hello] must repeat.
	TokenEnv = "WRIT_WORKER_TOKEN"
	// StatusFailed is the exit status of a worker that could not start or continue.
	StatusFailed = 125
)

// Run runs one job, like [engine.Engine.Run]. The job's tools are shared with later runs
// and must not be changed.
type Run func(ctx context.Context, job *engine.Job, host engine.Host) *engine.Result

// kinds is the set of kinds of worker that this executable can become. Only package inits write to it.
var kinds = map[string]bool{}

// Registered reports whether this executable can become a worker of a kind.
func Registered(kind string) bool { return kinds[kind] }

func init() { Hook(Sandbox, new(vm.Engine).Run) }

// Hook registers a kind of worker that this executable can become. It must be called from the init of the
// package that owns the kind, so that the inits of the packages that import it do not run in a worker.
//
// In a process that was started as such a worker, Hook does not return: it hardens the
// process, serves runs until the host closes the connection, and exits.
func Hook(kind string, run Run) {
	kinds[kind] = true
	if len(os.Args) > 0 && os.Args[0] == Marker+kind {
		become(run)
	}
}

// become makes this process a worker until it exits.
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

// work serves runs until the host closes the connection.
func work(run Run) error {
	link, err := attach()
	if err != nil {
		return fmt.Errorf("this process was not started by a host: %w", err)
	}
	s := newServer(link, run)
	h, err := s.handshake(os.Getenv(TokenEnv))
	if err != nil {
		return err
	}
	isolation, err := harden.Harden(h.Memory)
	if err != nil {
		return fmt.Errorf("cannot harden the process: %w", err)
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

// IsWorker reports whether this process was started as a worker of any kind.
func IsWorker() bool {
	return os.Getenv(TokenEnv) != "" || len(os.Args) > 0 && strings.HasPrefix(os.Args[0], Marker)
}

// leave ends the process immediately. os.Exit would take a second under the race detector.
func leave(status int) { syscall.Exit(status) }

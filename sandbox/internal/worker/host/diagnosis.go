package host

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A lack of memory can appear as a failed allocation, a thread that cannot be started, a failed mapping of the
// race detector, a missing page, or a kill by the system. So diagnose assumes a lack of memory unless it finds
// another cause.

// memoryMessages are messages of processes that have run out of memory. They may occur together
// with crashMessages.
var memoryMessages = []string{
	"out of memory", "annot allocate memory", "failed to allocate", "create new OS thread", "pthread_create failed",
}

// crashMessages are messages of Go programs that die although they have enough memory.
var crashMessages = []string{
	"panic:", "writ worker:", "SIGQUIT:", "SIGTRAP:", "fatal error: concurrent map",
	"fatal error: all goroutines are asleep", "fatal error: sync:", "checkptr:",
}

// statusRace is the exit status with which the race detector ends a program.
const statusRace = 66

// diagnose returns why a worker died during a run, given its standard error.
func diagnose(log string, state *os.ProcessState) *engine.Failure {
	if strings.Contains(log, "goroutine stack exceeds") {
		return stackOverflow()
	}
	for _, m := range memoryMessages {
		if strings.Contains(log, m) {
			return engine.OutOfMemory()
		}
	}
	for _, m := range crashMessages {
		if i := strings.Index(log, m); i >= 0 {
			line, _, _ := strings.Cut(log[i:], "\n")
			return crashed(strings.TrimSpace(line))
		}
	}
	if s, ok := signalOf(state); ok {
		switch s {
		case syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGTRAP, syscall.SIGFPE:
			return crashed("it was ended from outside the sandbox")
		}
		if s.String() == "bad system call" {
			return crashed("it made a forbidden system call")
		}
		return engine.OutOfMemory()
	}
	switch state.ExitCode() {
	case 1, 2, statusRace: // 2 is the Go runtime's
		return engine.OutOfMemory()
	}
	return crashed(state.String())
}

// signalOf returns the signal that ended a process.
func signalOf(state *os.ProcessState) (syscall.Signal, bool) {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return 0, false
	}
	return status.Signal(), true
}

func timedOut(limit time.Duration) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.KindTimeout,
		Message: fmt.Sprintf("the program did not end within %v and was killed", limit),
	}
}

func unread(cause error) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.KindMemory,
		Message: "tool results waiting for the program exceed its memory: " + cause.Error(),
		Hint:    "request less data at once, and await a few calls before making more",
	}
}

func stackOverflow() *engine.Failure {
	return &engine.Failure{
		Kind: engine.KindCrashed,
		Message: "stack overflow: a built-in function recursed without end, " +
			"through a value that contains itself or a callback that calls it again",
		Hint: "look for cyclic data passed to flat, JSON.stringify or toString, " +
			"and for deeply nested text passed to JSON.parse or a regular expression",
	}
}

func crashed(how string) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.KindCrashed,
		Message: "the process that ran the program died: " + how,
		Hint:    "write the program in a different way",
	}
}

// failureKinds has the kinds of failure that an engine reports. The value says whether the worker may be used
// again.
var failureKinds = map[string]bool{
	engine.KindSyntax: true, engine.KindRefused: true, engine.KindThrown: true, engine.KindUnawaited: true,
	engine.KindLost:     true,
	engine.KindDeadlock: true, engine.KindBadValue: true, engine.KindDiverged: true, engine.KindStale: true,
	engine.KindTimeout: false, engine.KindStopped: false, engine.KindTooLarge: false, engine.KindMemory: false,
	engine.KindCrashed: false, engine.KindComputeLimit: false,
}

// harmless reports whether a worker may be used again after a run that ended with f.
func harmless(f *engine.Failure) bool { return f == nil || failureKinds[f.Kind] }

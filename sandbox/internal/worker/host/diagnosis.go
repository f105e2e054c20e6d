package host

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// Failures in the words of whoever can mend them: the author of the program.

func overtime(limit time.Duration) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.Timeout,
		Message: fmt.Sprintf("the program did not end within %v and was killed", limit),
	}
}

func stopped() *engine.Failure {
	return &engine.Failure{Kind: engine.Stopped, Message: "the program was stopped"}
}

// A lack of memory has many faces: an allocation, a thread, a mapping of the race
// detector, a page that isn't there, the system's killer, or no time to say
// anything. So whoever dies during a run has died of it, but for what can be told
// apart.

// starved are the words of a lack of memory that other words may come with.
var starved = []string{"out of memory", "annot allocate memory", "failed to allocate", "create new OS thread", "pthread_create failed"}

// broken are what a dying Go program writes that has enough memory.
var broken = []string{
	"panic:", "writ worker:", "SIGQUIT:", "SIGTRAP:", "fatal error: concurrent map", "fatal error: all goroutines are asleep",
	"fatal error: sync:", "checkptr:",
}

// obituary says what a worker died of, during a run, that nobody killed.
func (w *instance) obituary() *engine.Failure { return diagnose(w.log.String(), w.cmd.ProcessState) }

func diagnose(log string, state *os.ProcessState) *engine.Failure {
	if strings.Contains(log, "goroutine stack exceeds") {
		return stackOverflow()
	}
	for _, words := range starved {
		if strings.Contains(log, words) {
			return memoryFailure()
		}
	}
	for _, words := range broken {
		if i := strings.Index(log, words); i >= 0 {
			return crashed(firstLine(log[i:]))
		}
	}
	switch {
	case forbidden(state):
		return crashed("it made a system call that workers may not make")
	case dismissed(state):
		return crashed("something outside the sandbox ended it")
	case signaled(state):
		return memoryFailure()
	}
	switch state.ExitCode() {
	case 1, 2, exitRace: // the runtime's, the race detector's
		return memoryFailure()
	}
	return crashed(state.String())
}

// exitRace is the exit status with which the race detector ends a program.
const exitRace = 66

func unread(cause error) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.Memory,
		Message: "more results of tools waited for the program than its memory could hold: " + cause.Error(),
		Hint:    "ask tools for less at once, and await a few calls before making more",
	}
}

func memoryFailure() *engine.Failure {
	return &engine.Failure{
		Kind:    engine.Memory,
		Message: "the program ran out of memory",
		Hint:    "keep less at once: process in parts, and don't build huge strings or arrays",
	}
}

func stackOverflow() *engine.Failure {
	return &engine.Failure{
		Kind:    engine.Crashed,
		Message: "stack overflow: a built-in function recursed without end, through a value that contains itself or a callback that calls it again",
		Hint:    "look for cyclic data given to flat, JSON.stringify or toString, and for deeply nested text given to JSON.parse or a regular expression",
	}
}

func crashed(how string) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.Crashed,
		Message: "the process that ran the program died: " + how,
		Hint:    "write the program in another way",
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

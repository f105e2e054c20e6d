package worker

import (
	"fmt"
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
	return &engine.Failure{Kind: engine.Stopped, Message: "the run was cancelled"}
}

// traces are what a dying Go program writes, first match wins. A lack of memory
// has many faces: an allocation, a thread, a mapping of the race detector, or the
// collector's, which doesn't look at what it is given (a SIGSEGV without panic).
var traces = []struct{ text, kind string }{
	{"goroutine stack exceeds", engine.Crashed},
	{"out of memory", engine.Memory},
	{"annot allocate memory", engine.Memory},
	{"failed to allocate", engine.Memory},
	{"failed to create new OS thread", engine.Memory},
	{"pthread_create failed", engine.Memory},
	{"panic:", engine.Crashed},
	{"SIGSEGV: segmentation violation", engine.Memory},
	{"unexpected signal", engine.Memory},
	{"fatal error:", engine.Crashed},
}

// obituary says what a worker died of that nobody killed.
func (w *worker) obituary() *engine.Failure {
	log := w.log.String()
	for _, t := range traces {
		if !strings.Contains(log, t.text) {
			continue
		}
		if t.kind == engine.Memory {
			return outOfMemory()
		}
		if t.text == "goroutine stack exceeds" {
			return stackOverflow()
		}
		return crashed(firstLine(log[strings.Index(log, t.text):]))
	}
	if signaled(w.cmd.ProcessState) {
		return outOfMemory() // the system's killer, or a page that wasn't there
	}
	return crashed(w.cmd.ProcessState.String())
}

func unread(cause error) *engine.Failure {
	return &engine.Failure{
		Kind:    engine.Memory,
		Message: "more results of tools waited for the program than its memory could hold: " + cause.Error(),
		Hint:    "ask tools for less at once, and await a few calls before making more",
	}
}

func outOfMemory() *engine.Failure {
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

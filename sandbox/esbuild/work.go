package esbuild

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// kind is that of the workers in which esbuild runs. What it reads, a model or a
// stranger has written, and its parser overflows the stack where that is nested
// deep; so it is in the same cage as programs are.
const kind = "writ-esbuild"

func init() { child.Hook(kind, work) }

// maxAnswer is how much a worker may say at once: a library as JSON, and its map.
const maxAnswer = 8 << 20

// task is what a worker is to do: transform a program, or bundle what programs
// import.
type task struct {
	Program string `json:"program,omitempty"`
	Bundle  []want `json:"bundle,omitempty"`
}

// want is something that a program imports.
type want struct {
	Module  string `json:"module"`            // as written
	Name    string `json:"name,omitempty"`    // the export; "*" for all of them, "" for none
	Dynamic bool   `json:"dynamic,omitempty"` // by import()

	Properties string `json:"properties,omitempty"` // of characters, that the program's patterns name
}

// fault is a finding, as the worker tells of it.
type fault struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Want    int    `json:"want,omitempty"` // of a bundle: which of those wanted, from 1
}

// work runs in the worker.
func work(_ context.Context, job *engine.Job, host engine.Host) *engine.Result {
	if !host.Report(engine.Report{})() {
		return broken("the host refused the task")
	}
	var t task
	if len(job.Inputs) != 1 || json.Unmarshal(job.Inputs[0].JSON, &t) != nil {
		return broken("the task cannot be read")
	}
	var answer any
	if t.Bundle != nil {
		answer = bundle(t.Bundle, &remote{host: host})
	} else {
		answer = transform(t.Program)
	}
	value, err := json.Marshal(answer)
	switch {
	case err != nil:
		return broken(err.Error())
	case len(value) > job.Limits.Output:
		return &engine.Result{Failure: &engine.Failure{
			Kind: engine.TooLarge, Message: fmt.Sprintf("compiled, it has more than %d bytes", job.Limits.Output),
		}}
	}
	return &engine.Result{Value: value}
}

func broken(why string) *engine.Result {
	return &engine.Result{Failure: &engine.Failure{Kind: engine.Crashed, Message: why}}
}

// fileTools is what a worker may ask of the host: see [request].
var fileTools = []engine.Binding{{Namespace: "files", Names: []string{"first"}}}

// request asks for the first of some paths that is a file which may be read. Paths
// are relative to the root of the packages.
type request struct {
	Paths []string `json:"paths"`
}

// found is the answer. Path is "" if none of them is.
type found struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// remote has the files of packages from the host.
type remote struct {
	host engine.Host

	mu    sync.Mutex
	calls int
}

// First implements [files].
func (r *remote) First(paths []string) (found, error) {
	args, err := json.Marshal(request{paths})
	if err != nil {
		return found{}, err
	}
	replies := make(chan engine.Reply, 1)
	r.mu.Lock()
	r.calls++
	perform := r.host.Call(engine.Call{ID: r.calls, Args: args}, func(reply engine.Reply) { replies <- reply })
	r.mu.Unlock()
	if perform != nil {
		perform()
	}
	reply := <-replies
	if reply.Error != nil {
		return found{}, fmt.Errorf("%s", reply.Error.Message)
	}
	var f found
	return f, json.Unmarshal(reply.Value, &f)
}

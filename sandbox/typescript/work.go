package typescript

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/writ-go/writ/internal/bundling"
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// kind is the kind of worker in which esbuild runs. The worker is isolated like a worker for programs, because
// esbuild parses untrusted code, and its parser overflows the stack if the code is nested too deeply.
const kind = "writ-typescript"

func init() { child.Hook(kind, work) }

// maxAnswer bounds the size of a worker's result, which is JSON and includes a program's
// source map.
const maxAnswer = 8 << 20

// task is a task for a worker: transform a program, or bundle what a program imports.
type task struct {
	Program string `json:"program,omitempty"`
	Bundle  []want `json:"bundle,omitempty"`
}

// want is one import of a program.
type want struct {
	Module  string `json:"module"`            // module name, as written in the program
	Name    string `json:"name,omitempty"`    // the export; "*" for all, "" for none
	Dynamic bool   `json:"dynamic,omitempty"` // imported by import()

	Properties string `json:"properties,omitempty"` // character properties in the program's patterns
}

// fault is a finding of a worker.
type fault struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Want    int    `json:"want,omitempty"` // for a bundle, the import's number, from 1
}

// work executes a task in the worker.
func work(_ context.Context, job *engine.Job, host engine.Host) *engine.Result {
	if host.Report(engine.Report{}); !host.Allowed() {
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
			Kind:    engine.KindTooLarge,
			Message: fmt.Sprintf("the compiled program has more than %d bytes", job.Limits.Output),
		}}
	}
	return &engine.Result{Value: value}
}

func broken(why string) *engine.Result {
	return &engine.Result{Failure: &engine.Failure{Kind: engine.KindCrashed, Message: why}}
}

// fileTools has the only tool that a worker can call. The tool takes a [request].
var fileTools = []engine.Binding{{Namespace: "files", Names: []string{"first"}}}

// request asks for the first of some paths that is a readable file. Paths begin with
// node_modules/.
type request struct {
	Paths []string `json:"paths"`
}

// remote reads the package files through the host.
type remote struct {
	host engine.Host

	mu    sync.Mutex
	calls int
}

// First implements [bundling.Files].
func (r *remote) First(paths []string) (bundling.File, error) {
	args, err := json.Marshal(request{paths})
	if err != nil {
		return bundling.File{}, err
	}
	replies := make(chan engine.Reply, 1)
	r.mu.Lock()
	r.calls++
	r.host.Call(engine.Call{ID: r.calls, Args: args}, func(reply engine.Reply) { replies <- reply })
	r.mu.Unlock()
	reply := <-replies
	if reply.Error != nil {
		return bundling.File{}, fmt.Errorf("%s", reply.Error.Message)
	}
	var f bundling.File
	return f, json.Unmarshal(reply.Value, &f)
}

// fileHost is the host of a worker. It gives the worker package files and nothing else. If files is nil, it gives the
// worker no files.
type fileHost struct {
	engine.PassiveHost
	files bundling.Files
}

// Call implements [engine.Host]. It replies before it returns. Therefore a worker that sends requests too fast
// must wait, and no request is in progress when the bundle is complete.
func (s fileHost) Call(c engine.Call, reply func(engine.Reply)) {
	f, err := s.first(c.Args)
	if err != nil {
		reply(engine.Reply{Error: &engine.ToolError{Tool: "files.first", Kind: "failed", Message: err.Error()}})
		return
	}
	value, _ := json.Marshal(f) // it can't fail
	reply(engine.Reply{Value: value})
}

func (s fileHost) first(args json.RawMessage) (bundling.File, error) {
	var r request
	if err := json.Unmarshal(args, &r); err != nil || s.files == nil {
		return bundling.File{}, err
	}
	return s.files.First(r.Paths)
}

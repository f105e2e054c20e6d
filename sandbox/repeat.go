package sandbox

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/sandbox/internal/engine"
	workers "github.com/writ-go/writ/sandbox/internal/worker/host"
	"github.com/writ-go/writ/tools"
)

// recordedSource is everything that decides what a program does, except for its turns and the results of its calls. The
// tools are not part of it, because the recorder compares the calls.
type recordedSource struct {
	Engine  string // versions, the kind of sandbox, and its rules
	Source  string // JavaScript
	Library string // the hash of the library
	Inputs  []engine.Input
	Submit  bool
	Earlier []*engine.Clock // the clocks of the session's earlier programs, which identify their runs
	Limits  Limits          // the limits whose errors programs can catch
}

func (s *Sandbox) recordedSource(job *engine.Job, l Limits) recordedSource {
	source := recordedSource{
		Engine: fmt.Sprintf("%s, %s, %s", s.maker(), runtime.Version(), runtime.GOARCH),
		Source: job.Source, Inputs: job.Inputs, Submit: job.Submit,
		Limits: Limits{Output: l.Output, Argument: l.Argument, Calls: l.Calls},
	}
	if _, ok := s.runner.(*workers.Pool); !ok { // workers use UTC
		for _, month := range []time.Month{time.January, time.July} {
			source.Engine += time.Date(2026, month, 1, 0, 0, 0, 0, time.Local).Format(", -0700")
		}
	}
	if job.Prelude != nil {
		source.Library = job.Prelude.Hash
	}
	if job.Session != nil {
		source.Inputs = slices.Concat(job.Session.Inputs, job.Inputs)
		for _, step := range job.Session.Log {
			source.Earlier = append(source.Earlier, step.Clock)
		}
	}
	return source
}

// startRecording gives the job the clock and the turns of the recorded run that it repeats, or records the clock of a
// new run. It does nothing if the attempt does not record the program.
func (s *Sandbox) startRecording(h *host, job *engine.Job) error {
	recorder, ok := h.program.Attempt.(dispatch.Recorder)
	if !ok || h.checkOnly || !recorder.Records() {
		return nil
	}
	clock := job.Clock
	if clock == nil {
		clock = newClock()
	}
	source, _ := json.Marshal(s.recordedSource(job, h.limits)) // cannot fail
	start, _ := json.Marshal(clock)                            // cannot fail
	recorded, turns, err := recorder.Begin(source, start)
	if err == nil {
		err = jsonvalue.Strictly(recorded, clock) // which a session's step shares
	}
	for i := 0; i < len(turns) && err == nil; i++ {
		var t recordedTurn
		if err = jsonvalue.Strictly(turns[i], &t); t.Stop != nil {
			job.Stop = t.Stop
		} else {
			job.Turns = append(job.Turns, t.Turn)
		}
	}
	if err != nil {
		return tools.Fatal(fmt.Errorf("sandbox: record the program: %w", err))
	}
	h.recorder, job.Record, job.Clock = recorder, true, clock
	return nil
}

// recordedTurn is a turn, or the last event of a program that a limit stopped.
type recordedTurn struct {
	engine.Turn
	Stop *engine.Result `json:"stop,omitempty"`
}

// recordTurns records the turns before a call.
func (h *host) recordTurns(turns []engine.Turn) {
	if h.recorder == nil || len(turns) == 0 {
		return
	}
	list := make([][]byte, len(turns))
	for i, t := range turns {
		list[i], _ = json.Marshal(t) // cannot fail
	}
	h.recorder.Turns(list)
}

// recordEnd records what decides the result of a program: the turns after its last call, and a failure that depends on
// the machine, because a repeated program would go on.
func (h *host) recordEnd(r *engine.Result) {
	h.recordTurns(r.Turns)
	if h.recorder == nil || r.Failure == nil || h.ctx.Err() != nil {
		return
	}
	switch r.Failure.Kind {
	case engine.KindTimeout, engine.KindComputeLimit, engine.KindMemory, engine.KindCrashed:
		stop := *r
		stop.Turns = nil
		text, _ := json.Marshal(recordedTurn{Stop: &stop}) // cannot fail
		h.recorder.Turns([][]byte{text})
	}
}

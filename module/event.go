package module

import (
	"time"

	"github.com/writ-go/writ/sandbox"
)

// Event is something that happened in a run, as it happens: one of [Asked],
// [Replied], [Started], [Called], [Ended].
type Event interface{ event() }

// Asked says that a question goes to the model.
type Asked struct {
	Step   int // from 1
	Prompt string
}

// Replied says that the model answered.
type Replied struct {
	Step     int
	Text     string
	Usage    Usage
	Duration time.Duration
}

// Started says that a program is about to be checked and run.
type Started struct {
	Step int
	Code string
}

// Called says that a tool call has ended.
type Called struct {
	Step int
	Call sandbox.Call
}

// Ended says how a program ended, and what the model is told of it: nothing if
// that was the answer, or the end of the run.
type Ended struct {
	Step        int
	Outcome     *sandbox.Outcome
	Observation string
}

func (Asked) event()   {}
func (Replied) event() {}
func (Started) event() {}
func (Called) event()  {}
func (Ended) event()   {}

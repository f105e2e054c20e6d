package module

import (
	"errors"
	"time"

	"github.com/writ-go/writ/sandbox"
)

const (
	// subCallTime is how long a model may take for an answer.
	subCallTime = time.Minute
	// nestedPrograms is how many programs a run of rlm usually takes.
	nestedPrograms = 4
	// maxProgramTime bounds how long a program may take, whatever it calls.
	maxProgramTime = 24 * time.Hour

	// maxPrompts is how many bytes the prompts of one call may have, and leastPrompts is
	// less than any use of an RLM needs. A program can only put prompts together for which
	// there is memory: promptShare of it.
	maxPrompts, leastPrompts, promptShare = 4 << 20, 64 << 10, 64
)

// programs returns the limits of a program, which waits for models, in a sandbox with the
// limits l. The error says that no program could do what it should.
func (o RLMOptions) programs(l sandbox.Limits) (sandbox.Limits, error) {
	if l == (sandbox.Limits{}) {
		return l, nil // there is no sandbox
	}
	l.Time = max(l.Time, min(l.Time+o.waiting(l.Time), maxProgramTime))
	l.Wait = l.Time
	room := min(maxPrompts, int(l.Memory/promptShare))
	l.Argument = max(l.Argument, room)
	if room < leastPrompts {
		return l, errors.New("module: an RLM keeps texts in the memory of its programs; the sandbox's Limits.Memory must be at least 4 MiB")
	}
	return l, nil
}

// waiting is how long a program may wait for the models that it asks: for each round of
// calls at the same time.
func (o RLMOptions) waiting(own time.Duration) time.Duration {
	each := subCallTime
	if o.Depth > 1 {
		each = min(nestedPrograms*(own+o.nested().waiting(own)), maxProgramTime)
	}
	rounds := (o.MaxCalls + o.Concurrency - 1) / o.Concurrency
	return min(time.Duration(min(rounds, int(maxProgramTime/subCallTime)))*each, maxProgramTime)
}

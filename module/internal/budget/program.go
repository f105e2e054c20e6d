package budget

import (
	"errors"
	"time"

	"github.com/writ-go/writ/sandbox"
)

const (
	subCallTime    = time.Minute    // for the reply of a model
	nestedPrograms = 4              // that a run of rlm usually takes
	maxProgramTime = 24 * time.Hour // for one program

	// A call may have promptBytes of arguments, or a share of the sandbox's memory if that is less; a
	// sandbox with room for less than minPromptBytes is refused.
	promptBytes, promptShare, minPromptBytes = 4 << 20, 64, 64 << 10
)

// Programs returns the limits of a program that makes model calls, given the limits of the sandbox. Depth is the number
// of levels of nested runs.
func (b Limits) Programs(l sandbox.Limits, depth int) (sandbox.Limits, error) {
	l.Time = max(l.Time, min(l.Time+b.waitingTime(l.Time, depth), maxProgramTime))
	l.Wait = l.Time
	room := min(promptBytes, int(l.Memory/promptShare))
	l.Argument = max(l.Argument, room)
	if room < minPromptBytes {
		return l, errors.New("module: an RLM keeps texts in the memory of its programs; " +
			"the sandbox's Limits.Memory must be at least 4 MiB")
	}
	return l, nil
}

// waitingTime returns how long a program with the time limit own may wait for models.
func (b Limits) waitingTime(own time.Duration, depth int) time.Duration {
	each := subCallTime
	if depth > 1 {
		each = min(nestedPrograms*(own+b.waitingTime(own, depth-1)), maxProgramTime)
	}
	rounds := min((b.Calls+b.Concurrency-1)/b.Concurrency, int(maxProgramTime/subCallTime))
	return min(time.Duration(rounds)*each, maxProgramTime)
}

package budget

import (
	"errors"
	"time"

	"github.com/writ-go/writ/sandbox"
)

const (
	subCallTime    = time.Minute    // the time for a model's reply
	maxProgramTime = 24 * time.Hour // the longest time for one program

	// A call's arguments may take promptBytes or 1/promptShare of the sandbox's memory, whichever is less. A sandbox
	// whose memory allows less than minPromptBytes is rejected.
	promptBytes, promptShare, minPromptBytes = 4 << 20, 64, 64 << 10
)

// Programs returns the limits for a program that makes model calls, based on the sandbox's limits.
func (b Limits) Programs(l sandbox.Limits) (sandbox.Limits, error) {
	rounds := min((b.Calls+b.Concurrency-1)/b.Concurrency, int(maxProgramTime/subCallTime))
	l.Time = max(l.Time, min(l.Time+time.Duration(rounds)*subCallTime, maxProgramTime))
	room := min(promptBytes, int(l.Memory/promptShare))
	l.Argument = max(l.Argument, room)
	if room < minPromptBytes {
		return l, errors.New("module: an RLM keeps its inputs in the memory of its programs; " +
			"the sandbox's Limits.Memory must be at least 4 MiB")
	}
	return l, nil
}

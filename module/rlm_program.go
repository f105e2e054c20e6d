package module

import (
	"errors"
	"time"

	"github.com/writ-go/writ/sandbox"
)

const (
	subCallTime    = time.Minute    // the time for a model's reply
	maxProgramTime = 24 * time.Hour // the longest time for one program

	// The arguments of a call, and its result, may take 1/promptShare of the sandbox's memory, since one call of llm
	// can have all prompts of a program. A sandbox with less memory than minMemory is refused.
	promptShare, minMemory = 16, 4 << 20
)

// programs returns the limits for a program that makes model calls, based on the sandbox's limits.
func (o RLMOptions) programs(l sandbox.Limits) (sandbox.Limits, error) {
	rounds := min((o.MaxCalls+o.Concurrency-1)/o.Concurrency, int(maxProgramTime/subCallTime))
	l.Time = max(l.Time, min(l.Time+time.Duration(rounds)*subCallTime, maxProgramTime))
	room := int(min(l.Memory/promptShare, 1<<30))
	l.Argument, l.Result = max(l.Argument, room), max(l.Result, room)
	if l.Memory < minMemory {
		return l, errors.New("module: an RLM keeps its inputs in the memory of its programs; " +
			"the sandbox's Limits.Memory must be at least 4 MiB")
	}
	return l, nil
}

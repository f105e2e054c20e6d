package sandbox

import (
	"cmp"
	"fmt"
	"time"
)

// Limits bounds every run of a sandbox. A zero field means its default; there
// is deliberately no "unlimited".
//
// Compute is processor time, so that a program does not fail because the machine is busy with something else.
// Time is wall time. On Windows, Compute is wall time, too. For [NewInProcess], Compute is the lesser of the wall
// time and the processor time of the whole process, which is nearly the wall time if other goroutines are busy, so set
// a higher limit.
//
// The time in which a program waits for a worker, or for its turn to go on after a call, counts towards no limit. Time
// stands still while the program only waits for calls that have called [tools.Pause], such as calls that a person must
// approve. Such calls do not count towards Concurrency.
//
// Calls that the journal answers, and the calls in [Program].Uncounted, do not count towards Calls. Calls beyond Calls
// are refused. Output keeps the beginning of stdout and stderr.
type Limits struct {
	Time        time.Duration // total time; default 30 s
	Compute     time.Duration // CPU time; default 10 s
	Memory      int64         // bytes that a worker may use in addition to its own needs; default 256 MiB
	Source      int           // bytes of Program.Source; default 64 KiB
	Output      int           // bytes kept of stdout and of stderr, and bytes of the value; default 64 KiB
	Argument    int           // bytes of each tool argument; default: Output
	Calls       int           // tool calls; further calls throw a ToolError of kind "limit"; default 1000
	Concurrency int           // simultaneous tool calls; further calls wait; default 16
	Result      int           // bytes of JSON in one tool result or error; default 4 MiB
	Results     int           // bytes of all results and errors in one run; default 64 MiB
}

func (l Limits) withDefaults() (Limits, error) {
	output := cmp.Or(l.Output, 64<<10)
	limits := l.or(Limits{
		Time: 30 * time.Second, Compute: 10 * time.Second,
		Memory: 256 << 20, Source: 64 << 10, Output: output, Argument: output,
		Calls: 1000, Concurrency: 16, Result: 4 << 20, Results: 64 << 20,
	})
	return limits, l.check()
}

// or returns the limits, with the fields of others in place of zero fields.
func (l Limits) or(others Limits) Limits {
	return Limits{
		Time:        cmp.Or(l.Time, others.Time),
		Compute:     cmp.Or(l.Compute, others.Compute),
		Memory:      cmp.Or(l.Memory, others.Memory),
		Source:      cmp.Or(l.Source, others.Source),
		Output:      cmp.Or(l.Output, others.Output),
		Argument:    cmp.Or(l.Argument, others.Argument),
		Calls:       cmp.Or(l.Calls, others.Calls),
		Concurrency: cmp.Or(l.Concurrency, others.Concurrency),
		Result:      cmp.Or(l.Result, others.Result),
		Results:     cmp.Or(l.Results, others.Results),
	}
}

func (l Limits) check() error {
	switch {
	case min(l.Time, l.Compute, time.Duration(l.Memory), time.Duration(l.Source), time.Duration(l.Output),
		time.Duration(l.Argument), time.Duration(l.Calls), time.Duration(l.Concurrency), time.Duration(l.Result),
		time.Duration(l.Results)) < 0:
		return fmt.Errorf("sandbox: a limit is negative: %+v; use zero for the default", l)
	case max(l.Time, l.Compute) > maxTime:
		return fmt.Errorf("sandbox: a time limit is longer than the maximum of %v: %+v", maxTime, l)
	}
	return nil
}

// maxTime is the longest time limit.
const maxTime = 365 * 24 * time.Hour

package sandbox

import (
	"fmt"
	"time"
)

// Limits bounds every run of a sandbox. A zero field means its default; there
// is no way to say "unlimited".
//
// Compute is time of a processor, so that a program does not fail because the machine
// was busy with something else; Time and Wait are by the clock. On Windows Compute is
// by the clock as well. In process it is the lesser of the clock's time and what the
// whole process took: beside other programs, and work of the host's own, nearly the
// clock's. Give a program more there if many run at once.
//
// Calls that the record answers, and those that are [Program].Uncounted, do not count
// towards Calls. When it is reached, no further call is made. Of stdout and stderr,
// Output keeps the beginning.
type Limits struct {
	Time        time.Duration // from start to end; default 30 s
	Compute     time.Duration // of that, computing; default 10 s
	Wait        time.Duration // of that, waiting for tools and timers; default as Time
	Memory      int64         // bytes that a worker may use beyond what it needs itself; default 256 MiB
	Source      int           // bytes of the program as it was written; default 64 KiB
	Output      int           // bytes kept of stdout and of stderr, and of the value; default 64 KiB
	Argument    int           // bytes of each tool argument; default as Output
	Calls       int           // tool calls; a call beyond throws a ToolError of kind "limit"; default 1000
	Concurrency int           // tool calls at the same time, the others wait; default 16
	Result      int           // bytes of JSON of one result, or error, of a tool; default 4 MiB
	Results     int           // of all results and errors together that the tools of one run return; default 64 MiB
}

func (l Limits) withDefaults() (Limits, error) {
	output := or(l.Output, 64<<10)
	limits := l.or(Limits{
		Time: 30 * time.Second, Compute: 10 * time.Second, Wait: or(l.Time, 30*time.Second), Memory: 256 << 20, Source: 64 << 10,
		Output: output, Argument: output, Calls: 1000, Concurrency: 16, Result: 4 << 20, Results: 64 << 20,
	})
	return limits, l.check()
}

// or returns the limits, with others where one is zero.
func (l Limits) or(others Limits) Limits {
	return Limits{
		Time:        or(l.Time, others.Time),
		Compute:     or(l.Compute, others.Compute),
		Wait:        or(l.Wait, others.Wait),
		Memory:      or(l.Memory, others.Memory),
		Source:      or(l.Source, others.Source),
		Output:      or(l.Output, others.Output),
		Argument:    or(l.Argument, others.Argument),
		Calls:       or(l.Calls, others.Calls),
		Concurrency: or(l.Concurrency, others.Concurrency),
		Result:      or(l.Result, others.Result),
		Results:     or(l.Results, others.Results),
	}
}

func (l Limits) check() error {
	switch {
	case min(l.Time, l.Compute, l.Wait, time.Duration(l.Memory), time.Duration(l.Source), time.Duration(l.Output),
		time.Duration(l.Argument), time.Duration(l.Calls), time.Duration(l.Concurrency), time.Duration(l.Result),
		time.Duration(l.Results)) < 0:
		return fmt.Errorf("sandbox: a limit is negative: %+v; leave it zero for the default", l)
	case max(l.Time, l.Compute, l.Wait) > maxTime:
		return fmt.Errorf("sandbox: a limit of time is longer than %v: %+v", maxTime, l)
	}
	return nil
}

// maxTime is the longest limit: there is deliberately no "unlimited".
const maxTime = 365 * 24 * time.Hour

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

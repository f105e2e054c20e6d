package sandbox

import (
	"strings"

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// Isolation says what programs cannot do even if they take control of their process.
// [Sandbox.Isolation] reports what workers could not do when they tried, and
// Options.MinIsolation says what must be impossible.
//
// The memory, time and tools that a program may use are bounded by [Limits] and do not
// depend on the isolation.
type Isolation struct {
	// OwnProcess means that programs run in a process of their own, which can be killed.
	OwnProcess bool
	// MemoryCap means that the operating system refuses more memory than Limits.Memory.
	MemoryCap bool
	// NoFiles means that no file can be opened or created.
	NoFiles bool
	// NoNetwork means that no socket can be created.
	NoNetwork bool
	// NoProcesses means that no process can be started and no other program executed.
	NoProcesses bool
	// NoSignals means that no signal can be sent to another process.
	NoSignals bool
	// NoTracing means that no other process can be debugged or its memory read.
	NoTracing bool
	// NoSharedMemory means that no memory can be shared with other processes, which would
	// exceed the memory cap.
	NoSharedMemory bool
	// NoExecutableMemory means that no data can become machine code.
	NoExecutableMemory bool

	// Layers names the mechanisms of the operating system that are in force, such as
	// seccomp and Landlock, for information.
	Layers []string
	// Gaps describes the mechanisms that are not available and the attempts that were not
	// prevented.
	Gaps []string
}

// FullIsolation returns the strongest isolation, for Options.MinIsolation. Linux on amd64
// and arm64 provides it.
func FullIsolation() Isolation {
	return Isolation{
		OwnProcess: true, MemoryCap: true, NoFiles: true, NoNetwork: true, NoProcesses: true,
		NoSignals: true, NoTracing: true, NoSharedMemory: true, NoExecutableMemory: true,
	}
}

// String lists the properties that i has, and those that it lacks with the reasons.
func (i Isolation) String() string {
	var has, lacks []string
	for _, p := range worker.Isolation(i).Properties() {
		if p.Has {
			has = append(has, p.Name)
		} else {
			lacks = append(lacks, p.Name)
		}
	}
	var parts []string
	for _, part := range []struct {
		title string
		items []string
		comma string
	}{{"isolation: ", has, ", "}, {"lacking: ", lacks, ", "}, {"by: ", i.Layers, ", "}, {"gaps: ", i.Gaps, "; "}} {
		if len(part.items) > 0 {
			parts = append(parts, part.title+strings.Join(part.items, part.comma))
		}
	}
	return strings.Join(parts, "\n")
}

// Isolation reports which of the first worker's attempts to break out were prevented. Every
// later worker makes the same attempts before its first program and is not used if it lacks
// any of this isolation.
func (s *Sandbox) Isolation() Isolation {
	if s == nil || s.runner == nil {
		return Isolation{}
	}
	return Isolation(s.runner.Isolation())
}

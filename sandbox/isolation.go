package sandbox

import (
	"strings"

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// Isolation says what programs are kept from, whatever they get hold of in their
// process. [Sandbox.Isolation] reports what was found by trying, and
// Options.MinIsolation demands it.
//
// The memory and processor that a program may use, its time and its tools are
// bounded by [Limits], and do not depend on this.
type Isolation struct {
	// OwnProcess means that programs run in a process of their own, which is
	// killed when it must.
	OwnProcess bool
	// MemoryCap means that the system refuses more memory than Limits.Memory. A
	// program then ends before it has used it.
	MemoryCap bool
	// NoFiles means that no file can be opened or made.
	NoFiles bool
	// NoNetwork means that no socket can be made.
	NoNetwork bool
	// NoProcesses means that no process can be started and no other program
	// executed.
	NoProcesses bool
	// NoSignals means that no other process can be signalled.
	NoSignals bool
	// NoTracing means that no other process can be debugged or its memory read.
	NoTracing bool
	// NoSharedMemory means that no memory can be shared with other processes, nor
	// exceed the cap by being shared.
	NoSharedMemory bool
	// NoExecutableMemory means that no data can become machine code.
	NoExecutableMemory bool

	// Layers names the walls of the system that stand, for information: seccomp,
	// Landlock. A program that is kept from something by one of them does not need
	// the other.
	Layers []string
	// Gaps says in words which walls are not to be had, and what was attempted
	// and not prevented.
	Gaps []string
}

// FullIsolation is all that there is, which Linux on amd64 and arm64 has: for
// Options.MinIsolation.
func FullIsolation() Isolation {
	return Isolation{
		OwnProcess: true, MemoryCap: true, NoFiles: true, NoNetwork: true, NoProcesses: true,
		NoSignals: true, NoTracing: true, NoSharedMemory: true, NoExecutableMemory: true,
	}
}

// String lists what is there, what is not, and why.
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

// Isolation reports what was prevented when the first worker attempted it, before
// its first program. Every later worker attempts it too, and is not used if it
// lacks anything of this. What a program can do is not asked then any more.
func (s *Sandbox) Isolation() Isolation {
	if s == nil || s.tier == nil {
		return Isolation{}
	}
	return Isolation(s.tier.Isolation())
}

package worker

import (
	"fmt"
	"strings"
)

// Isolation says what a worker cannot do. The worker has tried all of it.
type Isolation struct {
	OwnProcess         bool     `json:"ownProcess"`
	MemoryCap          bool     `json:"memoryCap"`
	NoFiles            bool     `json:"noFiles"`
	NoNetwork          bool     `json:"noNetwork"`
	NoProcesses        bool     `json:"noProcesses"`
	NoSignals          bool     `json:"noSignals"`
	NoTracing          bool     `json:"noTracing"`
	NoSharedMemory     bool     `json:"noSharedMemory"`
	NoExecutableMemory bool     `json:"noExecutableMemory"`
	Layers             []string `json:"layers,omitempty"` // the mechanisms in force
	// the mechanisms that are not available, and what was not prevented
	Gaps []string `json:"gaps,omitempty"`
}

// Require returns a minimum isolation: every property if full is true, and otherwise none.
func Require(full bool) Isolation {
	return Isolation{
		OwnProcess: full, MemoryCap: full, NoFiles: full, NoNetwork: full, NoProcesses: full,
		NoSignals: full, NoTracing: full, NoSharedMemory: full, NoExecutableMemory: full,
	}
}

// property is one property of an isolation.
type property struct {
	name string
	has  bool
}

// properties returns the properties in a fixed order.
func (i Isolation) properties() []property {
	return []property{
		{"a process of its own", i.OwnProcess},
		{"a cap on memory", i.MemoryCap},
		{"no files", i.NoFiles},
		{"no network", i.NoNetwork},
		{"no other processes", i.NoProcesses},
		{"no signals to others", i.NoSignals},
		{"no tracing", i.NoTracing},
		{"no shared memory", i.NoSharedMemory},
		{"no executable memory", i.NoExecutableMemory},
	}
}

// Check returns an error if i lacks properties that a minimum requires. The error lists the missing properties and the
// reasons.
func (i Isolation) Check(minimum Isolation) error {
	var missing []string
	has := i.properties()
	for n, p := range minimum.properties() {
		if p.has && !has[n].has {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	why := "for an unknown reason"
	if len(i.Gaps) > 0 {
		why = strings.Join(i.Gaps, "; ")
	}
	return fmt.Errorf("the required isolation is not available; not in force: %s: %s", strings.Join(missing, ", "), why)
}

// String lists the properties that i has and lacks, the mechanisms in force, and the gaps.
func (i Isolation) String() string {
	var has, lacks []string
	for _, p := range i.properties() {
		if p.has {
			has = append(has, p.name)
		} else {
			lacks = append(lacks, p.name)
		}
	}
	var parts []string
	for _, part := range []struct {
		title string
		items []string
		comma string
	}{{"isolation: ", has, ", "}, {"not in force: ", lacks, ", "}, {"by: ", i.Layers, ", "}, {"gaps: ", i.Gaps, "; "}} {
		if len(part.items) > 0 {
			parts = append(parts, part.title+strings.Join(part.items, part.comma))
		}
	}
	return strings.Join(parts, "\n")
}

package worker

import (
	"fmt"
	"strings"
)

// Isolation is what a worker was found unable to do, by trying.
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
	Layers             []string `json:"layers,omitempty"` // the walls that stand
	Gaps               []string `json:"gaps,omitempty"`   // those that don't, and what got through
}

// Property is one thing that a worker has or not.
type Property struct {
	Name string
	Has  bool
}

// Properties lists what a worker may be held to.
func (i Isolation) Properties() []Property {
	return []Property{
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

// Check says what is missing of a minimum, and why.
func (i Isolation) Check(minimum Isolation) error {
	var missing []string
	has := i.Properties()
	for n, p := range minimum.Properties() {
		if p.Has && !has[n].Has {
			missing = append(missing, p.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	why := "no reason is known"
	if len(i.Gaps) > 0 {
		why = strings.Join(i.Gaps, "; ")
	}
	return fmt.Errorf("the isolation demanded is not to be had here, it lacks %s: %s", strings.Join(missing, ", "), why)
}

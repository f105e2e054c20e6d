package worker

import (
	"fmt"
	"strings"
)

// Isolation is what a worker could not do when it tried.
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

// Property is one property of an isolation.
type Property struct {
	Name string
	Has  bool
}

// Properties returns the properties in a fixed order.
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

// Check returns an error that lists what is missing from a minimum, and why.
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
	why := "for an unknown reason"
	if len(i.Gaps) > 0 {
		why = strings.Join(i.Gaps, "; ")
	}
	return fmt.Errorf("the required isolation is not available: it lacks %s: %s", strings.Join(missing, ", "), why)
}

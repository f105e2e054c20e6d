package host

import (
	"bytes"
	"fmt"
	"os"
)

// resident returns how many bytes of memory the worker occupies, not counting the memory that
// all workers share, or 0 if the system does not report it.
func (w *instance) resident() int64 {
	if w.process == nil {
		return 0
	}
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", w.cmd.Process.Pid))
	var total, all, shared int64 // numbers of pages
	if _, failed := fmt.Fscan(bytes.NewReader(statm), &total, &all, &shared); err != nil || failed != nil {
		return 0
	}
	return (all - shared) * int64(os.Getpagesize())
}

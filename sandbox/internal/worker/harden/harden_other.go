//go:build !linux

package harden

import (
	"runtime"

	"github.com/writ-go/writ/sandbox/internal/worker"
)

// Harden only configures the Go runtime. It does not restrict system calls, inherited descriptors and handles
// stay open, and a stuck worker outlives its host.
func Harden(memory int64) (worker.Isolation, error) {
	configureRuntime(memory)
	return worker.Isolation{
		OwnProcess: true,
		Gaps: []string{"system calls are not restricted on " + runtime.GOOS +
			", and memory is watched only while a program runs"},
	}, nil
}

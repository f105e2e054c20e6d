//go:build !linux

package worker

import (
	"io"
	"os"
	"runtime"
)

// attach takes standard input and output for the frames. What the process
// prints later goes to standard error. Nothing proves that the parent is the
// host, except that it knows the token.
func attach() (io.ReadWriter, error) {
	link := struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}
	os.Stdout = os.Stderr
	return link, nil
}

// harden keeps to what the language can do. Descriptors and handles are not
// closed, files and sockets are not out of reach, and a worker that is stuck when
// its host dies lives on.
func harden(memory int64) (Isolation, error) {
	settle(memory)
	return Isolation{
		OwnProcess: true,
		Gaps:       []string{"system calls are not restricted on " + runtime.GOOS + ", and memory is watched only while a program runs"},
	}, nil
}

// guarded watches the memory that nobody limits.
func guarded(run Run, memory int64) Run { return watched(run, memory*memoryFactor) }

func leave(status int) { os.Exit(status) }

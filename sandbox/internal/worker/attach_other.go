//go:build !linux

package worker

import (
	"io"
	"os"
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

// harden limits memory only as far as the garbage collector can: a single large
// allocation exceeds it. Descriptors and handles are not closed, files and
// sockets are not out of reach, and a worker that is stuck when its host dies
// lives on.
func harden(memory int64) error {
	settle(memory)
	return nil
}

func leave(status int) { os.Exit(status) }

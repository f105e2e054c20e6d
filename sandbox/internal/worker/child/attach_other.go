//go:build !linux

package child

import (
	"io"
	"os"
)

// attach returns standard input and output as the connection. What the process prints
// later goes to standard error. Only the token proves that the parent is the host.
func attach() (io.ReadWriter, error) {
	link := struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}
	os.Stdout = os.Stderr
	return link, nil
}

package host

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hostLink is the host's end of a socket.
type hostLink struct {
	*os.File
	raw syscall.RawConn
}

func newLink(socket *os.File) *hostLink {
	raw, err := socket.SyscallConn()
	if err != nil {
		panic(err) // only a closed file has none
	}
	return &hostLink{File: socket, raw: raw}
}

// try implements link.
func (l *hostLink) try(b []byte) (n int, err error) {
	var got error
	err = l.raw.Write(func(fd uintptr) bool {
		for n, got = unix.Write(int(fd), b); got == unix.EINTR; {
			n, got = unix.Write(int(fd), b)
		}
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case got == unix.EAGAIN:
		return 0, nil
	}
	return max(n, 0), os.NewSyscallError("write", got)
}

// lastWords implements link.
func (l *hostLink) lastWords() { _ = l.SetReadDeadline(time.Now().Add(drain)) }

// silent says that the other end is open, and has written nothing.
func (l *hostLink) silent() bool {
	var got error
	err := l.raw.Control(func(fd uintptr) {
		_, _, got = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err == nil && got == unix.EAGAIN
}

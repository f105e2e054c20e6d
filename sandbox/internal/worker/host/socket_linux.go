package host

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is the host's end of a connection.
type socket struct {
	*os.File
	raw syscall.RawConn
}

func newLink(file *os.File) *socket {
	raw, err := file.SyscallConn()
	if err != nil {
		panic(err) // only a closed file has no raw connection
	}
	return &socket{File: file, raw: raw}
}

// tryWrite implements link.
func (s *socket) tryWrite(b []byte) (n int, err error) {
	var failed error
	err = s.raw.Write(func(fd uintptr) bool {
		for n, failed = unix.Write(int(fd), b); failed == unix.EINTR; {
			n, failed = unix.Write(int(fd), b)
		}
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case failed == unix.EAGAIN:
		return 0, nil
	}
	return max(n, 0), os.NewSyscallError("write", failed)
}

// expire implements link.
func (s *socket) expire() { _ = s.SetReadDeadline(time.Now().Add(drainTime)) }

// silent reports whether the other end is open and has written nothing.
func (s *socket) silent() bool {
	var failed error
	err := s.raw.Control(func(fd uintptr) {
		_, _, failed = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	})
	return err == nil && failed == unix.EAGAIN
}

package worker

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket is the worker's end of the connection. It can be waited for in two ways.
// Alone, the reader blocks its thread in the system call: nothing wakes up sooner.
// While a run goes on beside it, it parks instead, and its thread runs whoever it
// has just handed a reply; else that would have to be found by another thread.
type socket struct {
	fd      int
	raw     syscall.RawConn
	blocked bool
	buf     []byte
	n       int
	err     error
}

// newSocket takes over a descriptor.
func newSocket(fd int) (*socket, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	raw, err := os.NewFile(uintptr(fd), "host").SyscallConn() // that keeps the file
	if err != nil {
		return nil, err
	}
	// It is known to the poller now; where it parks is said with each read.
	return &socket{fd: fd, raw: raw}, unix.SetNonblock(fd, false)
}

// alone says how the next reads wait.
func (s *socket) alone(yes bool) { s.blocked = yes }

// Read implements io.Reader.
func (s *socket) Read(b []byte) (int, error) {
	s.buf = b
	if s.blocked {
		for s.receive(0); s.err == unix.EINTR; {
			s.receive(0)
		}
	} else if err := s.raw.Read(s.poll); err != nil {
		return 0, err
	}
	if s.err != nil {
		return 0, os.NewSyscallError("recv", s.err)
	}
	if s.n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return s.n, nil
}

func (s *socket) poll(uintptr) bool {
	s.receive(unix.MSG_DONTWAIT)
	return s.err != unix.EAGAIN && s.err != unix.EINTR
}

func (s *socket) receive(flags int) {
	s.n, _, s.err = unix.Recvfrom(s.fd, s.buf, flags)
}

// Write implements io.Writer. It blocks the thread: the host reads at once what
// it is sent.
func (s *socket) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		n, err := unix.Write(s.fd, b[done:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return done, os.NewSyscallError("write", err)
		}
		done += n
	}
	return done, nil
}

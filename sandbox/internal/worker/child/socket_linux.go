package child

import (
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket is the worker's end of the connection. It can be waited for in two ways.
// Eagerly, the reader blocks its thread in the system call for a moment, and the
// runtime isn't told: nothing wakes up sooner, and nothing else runs, as the
// worker has one processor. So that is for when nothing else wants to. Otherwise,
// and after the moment, the reader parks.
type socket struct {
	fd    int
	raw   syscall.RawConn
	eager bool
	buf   []byte
	n     int
	err   error
}

// moment is how long an eager read may block; the kernel counts in ticks of 1 to
// 4 ms. A timer of the program can be late by so much.
const moment = time.Millisecond

// newSocket takes over a descriptor.
func newSocket(fd int) (*socket, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	raw, err := os.NewFile(uintptr(fd), "host").SyscallConn() // that keeps the file
	if err != nil {
		return nil, err
	}
	patience := unix.NsecToTimeval(int64(moment))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return nil, err
	}
	// It is known to the poller now; where it parks is said with each read.
	return &socket{fd: fd, raw: raw}, unix.SetNonblock(fd, false)
}

// eagerly says how the next read waits.
func (s *socket) eagerly(yes bool) { s.eager = yes }

// Read implements io.Reader.
func (s *socket) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s.buf = b
	if !s.eager || !s.receive(0) {
		if err := s.raw.Read(s.poll); err != nil {
			return 0, err
		}
	}
	if s.err != nil {
		return 0, os.NewSyscallError("recv", s.err)
	}
	if s.n == 0 {
		return 0, io.EOF
	}
	return s.n, nil
}

func (s *socket) poll(uintptr) bool { return s.receive(unix.MSG_DONTWAIT) }

// receive says whether it has received anything: bytes, the end, or an error.
func (s *socket) receive(flags int) bool {
	n, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd),
		uintptr(unsafe.Pointer(&s.buf[0])), uintptr(len(s.buf)), uintptr(flags), 0, 0)
	s.n, s.err = int(n), nil
	if err != 0 {
		s.err = err
	}
	return err != unix.EAGAIN && err != unix.EINTR
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

package host

import (
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hostLink is the host's end of a socket.
type hostLink struct {
	*os.File
	raw  syscall.RawConn
	poll func(fd uintptr) bool // receive
	buf  []byte                // what to read into, n and err: what came of it
	n    int
	err  error
}

func newLink(socket *os.File) *hostLink {
	raw, err := socket.SyscallConn()
	if err != nil {
		panic(err) // only a closed file has none
	}
	l := &hostLink{File: socket, raw: raw}
	l.poll = l.receive
	return l
}

// Read implements io.Reader.
func (l *hostLink) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	l.buf = b
	switch err := l.raw.Read(l.poll); {
	case err != nil:
		return 0, err
	case l.err != nil:
		return 0, os.NewSyscallError("recv", l.err)
	case l.n == 0:
		return 0, io.EOF
	}
	return l.n, nil
}

// receive says whether it has received anything: bytes, the end, or an error.
func (l *hostLink) receive(fd uintptr) bool {
	l.n, _, l.err = unix.Recvfrom(int(fd), l.buf, unix.MSG_DONTWAIT)
	return l.err != unix.EAGAIN && l.err != unix.EINTR
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

package host

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// errUnread is the error for a worker with too much unread data.
var errUnread = errors.New("the worker does not read its messages")

// outbox writes to a worker without waiting for it to read, so that a program that keeps its worker busy does
// not block a tool's handler. It buffers the bytes that the connection does not accept at once, up to a limit.
// A goroutine writes the buffer until the connection is closed, at the latest when the time of the run is over.
type outbox struct {
	link  link
	limit int

	mu      sync.Mutex
	waiting []byte
	unread  int   // bytes that the connection has not accepted
	err     error // the connection's first error
	writer  sync.WaitGroup
}

// link is the host's end of a connection.
type link interface {
	io.ReadWriteCloser
	// tryWrite writes what the connection accepts without blocking, possibly nothing.
	tryWrite(b []byte) (n int, err error)
	// expire makes reads fail soon. It is called when the process is dead.
	expire()
}

// Write implements [io.Writer]. It accepts any length if nothing else is waiting.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return 0, o.err
	case o.unread > 0 && o.unread+len(b) > o.limit:
		return 0, fmt.Errorf("%w: %d bytes are waiting", errUnread, o.unread)
	case o.unread > 0:
		o.waiting = append(o.waiting, b...)
		o.unread += len(b)
		return len(b), nil
	}
	n, err := o.link.tryWrite(b)
	if err != nil {
		o.err = err
		return n, err
	}
	if n < len(b) {
		o.unread = len(b) - n
		o.waiting = append(o.waiting[:0], b[n:]...)
		o.writer.Go(o.drain)
	}
	return len(b), nil
}

// drain writes until the buffer is empty.
func (o *outbox) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.unread > 0 && o.err == nil {
		b := o.waiting
		o.waiting = nil
		o.mu.Unlock()
		_, err := o.link.Write(b)
		o.mu.Lock()
		o.unread -= len(b)
		if o.err == nil {
			o.err = err
		}
	}
}

// close stops accepting data and waits for the goroutine that writes. The connection
// must be closed already.
func (o *outbox) close() {
	o.mu.Lock()
	if o.err == nil {
		o.err = io.ErrClosedPipe
	}
	o.mu.Unlock()
	o.writer.Wait()
}

// empty reports whether the connection has accepted everything.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unread == 0
}

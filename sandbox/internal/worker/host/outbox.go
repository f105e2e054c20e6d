package host

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// errUnread says that a worker lets more wait than the host keeps for it.
var errUnread = errors.New("the worker doesn't read what it is sent")

// outbox is where the host writes to a worker, and never waits for it to read: a
// program that keeps its worker busy must not keep a tool's handler. What the
// connection doesn't take at once waits here, up to a limit, and a goroutine sees
// to it until the connection is closed, which is when the run's time is over at
// the latest.
type outbox struct {
	link  link
	limit int

	mu      sync.Mutex
	waiting []byte
	unread  int   // bytes that the connection has not taken yet
	err     error // the connection's end
	writer  sync.WaitGroup
}

// link is the host's end of the connection.
type link interface {
	io.ReadWriteCloser
	// try writes as much as is taken at once, which may be nothing.
	try(b []byte) (n int, err error)
	// lastWords ends reading soon: the process is dead.
	lastWords()
}

// Write implements io.Writer. Where nothing else waits, any length is taken.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return 0, o.err
	case o.unread == 0:
		return len(b), o.first(b)
	case o.unread+len(b) > o.limit:
		return 0, fmt.Errorf("%w: %d bytes wait for it", errUnread, o.unread)
	}
	o.waiting = append(o.waiting, b...)
	o.unread += len(b)
	return len(b), nil
}

// first writes when nothing waits, and leaves the rest to a goroutine.
func (o *outbox) first(b []byte) error {
	n, err := o.link.try(b)
	if err != nil {
		o.err = err
		return err
	}
	if n == len(b) {
		return nil
	}
	o.unread = len(b) - n
	o.waiting = append(o.waiting[:0], b[n:]...)
	o.writer.Go(o.drain)
	return nil
}

// drain writes until nothing waits.
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

// close waits for the end of what is being written to a connection that is closed.
// From here on nothing else is.
func (o *outbox) close() {
	o.mu.Lock()
	if o.err == nil {
		o.err = io.ErrClosedPipe
	}
	o.mu.Unlock()
	o.writer.Wait()
}

// empty says that the connection has taken everything.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unread == 0
}

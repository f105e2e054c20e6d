package serve_test

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
)

// inBubble runs a test with fake time and a network in memory. Fake time passes only while all
// goroutines wait, so a busy machine does not matter.
func inBubble(t *testing.T, f func(t *testing.T, s *works)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newWorks()
		s.network = &memoryNetwork{waiting: make(chan net.Conn, 100), closed: make(chan struct{})}
		f(t, s)
	})
}

// memoryNetwork is a network with one address.
type memoryNetwork struct {
	waiting chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (m *memoryNetwork) Accept() (net.Conn, error) {
	select {
	case conn := <-m.waiting:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memoryNetwork) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memoryNetwork) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080} }

func (m *memoryNetwork) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case <-m.closed:
		return nil, net.ErrClosed
	case m.waiting <- memoryConn{server, m}:
		return client, nil
	}
}

// memoryConn is a connection to the address.
type memoryConn struct {
	net.Conn
	of *memoryNetwork
}

func (c memoryConn) LocalAddr() net.Addr { return c.of.Addr() }

// listener returns where a server of the test listens.
func (s *works) listener(t *testing.T) net.Listener {
	t.Helper()
	if s.network != nil {
		return s.network
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// carrier returns the transport of clients.
func (s *works) carrier() *http.Transport {
	if s != nil && s.network != nil {
		return &http.Transport{DialContext: s.network.dial}
	}
	return &http.Transport{}
}

// dial opens a connection to the server.
func (r *running) dial() net.Conn {
	r.t.Helper()
	dial := new(net.Dialer).DialContext
	if r.network != nil {
		dial = r.network.dial
	}
	conn, err := dial(r.t.Context(), "tcp", r.url[len("http://"):])
	if err != nil {
		r.t.Fatal(err)
	}
	return conn
}

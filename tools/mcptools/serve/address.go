package serve

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// address is where to listen. Without authentication, it is one of this machine
// alone: an IP address, so that no name can come to mean another one in between.
func (o *Options) address(ctx context.Context) (string, error) {
	if o.Listener != nil {
		if o.Auth == nil && !private(o.Listener.Addr()) {
			return "", exposed(o.Listener.Addr().String())
		}
		return o.Listener.Addr().String(), nil
	}
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return "", fmt.Errorf("addr must be host:port, such as 127.0.0.1:8080: %w", err)
	}
	if _, err := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil {
		return "", fmt.Errorf("addr %q: %w", o.Addr, err)
	}
	if o.Auth != nil {
		return o.Addr, nil
	}
	if host == "" {
		return "", exposed(o.Addr)
	}
	addrs, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return "", fmt.Errorf("addr %q: %w", o.Addr, err)
	}
	for _, a := range addrs {
		if !a.IP.IsLoopback() {
			return "", exposed(o.Addr)
		}
	}
	return net.JoinHostPort(addrs[0].String(), port), nil
}

func exposed(addr string) error {
	return fmt.Errorf("without authentication only this machine is served, and %q is open to others: listen at 127.0.0.1, or say who may ask", addr)
}

// private reports whether nobody outside this machine can reach an address.
func private(addr net.Addr) bool {
	switch a := addr.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

func (o *Options) listen(ctx context.Context) (net.Listener, error) {
	if o.Listener != nil {
		return o.Listener, nil
	}
	addr, err := o.address(ctx)
	if err != nil {
		return nil, err
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", addr)
}

// bounded accepts no more connections than there may be at once.
type bounded struct {
	net.Listener
	free chan struct{}
	done chan struct{}
	once sync.Once
}

func newBounded(l net.Listener, connections int) *bounded {
	return &bounded{Listener: l, free: make(chan struct{}, connections), done: make(chan struct{})}
}

// Accept waits for one of the connections to end, if there are as many as may be.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.free <- struct{}{}:
	case <-b.done:
		return nil, net.ErrClosed
	}
	conn, err := b.Listener.Accept()
	if err != nil {
		<-b.free
		return nil, err
	}
	return &counted{Conn: conn, free: sync.OnceFunc(func() { <-b.free })}, nil
}

// Close ends the waiting too.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

type counted struct {
	net.Conn
	free func()
}

// Close makes room for another connection.
func (c *counted) Close() error {
	c.free()
	return c.Conn.Close()
}

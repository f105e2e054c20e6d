package serve

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// address returns the address to listen on. Without authentication, it returns an IP address of this
// machine instead of a name, which could resolve to another address later.
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
	return fmt.Errorf("%q can be reached from other machines, which requires authentication; "+
		"listen on 127.0.0.1, or set up tokens or OAuth", addr)
}

// private reports whether an address cannot be reached from other machines.
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

// limitedListener bounds the number of connections.
type limitedListener struct {
	net.Listener
	free chan struct{}
	done chan struct{}
	once sync.Once
}

func newLimitedListener(l net.Listener, connections int) *limitedListener {
	return &limitedListener{Listener: l, free: make(chan struct{}, connections), done: make(chan struct{})}
}

// Accept waits until there are fewer connections than the limit.
func (b *limitedListener) Accept() (net.Conn, error) {
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
	return &countedConn{Conn: conn, free: sync.OnceFunc(func() { <-b.free })}, nil
}

// Close closes the listener and makes a waiting Accept return.
func (b *limitedListener) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.Listener.Close()
}

type countedConn struct {
	net.Conn
	free func()
}

// Close closes the connection and makes room for another one.
func (c *countedConn) Close() error {
	c.free()
	return c.Conn.Close()
}

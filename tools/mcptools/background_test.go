package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fickleServer is a server whose tools a test changes, and that can be down. It counts its
// listings.
type fickleServer struct {
	mu       sync.Mutex
	down     error
	names    []string
	conn     net.Conn // of the last connection
	listings atomic.Int32
	silent   bool // it never answers the handshake
}

func (c *fickleServer) set(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// Connect implements [mcp.Transport].
func (c *fickleServer) Connect(ctx context.Context) (mcp.Connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down != nil {
		return nil, c.down
	}
	ours, theirs := net.Pipe()
	c.conn = theirs
	go c.script().run(theirs, theirs)
	return (&mcp.IOTransport{Reader: ours, Writer: ours}).Connect(ctx)
}

func (c *fickleServer) script() script {
	s := script{"tools/list": func(json.RawMessage) string {
		c.listings.Add(1)
		c.mu.Lock()
		defer c.mu.Unlock()
		var list []string
		for _, name := range c.names {
			list = append(list, fmt.Sprintf(`{"name":%q}`, name))
		}
		return `"result":{"tools":[` + strings.Join(list, ",") + `]}`
	}}.whole()
	if c.silent {
		s["initialize"] = func(json.RawMessage) string { return "" }
	}
	return s
}

// sendChange sends a notification that the tools have changed.
func (c *fickleServer) sendChange() {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	_, _ = io.WriteString(conn, notify("tools/list_changed", `{}`)+"\n")
}

// connectBackground connects to servers in the background. changed returns how often the host
// was notified about a server.
func connectBackground(t *testing.T, transports map[string]mcp.Transport) (s *Servers, changed func(name string) int) {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	s, err := Connect(t.Context(), transports, &Options{Background: true, OnToolsChanged: func(name string) {
		mu.Lock()
		defer mu.Unlock()
		counts[name]++
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, func(name string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[name]
	}
}

// toolNames returns the current tools of the servers.
func toolNames(t *testing.T, s *Servers) string {
	t.Helper()
	all := inOrder(t, s)
	var list []string
	for _, tool := range all {
		list = append(list, tool.Namespace+"."+tool.Name)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// A server that does not answer blocks neither Connect nor the tools of others.
func TestBackgroundWaitsForNoServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		quick, silent := &fickleServer{names: []string{"t"}}, &fickleServer{silent: true}
		s, changed := connectBackground(t, map[string]mcp.Transport{"quick": quick, "silent": silent})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		equal(t, "waiting", fmt.Sprint(s.Wait(ctx)), "mcp servers: waiting for their tools: context deadline exceeded")
		equal(t, "tools", toolNames(t, s), "quick.t")
		equal(t, "told", fmt.Sprint(changed("quick"), changed("silent")), "1 0")
		if err := s.Wait(t.Context()); err != nil { // until it has failed
			t.Error(err)
		}
		equal(t, "status", string(s.Status()[1].State), "failed")
	})
}

// A server that is down at the start is tried again until it is up.
func TestBackgroundTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := &fickleServer{names: []string{"t"}, down: errors.New("connection refused")}
		s, changed := connectBackground(t, map[string]mcp.Transport{"late": late})
		time.Sleep(10 * time.Minute)
		equal(t, "tools", toolNames(t, s), "")
		late.set(func() { late.down = nil })
		time.Sleep(lastPause + time.Second)
		equal(t, "tools", toolNames(t, s), "late.t")
		equal(t, "told", fmt.Sprint(changed("late")), "1")
	})
}

// While one server is down, a change of another server does not affect its tools; when it is up
// again, it has its current tools.
func TestBackgroundKeepsTheLastListing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &fickleServer{names: []string{"t"}}, &fickleServer{names: []string{"t"}}
		s, changed := connectBackground(t, map[string]mcp.Transport{"a": a, "b": b})
		time.Sleep(time.Minute)
		a.set(func() {
			a.down, a.names = errors.New("connection refused"), []string{"t", "u"}
			a.conn.Close()
		})
		time.Sleep(5 * time.Second)
		b.set(func() { b.names = []string{"t", "v"} })
		b.sendChange()
		time.Sleep(2 * time.Second)
		equal(t, "tools", toolNames(t, s), "a.t b.t b.v")
		equal(t, "state", string(s.Status()[0].State), "failed")
		a.set(func() { a.down = nil })
		time.Sleep(lastPause)
		equal(t, "tools", toolNames(t, s), "a.t a.u b.t b.v")
		equal(t, "told", fmt.Sprint(changed("a"), changed("b")), "2 2")
	})
}

// A server that reports changes all the time is listed at growing intervals; others are not
// affected, and the host is not notified without a change.
func TestBackgroundListingStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storm, calm := &fickleServer{names: []string{"t"}}, &fickleServer{names: []string{"t"}}
		s, changed := connectBackground(t, map[string]mcp.Transport{"storm": storm, "calm": calm})
		synctest.Wait()
		for range sample(2, 10) * 60 * 20 { // minutes
			storm.sendChange()
			time.Sleep(50 * time.Millisecond)
		}
		if n := int(storm.listings.Load()); n < sample(6, 10) || n > sample(12, 20) {
			t.Errorf("the server was listed %d times", n)
		}
		equal(t, "listings of the other", fmt.Sprint(calm.listings.Load()), "1")
		equal(t, "told", fmt.Sprint(changed("storm"), changed("calm")), "1 1")
		time.Sleep(2 * lastPause)
		storm.set(func() { storm.names = []string{"u"} })
		storm.sendChange()
		time.Sleep(2 * time.Second)
		equal(t, "tools", toolNames(t, s), "calm.t storm.u")
	})
}

// Without Background, a failed listing keeps the previous tools.
func TestLastListingIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &fickleServer{names: []string{"t"}}, &fickleServer{names: []string{"t"}}
		s, err := Connect(t.Context(), map[string]mcp.Transport{"a": a, "b": b}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		equal(t, "before", toolNames(t, s), "a.t b.t")
		a.set(func() {
			a.down = errors.New("connection refused")
			a.conn.Close()
		})
		synctest.Wait()
		equal(t, "failing", toolNames(t, s), "a.t b.t")
		a.set(func() { a.down = nil })
		time.Sleep(lastPause)
		equal(t, "after", toolNames(t, s), "a.t b.t")
		equal(t, "state", string(s.Status()[0].State), "ready")
	})
}

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

// fickle is a server whose tools a test changes, and that can be down. It counts
// its listings.
type fickle struct {
	mu       sync.Mutex
	down     error
	names    []string
	conn     net.Conn // of the last connection
	listings atomic.Int32
	silent   bool // it never answers the handshake
}

func (c *fickle) set(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// Connect implements [mcp.Transport].
func (c *fickle) Connect(ctx context.Context) (mcp.Connection, error) {
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

func (c *fickle) script() script {
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

// says sends a notification that the tools have changed.
func (c *fickle) says() {
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	_, _ = io.WriteString(conn, notify("tools/list_changed", `{}`)+"\n")
}

// kept connects to servers in the background. changed counts how often the host is
// told of each.
func kept(t *testing.T, transports map[string]mcp.Transport) (s *Servers, changed func(name string) int) {
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

// toolNames are the tools of the servers as they are now.
func toolNames(t *testing.T, s *Servers) string {
	t.Helper()
	all, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, tool := range all {
		list = append(list, tool.Namespace+"."+tool.Name)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// A server that does not answer holds up neither Connect nor the tools of others.
func TestBackgroundWaitsForNoServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		quick, silent := &fickle{names: []string{"t"}}, &fickle{silent: true}
		s, changed := kept(t, map[string]mcp.Transport{"quick": quick, "silent": silent})
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

// A server that is down at the start is tried again until it is there.
func TestBackgroundTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		late := &fickle{names: []string{"t"}, down: errors.New("connection refused")}
		s, changed := kept(t, map[string]mcp.Transport{"late": late})
		time.Sleep(10 * time.Minute)
		equal(t, "tools", toolNames(t, s), "")
		late.set(func() { late.down = nil })
		time.Sleep(lastPause + time.Second)
		equal(t, "tools", toolNames(t, s), "late.t")
		equal(t, "told", fmt.Sprint(changed("late")), "1")
	})
}

// While one server is lost and waits for its next attempt, a change of another
// costs it no tools; when it is back, it has those that it has then.
func TestBackgroundKeepsTheLastListing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &fickle{names: []string{"t"}}, &fickle{names: []string{"t"}}
		s, changed := kept(t, map[string]mcp.Transport{"a": a, "b": b})
		time.Sleep(time.Minute)
		a.set(func() {
			a.down, a.names = errors.New("connection refused"), []string{"t", "u"}
			a.conn.Close()
		})
		time.Sleep(5 * time.Second)
		b.set(func() { b.names = []string{"t", "v"} })
		b.says()
		time.Sleep(2 * time.Second)
		equal(t, "tools", toolNames(t, s), "a.t b.t b.v")
		equal(t, "state", string(s.Status()[0].State), "failed")
		a.set(func() { a.down = nil })
		time.Sleep(lastPause)
		equal(t, "tools", toolNames(t, s), "a.t a.u b.t b.v")
		equal(t, "told", fmt.Sprint(changed("a"), changed("b")), "2 2")
	})
}

// A server that says without end that its tools have changed is listed ever less
// often; others are not, and nobody is told of what has not changed.
func TestBackgroundListingStorm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storm, calm := &fickle{names: []string{"t"}}, &fickle{names: []string{"t"}}
		s, changed := kept(t, map[string]mcp.Transport{"storm": storm, "calm": calm})
		synctest.Wait()
		for range sample(2, 10) * 60 * 20 { // minutes
			storm.says()
			time.Sleep(50 * time.Millisecond)
		}
		if n := int(storm.listings.Load()); n < sample(6, 10) || n > sample(12, 20) {
			t.Errorf("the server was listed %d times", n)
		}
		equal(t, "listings of the other", fmt.Sprint(calm.listings.Load()), "1")
		equal(t, "told", fmt.Sprint(changed("storm"), changed("calm")), "1 1")
		time.Sleep(2 * lastPause)
		storm.set(func() { storm.names = []string{"u"} })
		storm.says()
		time.Sleep(2 * time.Second)
		equal(t, "tools", toolNames(t, s), "calm.t storm.u")
	})
}

// Without Background, a listing that fails keeps the tools of the one before.
func TestLastListingIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := &fickle{names: []string{"t"}}, &fickle{names: []string{"t"}}
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

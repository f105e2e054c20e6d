package codemode

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/agent/codemode/serve"
)

// client offers the tools that one principal may use. It offers them on one MCP server, which may have any number
// of connections.
type client struct {
	app       *Server
	principal serve.Principal
	server    weak.Pointer[mcp.Server] // weak, because its handlers refer to the client

	mu      sync.Mutex
	offered map[string]string // the tools' definitions on the server, as JSON, by name
}

// clients holds all clients, and the servers that this package made for principals. Its lock is not held
// while tools are declared, which may take seconds.
type clients struct {
	mu   sync.Mutex
	all  map[*client]bool
	made map[string]func() *mcp.Server
}

// maxServers is the maximum number of servers that are cached for principals that reconnect. Open
// connections keep their servers in any case.
const maxServers = 200

// serverOf returns a principal's MCP server. Equal principals usually have the same server.
func (s *Server) serverOf(p serve.Principal) *mcp.Server {
	key := fmt.Sprintf("%q %t %q", p.Name, p.Tools == nil, p.Tools) // different for different principals
	s.clients.mu.Lock()
	server := s.clients.made[key]
	if server == nil {
		if s.clients.made == nil {
			s.clients.made = map[string]func() *mcp.Server{}
		}
		evict(s.clients.made, maxServers)
		server = sync.OnceValue(func() *mcp.Server {
			made := s.newServer()
			s.offer(made, p)
			return made
		})
		s.clients.made[key] = server
	}
	s.clients.mu.Unlock()
	return server()
}

// evict removes arbitrary entries from a map until it has room for another entry.
func evict[V any](m map[string]V, limit int) {
	for key := range m {
		if len(m) < limit {
			return
		}
		delete(m, key)
	}
}

// offer adds a principal's tools to a server, and keeps them up to date.
func (s *Server) offer(server *mcp.Server, p serve.Principal) {
	server.AddReceivingMiddleware(s.catalog.awaitReady)
	c := &client{app: s, principal: p, server: weak.Make(server), offered: map[string]string{}}
	s.clients.mu.Lock()
	if s.clients.all == nil {
		s.clients.all = map[*client]bool{}
	}
	s.clients.all[c] = true
	s.clients.mu.Unlock()
	runtime.AddCleanup(server, s.forget, c)
	c.update()
}

// forget ends the updates of a client whose server has been garbage collected.
func (s *Server) forget(c *client) {
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	delete(s.clients.all, c)
}

// updateClients offers the current tools to all clients, and notifies connected clients.
func (s *Server) updateClients() {
	s.clients.mu.Lock()
	all := slices.Collect(maps.Keys(s.clients.all))
	s.clients.mu.Unlock()
	for _, c := range all {
		c.update()
	}
}

// update makes the server offer the current tools. It does not replace tools that have not changed, so that
// connected clients get no needless notifications.
func (c *client) update() {
	server := c.server.Value()
	if server == nil {
		return
	}
	c.mu.Lock() // before the view is taken, so that an older view never replaces a newer view
	defer c.mu.Unlock()
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		c.app.log.Error("cannot update a client's tools", "client", c.principal.Name, "err", err)
		return
	}
	defer release()
	wanted := map[string]string{}
	for _, t := range c.tools(view) {
		text, err := json.Marshal(t.Tool)
		if err != nil {
			panic(err) // unreachable: a test offers every tool
		}
		wanted[t.Name] = string(text)
		if c.offered[t.Name] != wanted[t.Name] {
			server.AddTool(&t.Tool, c.handler(t))
		}
	}
	gone := slices.Collect(maps.Keys(c.offered))
	gone = slices.DeleteFunc(gone, func(name string) bool { return wanted[name] != "" })
	if len(gone) > 0 {
		server.RemoveTools(gone...)
	}
	c.offered = wanted
}

// tools returns the server's tools that the principal may use.
func (c *client) tools(v *view) []tool {
	all := []tool{c.executeTool(v)}
	if v.set.Len() > 0 || len(c.unlisted()) > 0 {
		all = append(all, c.searchTool(), c.describeTool())
	}
	all = append(all, c.fileTools()...)
	all = append(all, c.environmentTools()...)
	if c.app.options.Model != nil {
		all = append(all, c.taskTool())
	}
	return slices.DeleteFunc(all, func(t tool) bool { return !c.offers(t.Name) })
}

// offers reports whether the server offers a tool and the principal may use it.
func (c *client) offers(name string) bool {
	offer := serve.Principal{Name: "all", Tools: c.app.options.Offer}
	return offer.Allows(name) && c.principal.Allows(name)
}

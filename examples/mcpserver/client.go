package main

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/tools/mcptools/serve"
)

// client is what one principal is served: one MCP server, whatever the number of
// its connections, with the tools that it may use.
type client struct {
	app       *app
	principal serve.Principal
	server    *mcp.Server

	mu      sync.Mutex
	offered map[string]string // each tool that the server has, as JSON
}

// clients are those that have come so far, but for those that have been gone for
// long.
type clients struct {
	mu   sync.Mutex
	list map[string]*client
}

// mostIdle is how many clients are kept that are not connected.
const mostIdle = 200

// client returns the client of a principal.
func (a *app) client(p serve.Principal) *client {
	a.clients.mu.Lock()
	defer a.clients.mu.Unlock()
	name, err := json.Marshal(p)
	if err != nil {
		panic(err) // unreachable: two texts
	}
	if c := a.clients.list[string(name)]; c != nil {
		return c
	}
	if len(a.clients.list) >= mostIdle {
		maps.DeleteFunc(a.clients.list, func(_ string, c *client) bool { return empty(c.server.Sessions()) })
	}
	c := &client{app: a, principal: p, offered: map[string]string{}}
	c.server = mcp.NewServer(&mcp.Implementation{Name: "writ", Title: "Writ", Version: version}, &mcp.ServerOptions{
		Instructions: instructions,
		// it logs what clients do, line by line
		Logger: slog.New(slog.DiscardHandler),
		// others see other tools
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	c.server.AddReceivingMiddleware(a.catalog.awaited)
	c.update()
	if a.clients.list == nil {
		a.clients.list = map[string]*client{}
	}
	a.clients.list[string(name)] = c
	return c
}

func empty[T any](all iter.Seq[T]) bool {
	for range all {
		return false
	}
	return true
}

// updateClients offers all clients what there is now. Those that are connected are
// notified.
func (a *app) updateClients() {
	a.clients.mu.Lock()
	defer a.clients.mu.Unlock()
	for _, c := range a.clients.list {
		c.update()
	}
}

// update makes the server offer the current tools of the catalog. Tools that have not
// changed are not replaced, so that clients get no needless notification.
func (c *client) update() {
	view, release, err := c.app.catalog.use(c.principal)
	if err != nil {
		c.app.log.Error("the tools stay as they were", "client", c.principal.Name, "err", err)
		return
	}
	defer release()
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted := map[string]string{}
	for _, t := range c.tools(view) {
		text, err := json.Marshal(t.Tool)
		if err != nil {
			panic(err) // unreachable: a test offers every tool
		}
		wanted[t.Name] = string(text)
		if c.offered[t.Name] != wanted[t.Name] {
			c.server.AddTool(&t.Tool, c.handler(t))
		}
	}
	gone := slices.DeleteFunc(slices.Collect(maps.Keys(c.offered)), func(name string) bool { return wanted[name] != "" })
	if len(gone) > 0 {
		c.server.RemoveTools(gone...)
	}
	c.offered = wanted
}

// tools are what the principal may use of what the server can do.
func (c *client) tools(v *view) []tool {
	all := []tool{c.executeTool(v.set)}
	if v.set.Len() > 0 || len(c.unlisted()) > 0 {
		all = append(all, c.searchTool(), c.describeTool())
	}
	all = append(all, c.fileTools()...)
	all = append(all, c.environmentTools()...)
	if c.app.model != nil {
		all = append(all, c.taskTool())
	}
	return slices.DeleteFunc(all, func(t tool) bool { return !c.principal.Allows(t.Name) })
}

const instructions = `Programs in JavaScript, run in a sandbox. execute_code runs one, with the tools of other ` +
	`servers as globals: write one program that does all the steps and prints or returns only what you need, ` +
	`instead of many single calls.`

package codemode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/writ-go/writ/agent/codemode/serve"
)

// Check writes what Serve would offer with the same options: its tools, the tools that programs can call, limits
// and warnings. It waits until every server has connected or failed. The error lists everything that would not work.
func (s *Server) Check(ctx context.Context, w io.Writer, o *serve.Options) error {
	o = s.serving(o)
	errs := []error{o.Check(ctx)}
	if err := s.catalog.complete(ctx); err != nil {
		return err
	}
	s.updateClients()
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, s.secrets.text(fmt.Sprintf(format, args...)))
	}
	for _, t := range s.allTools() {
		row("tool", "%s", t.Name)
	}
	for _, b := range s.catalog.current().own.Bindings() {
		row("function", "%s", b.Path())
	}
	for _, status := range s.catalog.status() {
		if status.Err != nil {
			row("server", "%s: %v", status.Name, status.Err)
			errs = append(errs, fmt.Errorf("server %s is not connected", status.Name))
			continue
		}
		row("server", "%s: %d tools (MCP %s): %s", status.Name, status.Tools, status.ProtocolVersion,
			s.catalog.toolsOf(status.Name))
	}
	for _, warning := range append(s.catalog.current().warnings, s.strayPatterns(o.Auth)...) {
		row("warning", "%s", warning)
	}
	row("clients", "%s", clientsOf(o))
	s.checkLimits(row)
	errs = append(errs, s.checkStorage(ctx, row), table.Flush())
	return errors.Join(errs...)
}

// allTools returns the tools for a principal that may use everything.
func (s *Server) allTools() []tool {
	return (&client{app: s, principal: local}).tools(s.catalog.everything())
}

func (s *Server) checkLimits(row func(name, format string, args ...any)) {
	o, l := s.options, s.box.Limits()
	row("programs", "%s, at most %s of it CPU time, %d MiB, %d tool calls, %d at the same time", l.Time,
		min(l.Compute, l.Time), l.Memory>>20, l.Calls, o.Queue.Running)
	row("isolation", "%s", strings.TrimPrefix(strings.ReplaceAll(s.box.Isolation(), "\n", "; "), "isolation: "))
	if len(o.Packages) > 0 {
		installing := "off"
		if o.AllowInstall {
			installing = "allowed"
		} else if o.Storage == "" {
			row("warning", "packages: programs cannot import packages, because none are installed; "+
				"allow installing, or set a storage folder whose environments have packages")
		}
		row("packages", "%s; installing is %s", strings.Join(o.Packages, ", "), installing)
	}
	if o.Model != nil {
		tokens := "any number of tokens"
		if o.Task.Tokens > 0 {
			tokens = fmt.Sprintf("%d tokens", o.Task.Tokens)
		}
		row("tasks", "at most %d programs, %s, %s", o.Task.Steps, o.Task.Time, tokens)
	}
}

// checkStorage writes the environments of clients without authentication.
func (s *Server) checkStorage(ctx context.Context, row func(name, format string, args ...any)) error {
	row("storage", "%s", cmp.Or(s.options.Storage, "a temporary folder"))
	c := &client{app: s, principal: local}
	all, err := c.space().Environments(ctx)
	for _, found := range all {
		e, openErr := c.environment(ctx, found.Handle, false)
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		imports, importErr := e.packages.Importable()
		err = errors.Join(err, importErr)
		row("environment", "%s of %s: %s", found.Name, local.Name, cmp.Or(strings.Join(imports, ", "), "no packages"))
	}
	return err
}

// clientsOf describes the transport and the clients that may use the server.
func clientsOf(o *serve.Options) string {
	if cmp.Or(o.Transport, serve.Stdio) == serve.Stdio {
		return "stdio: the program that starts the server"
	}
	who := "all programs on this machine, without authentication"
	if o.Auth != nil {
		who = "clients with a token"
	}
	return fmt.Sprintf("%s on %s%s: %s", o.Transport, cmp.Or(o.Addr, "127.0.0.1:8080"), cmp.Or(o.Path, "/mcp"), who)
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/writ-go/writ/tools/mcptools/serve"
)

// check prints what would be served. The error lists everything that would not work.
func (a *app) check(ctx context.Context, w io.Writer) error {
	var errs []error
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, a.hidden.text(fmt.Sprintf(format, args...)))
	}
	if err := a.catalog.complete(ctx); err != nil {
		return err
	}
	for _, t := range a.client(local).tools(a.catalog.everything()) {
		row("tool", "%s", t.Name)
	}
	for _, s := range a.catalog.status() {
		if s.Err != nil {
			row("server", "%s: %v", s.Name, s.Err)
			errs = append(errs, fmt.Errorf("server %s is not connected", s.Name))
			continue
		}
		row("server", "%s: %d tools (MCP %s): %s", s.Name, s.Tools, s.ProtocolVersion, a.catalog.toolsOf(s.Name))
	}
	for _, w := range a.catalog.everything().set.Warnings() {
		row("warning", "%s", w)
	}
	for _, w := range a.strayPatterns() {
		row("warning", "%s", w)
	}
	a.checkLimits(row)
	if err := a.checkStorage(ctx, row); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, table.Flush())...)
}

func (a *app) checkLimits(row func(name, format string, args ...any)) {
	s, l := a.settings, a.box.Limits()
	row("clients", "%s", s.serves())
	row("programs", "%s, at most %s of it computing, %d MiB, %d tool calls, %d at the same time", l.Time,
		min(l.Compute, l.Time), l.Memory>>20, l.Calls, s.programs())
	row("isolation", "%s", strings.TrimPrefix(strings.ReplaceAll(a.box.Isolation().String(), "\n", "; "), "isolation: "))
	if len(s.packages) > 0 {
		if !s.install && s.storage == "" {
			row("warning",
				"-packages: no program can import any of them: without -allow-install none is installed, and without "+
					"-storage no folder has some that were installed before")
		}
		row("packages", "%s; installing is %s", strings.Join(s.packages, ", "),
			map[bool]string{true: "allowed", false: "off"}[s.install])
	}
	if a.model != nil {
		row("tasks", "%s: %d steps, %s, %s", s.model, s.task.steps, s.task.time, tokens(s.task.tokens))
	}
}

// checkStorage prints the stored files, sessions and environments of the client that needs
// no token.
func (a *app) checkStorage(ctx context.Context, row func(name, format string, args ...any)) error {
	row("storage", "%s", cmp.Or(a.settings.storage, "a folder that goes with the server"))
	c := a.client(local)
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

// serves describes the transport and who may use the server.
func (s *settings) serves() string {
	o := s.serving
	if cmp.Or(o.Transport, serve.Stdio) == serve.Stdio {
		return "stdio: whoever starts the server"
	}
	who := "everybody on this machine, without authentication"
	if o.Auth != nil {
		who = "who has a token of " + cmp.Or(s.tokens, s.oauth.issuer)
	}
	return fmt.Sprintf("%s on %s%s: %s", o.Transport, cmp.Or(o.Addr, "127.0.0.1:8080"), cmp.Or(o.Path, "/mcp"), who)
}

func tokens(n int) string {
	if n == 0 {
		return "any number of tokens"
	}
	return fmt.Sprintf("%d tokens", n)
}

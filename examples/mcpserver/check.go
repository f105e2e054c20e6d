package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
)

// check prints what would be served. The error says what of it would not work.
func (a *app) check(w io.Writer) error {
	var errs []error
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, a.hidden.text(fmt.Sprintf(format, args...)))
	}
	for _, t := range a.client(local).tools(a.catalog.everything()) {
		row("tool", "%s", t.Name)
	}
	for _, s := range a.catalog.status() {
		if s.Err != nil {
			row("server", "%s: %v", s.Name, s.Err)
			errs = append(errs, fmt.Errorf("server %s is not there", s.Name))
			continue
		}
		row("server", "%s: %d tools (MCP %s)", s.Name, s.Tools, s.ProtocolVersion)
	}
	for _, w := range a.catalog.everything().set.Warnings() {
		row("warning", "%s", w)
	}
	a.checkLimits(row)
	return errors.Join(append(errs, table.Flush())...)
}

func (a *app) checkLimits(row func(name, format string, args ...any)) {
	s, l := a.settings, a.box.Limits()
	row("storage", "%s", cmp.Or(s.storage, "a folder that goes with the server"))
	row("transport", "%s", s.transport)
	row("programs", "%s, %d MiB, %d tool calls, %d at the same time", l.Time, l.Memory>>20, l.Calls, cmp.Or(s.workers, max(4, 2*runtime.NumCPU())))
	row("isolation", "%s", strings.ReplaceAll(a.box.Isolation().String(), "\n", "; "))
	if a.model != nil {
		row("tasks", "%s: %d steps, %s, %s", s.model, s.task.steps, s.task.time, tokens(s.task.tokens))
	}
}

func tokens(n int) string {
	if n == 0 {
		return "any number of tokens"
	}
	return fmt.Sprintf("%d tokens", n)
}

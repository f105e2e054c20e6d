package sandbox

import (
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools/discovery"
)

// discoverer is the object that holds search and describe.
const discoverer = discovery.Object

// params are the parameters of its members, and usage shows how to call them.
var (
	params = map[string][]string{"search": {"query", "options"}, "describe": {"name"}}
	usage  = map[string]string{"search": "tools.search(query, {server, limit, declare})", "describe": "tools.describe(name)"}
)

// NothingFound is the kind of a warning about a search that found no tool.
const NothingFound Kind = "nothing_found"

// nothingFound returns a warning about the first search that found no tool. The warning
// lists the servers that exist.
func (h *host) nothingFound(calls []Call) []Finding {
	for _, c := range calls {
		if c.Error != nil {
			continue
		}
		if note := h.discovery.Note(c.Tool, c.Args, c.Result); note != "" {
			return []Finding{h.finding(NothingFound, note, "", engine.Pos{Line: c.Line, Column: c.Column})}
		}
	}
	return nil
}

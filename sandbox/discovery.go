package sandbox

import (
	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/discovery"
)

// discoverer is the object that has search and describe.
const discoverer = discovery.Object

// params are the parameters of its members, and usage is how they are called.
var (
	params = map[string][]string{"search": {"query", "options"}, "describe": {"name"}}
	usage  = map[string]string{"search": "tools.search(query, {server, limit, declare})", "describe": "tools.describe(name)"}
)

// NothingFound is the kind of a warning about a search that found no tool.
const NothingFound Kind = "nothing_found"

// fruitless is a warning about the first search that found no tool, which says what
// servers there are; it is empty if there was no such search.
func (h *host) fruitless(calls []Call) []Finding {
	for _, c := range calls {
		if c.Tool != discoverer+".search" || c.Error != nil {
			continue
		}
		if note := h.finder.Note(tools.Call{Args: c.Args}, c.Result); note != "" {
			return []Finding{h.finding(NothingFound, note, "", engine.Pos{Line: c.Line, Column: c.Column})}
		}
	}
	return nil
}

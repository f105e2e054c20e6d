package mcptools

import (
	"errors"
	"maps"

	"github.com/writ-go/writ/tools"
)

// Pins are the fingerprints of tools that a host has approved, by server and tool. Store
// them as JSON and pass them as Options.Pins later.
type Pins map[string]map[string]string

// Pins returns the fingerprints of the tools in each server's last listing, including tools that were left out because
// they had changed. A server that has not been listed is missing.
func (s *Servers) Pins() Pins {
	pins := Pins{}
	for _, srv := range s.servers {
		srv.mu.Lock()
		if srv.pins != nil {
			pins[srv.name] = maps.Clone(srv.pins)
		}
		srv.mu.Unlock()
	}
	return pins
}

// approved compares a tool with its pin or, for a server without pins, with the same tool in the first listing. If
// the tool differs, approved adds a warning. It reports whether the tool may be offered.
func (l *listing) approved(t *listedTool) bool {
	s := l.server
	now := t.fingerprint()
	l.pins[t.Name] = now
	known, pinned := s.o.Pins[s.name]
	if !pinned {
		known = l.first
	}
	before, seen := known[t.Name]
	var problem string
	switch {
	case before == now, !seen && !pinned:
		return true
	case seen && pinned:
		problem = "has changed since it was approved"
	case seen:
		problem = "has changed since it was first listed"
	default:
		problem = "was not approved"
	}
	if !s.o.RefuseChanged {
		l.warn("tool %q %s", t.Name, problem)
		return true
	}
	l.refused[t.Name] = "the tool " + problem
	l.warn("tool %q %s; it is left out", t.Name, problem)
	return false
}

// refusal returns the error for a call to a changed tool, or nil if the tool may be called.
func (r *remote) refusal() error {
	r.server.mu.Lock()
	reason := r.server.refused[r.name]
	r.server.mu.Unlock()
	if reason == "" {
		return nil
	}
	te := &tools.ToolError{Kind: tools.KindDenied, Message: reason + "; the call was not made"}
	return te.WithCause(r.named(errors.New(
		reason + "; to approve it, copy the server's pins from Servers.Pins to Options.Pins")))
}

package mcptools

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
)

// Pins are the fingerprints of tools as a host approved them, by server and
// tool. They are plain JSON, to be stored and given as Options.Pins.
type Pins map[string]map[string]string

// Pins returns the fingerprints of the tools in the last listing of each
// server, of those too that were left out because they had changed. A server
// that has not been listed is missing.
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

// fingerprint is a hash of all that a model or a policy goes by. The order of
// properties is no part of it, which some transports lose.
func (t *listedTool) fingerprint() string {
	all := []any{
		t.Name, t.Title, t.Description, canonical(t.InputSchema), canonical(t.OutputSchema),
		t.Annotations.Title, t.Annotations.ReadOnlyHint, t.Annotations.IdempotentHint, t.Annotations.DestructiveHint,
	}
	text, _ := json.Marshal(all) // of what has been JSON
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// canonical returns JSON as a value that is written in one way only. A schema that is too
// large for that, and so for a tool, is taken as it is written.
func canonical(raw json.RawMessage) any {
	if tooManyToDecode(raw) {
		return string(raw)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return nil // there is none
	}
	return value
}

// approved compares a tool with what was approved, or, where nothing was, with
// the first listing; and reports whether it may be offered.
func (l *listing) approved(t *listedTool) bool {
	s := l.server
	now := t.fingerprint()
	l.pins[t.Name] = now
	known, pinned := s.o.Pins[s.name]
	if !pinned {
		known = l.first
	}
	before, seen := known[t.Name]
	switch {
	case before == now, !seen && !pinned:
		return true
	case seen && pinned:
		l.refuse(t, "the tool has changed since it was approved")
		l.warn("tool %q is not what was approved: its description or schema has changed%s", t.Name, l.consequence())
	case seen:
		l.refuse(t, "the tool has changed since it was first listed")
		l.warn("tool %q has changed its description or schema since it was first listed%s", t.Name, l.consequence())
	default:
		l.refuse(t, "the tool was not approved")
		l.warn("tool %q is new since the others were approved%s", t.Name, l.consequence())
	}
	return !s.o.RefuseChanged
}

// refuse keeps a tool that a Set has from being called, if the host wants that.
func (l *listing) refuse(t *listedTool, why string) {
	if l.server.o.RefuseChanged {
		l.refused[t.Name] = why
	}
}

func (l *listing) consequence() string {
	if l.server.o.RefuseChanged {
		return "; it is left out"
	}
	return ""
}

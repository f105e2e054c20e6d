package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Class says what it means to call a tool twice: [Unclassified] (the zero value),
// [Effect], [Idempotent] or [Read]. The host sets it. What a server claims of its
// own tools is in [Tool].Claims and never grants permission.
type Class int

const (
	// Unclassified is a tool of which the host has said nothing. It counts as an
	// Effect, except that replay believes its server and its name: see
	// [Binding.ReplayClass].
	Unclassified Class = iota
	// Effect is a tool whose repetition matters: a mail sent twice is two mails.
	Effect
	// Idempotent is a tool whose exact repetition changes nothing more.
	Idempotent
	// Read is a tool that changes nothing.
	Read
)

// Hints is what the host knows of a tool beyond its schema.
type Hints struct {
	// Class says what a repeated call means. The zero value is Unclassified.
	Class Class

	// Destructive marks a tool whose effect cannot be undone. Policies read it,
	// and [Set.Warnings] says so if nobody is asked before it is called.
	Destructive bool

	// Repeatable marks an Effect that may be repeated at will, such as
	// appending to a scratch log.
	Repeatable bool

	// ErrorsAreFinal says that an error which the tool reports means that nothing
	// was done, so that the same call may simply be made again.
	ErrorsAreFinal bool

	// Identity names the arguments that say which effect a call is; nil means
	// all of them, and empty none: all calls are the same effect. A mail tool
	// whose text is regenerated on every attempt has the identity {"to",
	// "subject"}. A Read has no use for it.
	Identity []string
}

// Claims is what a server says of its own tool, such as the annotations of MCP.
// It may be wrong, so it is believed where a call is repeated (see
// [Binding.ReplayClass]) and never where a call needs permission.
type Claims struct {
	ReadOnly   bool // calling it changes nothing
	Idempotent bool // calling it again with the same arguments changes nothing more
}

// ReplayClass is what a repeated call means as far as replay is concerned: the
// class that the host gave the tool or, if it gave none, what the tool's server
// claims, or else Read for a name that begins with get, list, search, find, read,
// describe, count or query. Of a tool that is marked Destructive only the host is
// believed.
//
// To perform a read again hurts nobody, so a wrong guess costs little. Policies must
// not use it: they look at Hints.Class.
func (b *Binding) ReplayClass() Class {
	switch {
	case b.Hints.Class != Unclassified, b.Hints.Destructive:
		return b.Hints.Class
	case b.Claims.ReadOnly, readingName.MatchString(b.Name):
		return Read
	case b.Claims.Idempotent:
		return Idempotent
	}
	return Unclassified
}

// readingName matches names of tools that read: get, getUser, list_users. (Of 47
// such names on real servers, 45 were of tools that only read.)
var readingName = regexp.MustCompile(`^(get|list|search|find|read|describe|count|query)($|[^a-z])`)

// check refuses what cannot be meant. A misspelt identity would make all calls
// one effect, and only the first would be performed.
func (h Hints) check(input json.RawMessage) error {
	if h.Class < Unclassified || h.Class > Read {
		return fmt.Errorf("hints: class %d does not exist; use Effect, Idempotent or Read", h.Class)
	}
	if len(h.Identity) == 0 {
		return nil
	}
	var known struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(input, &known); err != nil || known.Properties == nil {
		return nil // the arguments have no names that could be checked
	}
	for _, name := range h.Identity {
		if _, ok := known.Properties[name]; !ok {
			return fmt.Errorf("hints: the identity %q is no argument of the tool", name)
		}
	}
	return nil
}

// WithHints returns a source of the same tools with the hints that the host
// gives them, for tools that come without: those of an MCP server say of
// themselves what they please, and only the host knows which servers to trust.
//
//	files := tools.WithHints(servers, func(t *tools.Tool) tools.Hints {
//		switch t.Namespace + "." + t.Name {
//		case "fs.read_file", "fs.list_directory":
//			return tools.Hints{Class: tools.Read}
//		case "fs.write_file":
//			return tools.Hints{Class: tools.Idempotent}
//		}
//		return t.Hints
//	})
//
// Hints are given by namespace and name: any server can offer a tool that is
// called read_file.
//
// The tools are copied; those of source stay as they are.
func WithHints(source Source, hints func(*Tool) Hints) Source {
	return hinted{source, hints}
}

type hinted struct {
	source Source
	hints  func(*Tool) Hints
}

// Tools implements [Source].
func (h hinted) Tools(ctx context.Context) ([]*Tool, error) {
	if h.source == nil || h.hints == nil {
		return nil, errors.New("tools: WithHints needs a source and a function")
	}
	list, err := h.source.Tools(ctx)
	copies := make([]*Tool, len(list))
	for i, t := range list {
		if t == nil {
			continue // NewSet says so
		}
		c := *t
		c.Hints = h.hints(&c)
		copies[i] = &c
	}
	return copies, err
}

// String returns the name: unclassified, effect, idempotent or read.
func (c Class) String() string {
	switch c {
	case Unclassified:
		return "unclassified"
	case Effect:
		return "effect"
	case Idempotent:
		return "idempotent"
	case Read:
		return "read"
	default:
		return fmt.Sprintf("class %d", int(c))
	}
}

// MarshalText implements [encoding.TextMarshaler] with the name.
func (c Class) MarshalText() ([]byte, error) {
	if c < Unclassified || c > Read {
		return nil, fmt.Errorf("hints: class %d does not exist", int(c))
	}
	return []byte(c.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It returns an error if no
// class has that name.
func (c *Class) UnmarshalText(name []byte) error {
	for known := Unclassified; known <= Read; known++ {
		if known.String() == string(name) {
			*c = known
			return nil
		}
	}
	return fmt.Errorf("hints: class %q does not exist; use effect, idempotent, read or unclassified", name)
}

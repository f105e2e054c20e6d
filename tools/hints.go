package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Class says what it means to call a tool twice: [Effect] (the default),
// [Idempotent] or [Read]. It is set by the host, never by what a server claims of
// itself.
type Class int

const (
	// Effect is a tool whose repetition matters: a mail sent twice is two
	// mails. It is the default.
	Effect Class = iota
	// Idempotent is a tool whose exact repetition changes nothing more.
	Idempotent
	// Read is a tool that changes nothing.
	Read
)

// Hints is what the host knows of a tool beyond its schema.
type Hints struct {
	// Class says what a repeated call means. The zero value is Effect.
	Class Class

	// Destructive marks a tool whose effect cannot be undone. Policies read it,
	// and [Set.Warnings] says so if nobody is asked before it is called.
	Destructive bool

	// Repeatable marks an Effect that may be repeated at will, such as
	// appending to a scratch log.
	Repeatable bool

	// Identity names the arguments that say which effect a call is; nil means
	// all of them, and empty none: all calls are the same effect. A mail tool
	// whose text is regenerated on every attempt has the identity {"to",
	// "subject"}. A Read has no use for it.
	Identity []string
}

// check refuses what cannot be meant. A misspelt identity would make all calls
// one effect, and only the first would be performed.
func (h Hints) check(input json.RawMessage) error {
	if h.Class < Effect || h.Class > Read {
		return fmt.Errorf("hints: %d is no class; use Effect, Idempotent or Read", h.Class)
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

// String returns the name: effect, idempotent or read.
func (c Class) String() string {
	switch c {
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
	if c < Effect || c > Read {
		return nil, fmt.Errorf("hints: %d is no class", int(c))
	}
	return []byte(c.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. The error is that there is no
// class of that name.
func (c *Class) UnmarshalText(name []byte) error {
	for known := Effect; known <= Read; known++ {
		if known.String() == string(name) {
			*c = known
			return nil
		}
	}
	return fmt.Errorf("hints: %q is no class; use effect, idempotent or read", name)
}

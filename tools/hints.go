package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

// Class describes what happens if a tool is called twice. The host sets it in [Hints]. What a
// server claims about its own tool is in [Tool].Claimed.
type Class int

const (
	// Unclassified is the class of a tool that the host has not classified. It is treated
	// as Effect, except in replay: see [Binding.ReplayClass].
	Unclassified Class = iota
	// Effect is the class of tools for which a repeated call has a second effect, such as a second mail.
	Effect
	// Idempotent is the class of tools for which an identical second call changes nothing more.
	Idempotent
	// Read is the class of tools that change nothing.
	Read
)

// Hints describe a tool. The host sets them.
type Hints struct {
	// Class says what effect a repeated call has. The zero value is Unclassified.
	Class Class

	// Destructive marks a tool whose effect cannot be undone. Policies use it, and
	// [Set.Warnings] warns if the tool can be called without approval.
	Destructive bool

	// Repeatable marks an Effect that may be repeated without limit, such as appending to
	// a scratch log.
	Repeatable bool

	// ErrorsAreFinal means that the tool did nothing if it reports an error, so that the
	// call may be repeated.
	ErrorsAreFinal bool

	// Identity names the arguments that identify an effect: two calls with the same values
	// for them are the same effect. Nil means all arguments. If it is empty but not nil,
	// all calls are the same effect. A mail tool whose text differs in every attempt has
	// the identity {"to", "subject"}. Tools of class Read do not need it.
	Identity []string
}

// ReplayClass returns the class that the journal uses for a repeated call. It is the class
// that the host gave the tool. For an unclassified tool that is not Destructive, it is Read
// if the tool's name begins with get, list, search, find, read, describe, count or query, and
// otherwise the class that the server claims.
//
// A wrong guess costs little, since repeating a read does no harm. Policies use Hints.Class
// instead.
func (b *Binding) ReplayClass() Class {
	switch {
	case b.Hints.Class != Unclassified, b.Hints.Destructive:
		return b.Hints.Class
	case readingName.MatchString(b.Name):
		return Read
	}
	return b.Claimed
}

// readingName matches the names of tools that read: get, getUser, list_users. (On real servers, 45 of 47 tools with
// such names only read.)
var readingName = regexp.MustCompile(`^(get|list|search|find|read|describe|count|query)($|[^a-z])`)

// check reports invalid hints. With a misspelled identity, all calls would be the same effect,
// and only the first would be performed.
func (h Hints) check(input json.RawMessage) error {
	if h.Class < Unclassified || h.Class > Read {
		return fmt.Errorf("hints: unknown class %d; use Effect, Idempotent or Read", h.Class)
	}
	if len(h.Identity) == 0 {
		return nil
	}
	var known struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(input, &known); err != nil || known.Properties == nil {
		return nil // the argument names are unknown
	}
	for _, name := range h.Identity {
		if _, ok := known.Properties[name]; !ok {
			return fmt.Errorf("hints: the identity %q is not one of the tool's arguments", name)
		}
	}
	return nil
}

// WithHints returns a source of the same tools with hints from the host. MCP servers' tools have no hints of their own,
// since only the host knows which servers to trust.
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
// Check both namespace and name, since any server can offer a tool named read_file.
//
// WithHints copies source's tools and does not modify them.
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
			continue // NewSet returns an error
		}
		c := *t
		c.Hints = h.hints(&c)
		copies[i] = &c
	}
	return copies, err
}

var classNames = []string{"unclassified", "effect", "idempotent", "read"}

// String returns unclassified, effect, idempotent or read.
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return fmt.Sprintf("class %d", int(c))
	}
	return classNames[c]
}

// MarshalText implements [encoding.TextMarshaler] with the name.
func (c Class) MarshalText() ([]byte, error) {
	if c < Unclassified || c > Read {
		return nil, fmt.Errorf("hints: unknown class %d", int(c))
	}
	return []byte(c.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It returns an error for an unknown class.
func (c *Class) UnmarshalText(name []byte) error {
	i := slices.Index(classNames, string(name))
	if i < 0 {
		return fmt.Errorf("hints: unknown class %q; use effect, idempotent, read or unclassified", name)
	}
	*c = Class(i)
	return nil
}

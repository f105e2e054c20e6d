package tools

import (
	"context"
	"encoding/json"
)

// Tool is one thing that a program may call: what the model is told about it
// and the Go code that runs. It is the exact, untyped layer; [Func] makes one
// from a typed Go function.
//
// A Tool is not changed once it is in a [Set].
type Tool struct {
	// Namespace groups tools that belong together, such as those of one MCP
	// server: a program calls namespace.name(args). Tools without one are
	// called by their name alone.
	Namespace string

	// Name is the tool's name as its handler or server knows it. It may be any
	// text; the Set derives from it the name that a program uses.
	Name string

	// Description says what the tool does, for the model.
	Description string

	// InputSchema is the JSON Schema of the one argument, which is always an
	// object. Nil means that any object is accepted; so do null and true. Of a
	// tool that has only one property, a required string or array, programs may also
	// pass that alone: see [Binding.Named].
	InputSchema json.RawMessage

	// OutputSchema is the JSON Schema of the result; nil where none is known,
	// which for an MCP tool means text or blocks of content.
	OutputSchema json.RawMessage

	// Hints is what the host says of the tool.
	Hints Hints

	// Claims is what the tool's server says of it.
	Claims Claims

	// Handler does the work. It is called concurrently.
	Handler Handler

	err error // why the tool could not be built; reported by NewSet
}

// Handler performs one call. The arguments have been validated against the
// tool's InputSchema and are not to be modified. The result is JSON; nil stands
// for undefined.
//
// An error goes to the program as a [ToolError], which the model reads and may
// act on; wrap it with [HostOnly] to keep its text from the model, or with
// [Fatal] to end the whole run. What kind of error it is says whether the call
// may be repeated, so an error from which it is not clear whether anything was
// done should be a ToolError of kind [KindUnknown]. A panic counts as one, and so
// does any error, but for a ToolError with a kind, after an effect that was made
// with ctx, as by a module that the Handler runs.
type Handler func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

// Source supplies tools to a [Set]: a [Tool] itself, or a group of MCP servers.
//
// If it has a method Warnings() []string, what that returns after Tools is part
// of [Set.Warnings]: what the host should know of the tools, or of why some are
// missing.
type Source interface {
	// Tools returns the tools as they are now. The result is not modified.
	Tools(ctx context.Context) ([]*Tool, error)
}

// warner is a [Source] with warnings.
type warner interface{ Warnings() []string }

// Tools returns the tool itself, which makes a Tool a [Source]. The error is
// always nil.
func (t *Tool) Tools(context.Context) ([]*Tool, error) { return []*Tool{t}, nil }

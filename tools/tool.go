package tools

import (
	"context"
	"encoding/json"
)

// Tool is a function that programs may call. Its arguments and result are JSON. [Func] makes a
// Tool from a typed Go function.
//
// A Tool must not be modified once it is in a [Set].
type Tool struct {
	// Namespace groups tools that belong together, such as those of one MCP server.
	// Programs call namespace.name(args), or name(args) if it is empty.
	Namespace string

	// Name is the name that the handler or server uses. It may be any string: the Set
	// derives the name for programs from it.
	Name string

	// Description tells the model what the tool does.
	Description string

	// InputSchema is the JSON Schema of the argument, which is always an object. Nil, null and true accept any object.
	// If the object has only one property, a required string or array, programs may also pass the property's value.
	InputSchema json.RawMessage

	// Params, if set, are the properties that programs pass as separate arguments, in this
	// order: search(query, options) instead of search({query, options}). Then no argument is
	// left for [Repeat], so Params are only for tools that read.
	Params []string

	// OutputSchema is the JSON Schema of the result, or nil if it is unknown. An MCP tool
	// without an output schema returns text or content blocks.
	OutputSchema json.RawMessage

	// Hints are set by the host.
	Hints Hints

	// Claimed is the class that the tool's server claims, such as by the annotations of MCP:
	// Read, Idempotent or Unclassified. It may be wrong. Replay uses it (see
	// [Binding.ReplayClass]); permissions never do.
	Claimed Class

	// Remark, if set, returns a remark for a program's author about a call's result, for example that a search found
	// nothing, or "". The sandbox reports the remark as a warning.
	Remark func(args, result json.RawMessage) string

	// Handler performs the calls. It is called concurrently.
	Handler Handler

	// Revert, if set, undoes a call that was made with args and returned result, which is nil if it could not be used.
	// Only package journal's Rollback calls Revert. After an error, the call may or may not be undone, and Revert is
	// not called again, unless the error is a [ToolError] whose Kind says that nothing was done.
	Revert func(ctx context.Context, args, result json.RawMessage) error

	// RevertWith, if set and Revert is not, is the call that undoes a call.
	RevertWith *Inverse

	// Module is set by module.Tool. It returns a pointer to the module that Handler runs, so that
	// module.Predictors and module.Clone can reach that module.
	Module func() any

	err error // of Func; NewSet returns it
}

// Inverse is the call that undoes another call, such as delete_event for create_event.
type Inverse struct {
	// Tool is the name of the tool. It is in the same namespace.
	Tool string

	// Args returns the arguments, given the arguments and the result of the call that is undone. Result is nil if it
	// could not be used.
	Args func(args, result json.RawMessage) (json.RawMessage, error)
}

// Handler performs one call. The arguments are valid for the tool's InputSchema and must not
// be modified. The result is JSON; nil means undefined.
//
// An error becomes a [ToolError] in the program, and the model reads it. Use [HostOnly] to hide its text from the
// model, or [Fatal] to end the run. The error's kind determines whether the call may be repeated. If it is unclear
// whether the effect happened, use [Unknown]. The effect is also unknown after a panic, after an error that follows
// effects made with ctx, such as those of a module that the Handler runs, and after an error with a method
// MayHaveActed() bool that returns true. A ToolError's kind, if set, takes precedence. Only the host sees a panic's
// value and stack: see [ToolError.Unwrap].
type Handler func(ctx context.Context, args json.RawMessage) (json.RawMessage, error)

// Source supplies tools to a [Set]. A [Tool] is a Source, and so is a group of MCP servers.
//
// If a Source has a method Warnings() []string, it is called after Tools, and
// [Set.Warnings] includes its result.
type Source interface {
	// Tools returns the current tools. The caller does not modify the result.
	Tools(ctx context.Context) ([]*Tool, error)
}

// warner is a [Source] with warnings.
type warner interface{ Warnings() []string }

// Tools implements [Source]. It returns only t.
func (t *Tool) Tools(context.Context) ([]*Tool, error) { return []*Tool{t}, nil }

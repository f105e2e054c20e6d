package tools

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/writ-go/writ/signature/schema"
)

// Binding is a [Tool] in a [Set], with the names by which programs call it.
type Binding struct {
	*Tool

	// Object is the global object that has the tool as a member, or "" for a global
	// function. It is Tool.Namespace if that is a valid name.
	Object string

	// Names are the tool's names as a member of Object. The first is an identifier. If the
	// tool's own name is not an identifier, it is the second: fs.read_file(args) and
	// fs["read/file"](args).
	Names []string

	// Learned is a JSON Schema learned from earlier calls' results, for a tool without an OutputSchema, or nil. It is
	// only for declarations: results are not checked against it.
	Learned json.RawMessage

	input, output *lazySchema // shared by copies of the binding
}

// lazySchema is a schema that is compiled when it is first needed, since most servers' tools are never called.
type lazySchema struct {
	mu       sync.Mutex
	raw      json.RawMessage // nil once it is compiled
	compiled *schema.Schema
	err      error
}

// get returns the compiled schema, or nil if the schema is missing or does not compile.
func (l *lazySchema) get() *schema.Schema {
	if l == nil { // the binding is not part of a set
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.raw != nil {
		l.compiled, l.err = schema.Compile(l.raw)
		l.raw = nil
	}
	return l.compiled
}

// failure returns the error with which the schema did not compile, or nil.
func (l *lazySchema) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Path returns the tool as a program writes it: mail.send, or refund.
func (b *Binding) Path() string {
	if b.Object == "" {
		return b.Names[0]
	}
	return b.Object + "." + b.Names[0]
}

// Check returns the violations of the tool's input schema in args. The argument unknown has
// the places of unknown values, which are null in args, as for
// [schema.Schema.ValidatePartial]; it is nil for a real call. Check requires an object, and
// reports argument names that differ from the names in the schema only in case. Null for an
// optional argument counts as a missing argument: see [schema.Schema.DropUnset].
func (b *Binding) Check(args []byte, unknown []string) []schema.Finding {
	input := b.input.get()
	if input == nil || !bytes.HasPrefix(bytes.TrimSpace(args), []byte("{")) {
		return anyObject.ValidatePartial(args, unknown)
	}
	findings := input.ValidatePartial(args, unknown)
	if len(findings) > 0 && bytes.Contains(args, []byte("null")) {
		findings = input.ValidatePartial(input.DropUnset(args), unknown)
	}
	if len(findings) > 0 {
		return findings
	}
	return input.OtherCase(args, 1)
}

// CheckResult returns how a result violates the tool's output schema. A nil result counts as
// null. If the tool has no output schema, or the schema does not compile, CheckResult returns nil. The
// chain of policies does not call it: the author of a Handler is responsible for its results.
func (b *Binding) CheckResult(result json.RawMessage) []schema.Finding {
	output := b.output.get()
	switch {
	case output == nil:
		return nil
	case len(result) == 0:
		result = json.RawMessage("null")
	}
	return output.Validate(result)
}

// OtherCase returns the names in args, at any depth, that differ only in case from a property
// of the input schema. See [schema.Schema.OtherCase].
func (b *Binding) OtherCase(args []byte) []schema.Finding {
	if input := b.input.get(); input != nil {
		return input.OtherCase(args, 0)
	}
	return nil
}

// Complete adds the defaults of the input schema to arguments that Check accepts, and drops
// the nulls that the schema forbids, so that the policies, the journal and the handler see
// the same arguments.
func (b *Binding) Complete(args json.RawMessage) json.RawMessage {
	input := b.input.get()
	if input == nil {
		return args
	}
	if bytes.Contains(args, []byte("null")) && len(input.Validate(args)) > 0 {
		args = input.DropUnset(args)
	}
	return input.Complete(args)
}

var anyObject = func() *schema.Schema {
	s, err := schema.Compile([]byte(`{"type":"object"}`))
	if err != nil {
		panic(err) // unreachable: the schema is a constant
	}
	return s
}()

package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/writ-go/writ/signature/schema"
)

// Set is what one program may call: an immutable snapshot of tools under the
// names that they have in JavaScript, and the policies around every call. It is
// safe for concurrent use. A nil *Set is empty.
type Set struct {
	bindings []*Binding
	policies []Policy
	warnings []string
}

// Binding is a [Tool] under the names by which programs call it.
type Binding struct {
	*Tool

	// Object is the global object that holds the tool, or "" for a global
	// function. It is Tool.Namespace where that is a valid name.
	Object string

	// Names are the tool's names as a member of Object. The first is always an
	// identifier; a second one is the tool's own name, where that is not:
	// fs.read_file(args) and fs["read/file"](args).
	Names []string

	input *schema.Schema // nil: any object
}

// Path is how a program writes the tool: mail.send, or refund.
func (b *Binding) Path() string {
	if b.Object == "" {
		return b.Names[0]
	}
	return b.Object + "." + b.Names[0]
}

// Check reports how args violate the tool's input schema. Places of args that
// are not known yet hold null and are named by unknown, as in
// [schema.Schema.ValidatePartial]; it is nil for the arguments of a real call.
func (b *Binding) Check(args []byte, unknown []string) []schema.Finding {
	if b.input == nil {
		return anyObject.ValidatePartial(args, unknown)
	}
	return b.input.ValidatePartial(args, unknown)
}

var anyObject = func() *schema.Schema {
	s, err := schema.Compile([]byte(`{"type":"object"}`))
	if err != nil {
		panic(err) // unreachable: the schema is the line above
	}
	return s
}()

// NewSet takes a snapshot of the sources' tools.
//
// A tool of the host's own (one without a Namespace) whose name is invalid,
// reserved or taken, or whose schema does not compile, is an error: its author
// can mend it. Tools in a namespace come from elsewhere and are never lost:
// they get a valid, unique name, or go without validation, and [Set.Warnings]
// says so.
func NewSet(ctx context.Context, sources ...Source) (*Set, error) {
	b := builder{members: map[string]bool{}, objects: map[string]string{}}
	var errs []error
	for i, source := range sources {
		if source == nil {
			errs = append(errs, fmt.Errorf("tools: source %d is nil", i+1))
			continue
		}
		list, err := source.Tools(ctx)
		if err != nil {
			errs = append(errs, err)
		}
		for _, tool := range list {
			errs = append(errs, b.add(tool))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &b.set, nil
}

// With returns a copy of the set with policies around every call, inside those
// it already has; the first given is the outermost of the new ones.
func (s *Set) With(policies ...Policy) *Set {
	var c Set
	if s != nil {
		c = *s
	}
	c.policies = slices.Concat(c.policies, policies)
	return &c
}

// Bindings returns the tools in the order in which the sources gave them.
func (s *Set) Bindings() []*Binding {
	if s == nil {
		return nil
	}
	return slices.Clone(s.bindings)
}

// Len returns the number of tools.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.bindings)
}

// Warnings says which tools were renamed and what else the host should know.
func (s *Set) Warnings() []string {
	if s == nil {
		return nil
	}
	return slices.Clone(s.warnings)
}

// builder gathers a Set and keeps its names apart.
type builder struct {
	set     Set
	members map[string]bool   // object NUL member, and object
	objects map[string]string // namespace → object
}

func (b *builder) add(t *Tool) error {
	switch {
	case t == nil:
		return errors.New("tools: a source gave a nil tool")
	case t.Handler == nil:
		return fmt.Errorf("tools: %s has no Handler", t.label())
	case t.Namespace == "":
		return b.addOwn(t)
	default:
		b.addForeign(t)
		return nil
	}
}

func (t *Tool) label() string {
	if t.Namespace == "" {
		return fmt.Sprintf("tool %q", t.Name)
	}
	return fmt.Sprintf("tool %q of %q", t.Name, t.Namespace)
}

func (b *builder) addOwn(t *Tool) error {
	switch {
	case !Identifier(t.Name):
		return fmt.Errorf("tools: %s: the name is not a JavaScript identifier; %q would be", t.label(), identifier(t.Name))
	case Reserved(t.Name):
		return fmt.Errorf("tools: %s: the name is reserved in programs; choose another", t.label())
	case b.members[t.Name]:
		return fmt.Errorf("tools: %s: the name is taken by another tool or namespace", t.label())
	}
	input, err := compileInput(t)
	if err != nil {
		return fmt.Errorf("tools: %s: input schema: %w", t.label(), err)
	}
	b.members[t.Name] = true
	b.set.bindings = append(b.set.bindings, &Binding{Tool: t, Names: []string{t.Name}, input: input})
	return nil
}

func (b *builder) addForeign(t *Tool) {
	binding := &Binding{Tool: t, Object: b.object(t.Namespace)}
	binding.Names = b.memberNames(binding.Object, t)
	input, err := compileInput(t)
	if err != nil {
		b.warn("%s: its arguments are not checked: input schema: %v", t.label(), err)
	}
	binding.input = input
	b.set.bindings = append(b.set.bindings, binding)
}

// object returns the global object of a namespace.
func (b *builder) object(namespace string) string {
	if object, ok := b.objects[namespace]; ok {
		return object
	}
	object := identifier(namespace)
	if Reserved(object) {
		object += "_"
	}
	object = unique(object, func(name string) bool { return b.members[name] })
	if object != namespace {
		b.warn("namespace %q is called %s in programs", namespace, object)
	}
	b.members[object] = true
	b.objects[namespace] = object
	return object
}

// memberNames returns the names of a tool in its object.
func (b *builder) memberNames(object string, t *Tool) []string {
	taken := func(name string) bool { return name == "__proto__" || b.members[object+"\x00"+name] }
	name := unique(identifier(t.Name), taken)
	names := []string{name}
	b.members[object+"\x00"+name] = true
	switch {
	case name == t.Name:
	case Identifier(t.Name) || taken(t.Name):
		b.warn("%s is called %s.%s in programs, because its own name is taken or reserved", t.label(), object, name)
	default:
		names = append(names, t.Name)
		b.members[object+"\x00"+t.Name] = true
	}
	return names
}

func (b *builder) warn(format string, args ...any) {
	b.set.warnings = append(b.set.warnings, fmt.Sprintf(format, args...))
}

func compileInput(t *Tool) (*schema.Schema, error) {
	if t.InputSchema == nil {
		return nil, nil
	}
	return schema.Compile(t.InputSchema)
}

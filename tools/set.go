package tools

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// Set is an immutable snapshot of the tools that a program may call, with their JavaScript
// names, and the policies that apply to every call. It is safe for concurrent use. A nil *Set
// is empty.
type Set struct {
	bindings []*Binding
	policies []Policy
	warnings []string
	logged   *sync.Map // the warnings that were logged; sets that are made from this one share it
}

// NewSet takes a snapshot of the sources' tools.
//
// A tool without a Namespace is the host's own. It is an error if its name is invalid,
// reserved or not unique, or if its schema does not compile. Tools in a namespace come from
// other sources, such as servers, and never cause errors: they get valid and unique names,
// and if an input schema does not compile, the arguments are not checked. [Set.Warnings]
// reports renamed tools and such schemas. The names do not depend on the order of the tools.
//
// The error joins all errors from the tools and sources.
func NewSet(ctx context.Context, sources ...Source) (*Set, error) {
	b := builder{set: Set{logged: &sync.Map{}}, globals: names{}, objects: map[string]string{},
		members: map[string]names{}}
	var errs []error
	for i, source := range sources {
		if source == nil {
			errs = append(errs, fmt.Errorf("tools: source %d is nil", i+1))
			continue
		}
		list, err := source.Tools(ctx)
		errs = append(errs, err)
		if w, ok := source.(warner); ok {
			b.set.warnings = append(b.set.warnings, w.Warnings()...)
		}
		for _, tool := range list {
			errs = append(errs, b.add(tool))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	b.nameForeign()
	return &b.set, nil
}

// With returns a copy of the set with more policies, inside those that it already has. The first argument is the
// outermost of the new policies.
func (s *Set) With(policies ...Policy) *Set {
	c := Set{logged: &sync.Map{}}
	if s != nil && s.logged != nil {
		c = *s
	}
	c.policies = slices.Concat(c.policies, policies)
	return &c
}

// WithPoliciesOf returns a copy of the set with another set's policies instead of its own.
func (s *Set) WithPoliciesOf(other *Set) *Set {
	c := s.With()
	c.policies = other.Policies(context.Background())
	return c
}

// WithLearned returns a copy of the set in which [Binding.Learned] is set. The argument maps the paths of tools to
// schemas.
func (s *Set) WithLearned(learned map[string]json.RawMessage) *Set {
	c := s.With()
	c.bindings = s.Bindings()
	for i, b := range c.bindings {
		typed := *b
		typed.Learned = learned[b.Path()]
		c.bindings[i] = &typed
	}
	return c
}

// Plus returns a copy of the set with one more tool and the same policies. The tool's name, and its namespace if it has
// one, must be free, and programs call it by exactly these names. In the namespace tools, its class must be [Read],
// since policies do not apply to that namespace. Plus also returns an error under the same conditions as [NewSet].
func (s *Set) Plus(t *Tool) (*Set, error) {
	b := builder{set: *s.With(), globals: names{}}
	b.set.bindings = slices.Clip(b.set.bindings)
	for _, other := range b.set.bindings {
		b.globals[cmp.Or(other.Object, other.Names[0])] = 1
	}
	if t != nil && t.Namespace != "" && !b.free(t) {
		return nil, fmt.Errorf("tools: %s: the name or the namespace is taken, reserved or not an identifier, "+
			"or the class is not Read in the namespace %s, to which policies do not apply", t.label(), globals.Tools)
	}
	if err := b.add(t); err != nil {
		return nil, err
	}
	if t.Namespace != "" {
		added := b.set.bindings[len(b.set.bindings)-1]
		added.Object, added.Names = t.Namespace, []string{t.Name}
	}
	return &b.set, nil
}

// free reports whether a tool in a namespace can have exactly its names.
func (b *builder) free(t *Tool) bool {
	own := t.Namespace == globals.Tools && t.Hints.Class == Read
	return (own || !globals.Reserved(t.Namespace)) && jsonvalue.IsIdentifier(t.Namespace) &&
		jsonvalue.IsIdentifier(t.Name) && implicit[t.Name] == 0 &&
		!slices.ContainsFunc(b.set.bindings, func(o *Binding) bool {
			return o.Object == t.Namespace && slices.Contains(o.Names, t.Name) || o.Path() == t.Namespace
		})
}

// Only returns a copy of the set that has only the tools for which keep returns true. Names and policies are the same.
func (s *Set) Only(keep func(*Binding) bool) *Set {
	c := s.With()
	c.bindings = slices.DeleteFunc(s.Bindings(), func(b *Binding) bool { return !keep(b) })
	return c
}

// Bindings returns the tools in the order in which the sources returned them.
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

// Warnings returns warnings for the host: the warnings of the sources (see [Source]),
// renamed tools, destructive tools that can be called without approval (see [Policy.Guards]), and
// mistakes in policies (see [Policy.Warnings]). The schema of a server's tool is compiled when the
// tool is first declared or called. If it does not compile, there is one more warning.
func (s *Set) Warnings() []string {
	if s == nil {
		return nil
	}
	all := slices.Concat(s.warnings, s.unguarded(), s.policyWarnings())
	for _, b := range s.bindings {
		if err := b.input.failure(); err != nil {
			all = append(all, fmt.Sprintf("%s: its arguments are not checked: input schema: %v", b.label(), err))
		}
	}
	for i, text := range all {
		all[i] = display.Text(text)
	}
	return all
}

// LogWarnings logs [Set.Warnings], each only once for all sets that are made from the same set. Modules call it.
func (s *Set) LogWarnings(log *slog.Logger) {
	for _, w := range s.Warnings() {
		if _, logged := s.logged.LoadOrStore(w, true); !logged {
			log.Warn(w)
		}
	}
}

type builder struct {
	set     Set
	globals names
	objects map[string]string // namespace → object
	members map[string]names  // of each object
}

// add adds a tool. Tools in a namespace get their names later, in nameForeign.
func (b *builder) add(t *Tool) error {
	switch {
	case t == nil:
		return errors.New("tools: a source returned a nil tool")
	case t.err != nil:
		return t.err
	case t.Handler == nil:
		return fmt.Errorf("tools: %s has no Handler", t.label())
	}
	if err := t.Hints.check(t.InputSchema); err != nil {
		return fmt.Errorf("tools: %s: %w", t.label(), err)
	}
	if t.Params != nil && t.Hints.Class != Read {
		return fmt.Errorf("tools: %s has Params, but its class is not Read", t.label())
	}
	if t.RevertWith != nil && (t.RevertWith.Tool == "" || t.RevertWith.Args == nil) {
		return fmt.Errorf("tools: %s: RevertWith needs Tool and Args", t.label())
	}
	binding := &Binding{Tool: t}
	if t.Namespace == "" {
		if err := b.nameOwn(t.Name); err != nil {
			return fmt.Errorf("tools: %s: %w", t.label(), err)
		}
		binding.Names = []string{t.Name}
	}
	binding.input = &lazySchema{raw: restricting(t.InputSchema)}
	binding.output = &lazySchema{raw: restricting(t.OutputSchema)}
	if t.Namespace == "" {
		binding.input.get()
	}
	if err := binding.input.failure(); err != nil {
		return fmt.Errorf("tools: %s: input schema: %w", t.label(), err)
	}
	b.set.bindings = append(b.set.bindings, binding)
	return nil
}

func (t *Tool) label() string {
	if t.Namespace == "" {
		return fmt.Sprintf("tool %q", t.Name)
	}
	return fmt.Sprintf("tool %q of %q", t.Name, t.Namespace)
}

// restricting returns a schema, or nil if it is missing or accepts everything.
func restricting(raw json.RawMessage) json.RawMessage {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "true":
		return nil
	}
	return raw
}

func (b *builder) nameOwn(name string) error {
	switch {
	case !jsonvalue.IsIdentifier(name):
		return fmt.Errorf("the name is not a JavaScript identifier; use %q", jsonvalue.Identifier(name))
	case globals.Reserved(name):
		return errors.New("the name is reserved in programs; choose another")
	case b.globals.claim(name) != name:
		return errors.New("another tool already has that name; choose a different name")
	}
	return nil
}

// nameForeign names the tools in namespaces: first those that can keep their names, then the
// others in alphabetical order, so that names do not depend on the order of the tools.
func (b *builder) nameForeign() {
	own := func(t *Binding) bool { return t.Namespace == "" }
	others := slices.DeleteFunc(slices.Clone(b.set.bindings), own)
	slices.SortStableFunc(others, func(x, y *Binding) int {
		return cmp.Or(precedence(x.Namespace, y.Namespace), precedence(x.Name, y.Name))
	})
	for _, binding := range others {
		binding.Object = b.object(binding.Namespace)
		binding.Names = b.memberNames(binding.Object, binding.Tool)
	}
}

// object returns the global object of a namespace.
func (b *builder) object(namespace string) string {
	if object, ok := b.objects[namespace]; ok {
		return object
	}
	object := jsonvalue.Identifier(namespace)
	if globals.Reserved(object) {
		object += "_"
	}
	object = b.globals.claim(object)
	if object != namespace {
		b.warn("namespace %q is called %s in programs", namespace, object)
	}
	b.objects[namespace] = object
	b.members[object] = maps.Clone(implicit)
	return object
}

// memberNames returns a tool's names in its object.
func (b *builder) memberNames(object string, t *Tool) []string {
	taken, wanted := b.members[object], jsonvalue.Identifier(t.Name)
	name := taken.claim(wanted)
	if name != wanted {
		b.warn("%s is called %s.%s in programs, because the name %s is taken or reserved",
			t.label(), object, name, wanted)
	}
	if wanted == t.Name || taken[t.Name] > 0 {
		return []string{name}
	}
	return []string{name, taken.claim(t.Name)}
}

func (b *builder) warn(format string, args ...any) {
	b.set.warnings = append(b.set.warnings, fmt.Sprintf(format, args...))
}

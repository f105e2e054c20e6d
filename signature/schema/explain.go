package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// explainer converts the library's tree of errors to problems.
type explainer struct {
	root    any                           // the value
	rules   map[string]*jsonschema.Schema // by place
	unknown *unknowns                     // nil if all parts of the value are known

	compared int                 // number of names compared for suggestions
	literals map[string][]string // enum and constant values, by place
}

// maxProblems is the maximum number of problems that are explained for one value.
const maxProblems = 20

// check validates the value. If a guard or the library ends the validation with a panic, broken is the panic value.
func (x *explainer) check(s *jsonschema.Schema) (problems []problem, broken any) {
	defer func() {
		if broken = recover(); broken != nil {
			problems = nil
		}
	}()
	violation, _ := s.Validate(x.root).(*jsonschema.ValidationError)
	if violation == nil {
		return nil, nil
	}
	return x.explain(violation), nil
}

// fits reports whether the value fits a schema, given the negation of the schema. If a guard or the library ends the
// validation with a panic, broken is the panic value.
func (x *explainer) fits(opposite *jsonschema.Schema) (fits bool, broken any) {
	defer func() { broken = recover() }()
	return opposite.Validate(x.root) != nil, nil
}

// explain returns the problems that an error describes, or nil if the error may depend on
// an unknown place.
func (x *explainer) explain(e *jsonschema.ValidationError) []problem {
	if joins(e) {
		return x.every(e)
	}
	restore(e)
	if x.unknown.decides(e, x.root) {
		return nil
	}
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return x.choice(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.choice(e)
		}
	case *kind.Required:
		return x.missing(e, k.Missing)
	case *kind.AdditionalProperties:
		return x.surplus(e, k.Properties)
	case *kind.DependentRequired:
		return dependent(e, k.Prop, k.Missing)
	case *kind.Dependency:
		return dependent(e, k.Prop, k.Missing)
	case *kind.PropertyNames:
		return []problem{{at: jsonvalue.Extend(e.InstanceLocation, k.Property), text: "is not an allowed name"}}
	case *kind.FalseSchema:
		return x.forbidden(e)
	}
	return []problem{x.single(e)}
}

// joins reports whether an error only groups other errors. The value is valid once all of them are fixed.
func joins(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return true
	default:
		return false
	}
}

// every explains the errors that an error joins until there are maxProblems problems, and
// counts the rest.
func (x *explainer) every(e *jsonschema.ValidationError) []problem {
	errs := x.leaves(e, nil)
	slices.SortStableFunc(errs, byImportance) // the library visits members in random order
	var all []problem
	more := 0
	for _, e := range errs {
		if len(all) >= maxProblems {
			more += extent(e)
			continue
		}
		for _, p := range x.explain(e) {
			if p.more += more; p.more > 0 {
				more = p.more
			} else {
				all = append(all, p)
			}
		}
	}
	return cut(all, more)
}

// leaves appends the errors that an error joins, except those that may depend on an
// unknown place.
func (x *explainer) leaves(
	e *jsonschema.ValidationError, all []*jsonschema.ValidationError,
) []*jsonschema.ValidationError {
	restore(e)
	switch {
	case x.unknown.decides(e, x.root):
		return all
	case !joins(e):
		return append(all, e)
	}
	for _, cause := range e.Causes {
		all = x.leaves(cause, all)
	}
	return all
}

// byImportance orders errors: first those about enums and constants, which show which
// alternative was meant, then by place.
func byImportance(a, b *jsonschema.ValidationError) int {
	return cmp.Or(
		cmp.Compare(importance(a), importance(b)),
		slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, jsonvalue.CompareTokens),
		cmp.Compare(a.SchemaURL, b.SchemaURL),
		cmp.Compare(about(a), about(b)),
	)
}

// about returns the name of the property that an error is about, or "" for the kinds of
// errors that occur only once at a place.
func about(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.PropertyNames:
		return k.Property
	case *kind.DependentRequired:
		return k.Prop
	case *kind.Dependency:
		return k.Prop
	default:
		return ""
	}
}

func importance(e *jsonschema.ValidationError) int {
	switch e.ErrorKind.(type) {
	case *kind.Const, *kind.Enum:
		return 0
	default:
		return 1
	}
}

// extent returns the number of problems that an error describes, without explaining them.
func extent(e *jsonschema.ValidationError) int {
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return len(k.Missing)
	case *kind.AdditionalProperties:
		return len(k.Properties)
	default:
		return 1
	}
}

// first returns the first maxProblems names in sorted order, and the number of the other names.
func first(names []string) ([]string, int) {
	names = slices.Sorted(slices.Values(names))
	if len(names) <= maxProblems {
		return names, 0
	}
	return names[:maxProblems], len(names) - maxProblems
}

// cut returns the first maxProblems problems, and one more problem that counts the rest.
func cut(all []problem, more int) []problem {
	if len(all) > maxProblems {
		more += len(all) - maxProblems
		all = all[:maxProblems]
	}
	if more > 0 {
		all = append(all, problem{more: more})
	}
	return all
}

// missing reports required properties that an object lacks.
func (x *explainer) missing(e *jsonschema.ValidationError, names []string) []problem {
	given, _ := jsonvalue.Lookup(x.root, e.InstanceLocation)
	var others []string
	if rule := x.rule(e); rule.AdditionalProperties == nil {
		others = unnamed(given, rule)
	}
	names, more := first(names)
	var all []problem
	for _, name := range names {
		p := problem{at: jsonvalue.Extend(e.InstanceLocation, name), text: "is required"}
		if other := x.near(name, others); other != "" {
			p.hint = "did you call it " + other + "?"
		}
		all = append(all, p)
	}
	return cut(all, more)
}

// surplus reports properties that the schema does not allow.
func (x *explainer) surplus(e *jsonschema.ValidationError, names []string) []problem {
	given, _ := jsonvalue.Lookup(x.root, e.InstanceLocation)
	free := unused(given, x.rule(e))
	names, more := first(names)
	var all []problem
	for _, name := range names {
		p := problem{at: jsonvalue.Extend(e.InstanceLocation, name), text: "is not a known property"}
		if near := x.near(name, free); near != "" {
			p.hint = "did you mean " + near + "?"
		} else if 0 < len(free) && len(free) <= 10 {
			p.hint = "known: " + strings.Join(free, ", ")
			if len(free) < len(x.rule(e).Properties) {
				p.hint = "other properties: " + strings.Join(free, ", ")
			}
		}
		all = append(all, p)
	}
	return cut(all, more)
}

func dependent(e *jsonschema.ValidationError, with string, names []string) []problem {
	var all []problem
	for _, name := range names {
		all = append(all, problem{at: jsonvalue.Extend(e.InstanceLocation, name), text: "is required with " + with})
	}
	return all
}

// forbidden reports a value for which the schema is false, such as a property with
// unevaluatedProperties: false.
func (x *explainer) forbidden(e *jsonschema.ValidationError) []problem {
	p := problem{at: e.InstanceLocation, text: "is not allowed"}
	if strings.HasSuffix(place(e.SchemaURL), "/unevaluatedProperties") {
		p.text = "is not a known property"
	}
	return []problem{p}
}

// rule returns the schema that the value violates, or an empty schema if it is outside the
// document.
func (x *explainer) rule(e *jsonschema.ValidationError) *jsonschema.Schema {
	return cmp.Or(x.rules[place(e.SchemaURL)], &jsonschema.Schema{})
}

// unused returns the names of the properties that a schema has and an object lacks, sorted.
func unused(object any, rule *jsonschema.Schema) []string {
	given, _ := object.(map[string]any)
	var free []string
	for _, name := range slices.Sorted(maps.Keys(rule.Properties)) {
		if _, used := given[name]; !used {
			free = append(free, name)
		}
	}
	return free
}

// unnamed returns the names of the properties that an object has and a schema does not describe, sorted.
func unnamed(object any, rule *jsonschema.Schema) []string {
	given, _ := object.(map[string]any)
	var others []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := rule.Properties[name]; !known {
			others = append(others, name)
		}
	}
	return others
}

// single returns the problem that an error about one value describes.
func (x *explainer) single(e *jsonschema.ValidationError) problem {
	v, _ := jsonvalue.Lookup(x.root, e.InstanceLocation)
	p := problem{at: e.InstanceLocation, given: jsonvalue.Describe(v)}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		p.types = articles(k.Want)
	case *kind.Enum:
		p.values, p.hint = x.allowed(e, k.Want), x.nearestValue(v, k.Want)
	case *kind.Const:
		p.values, p.hint = x.allowed(e, []any{k.Want}), x.nearestValue(v, []any{k.Want})
	default:
		p.text = limit(k, p.given)
	}
	return p
}

// allowed returns, as literals, the values of the enum or constant that an error is about.
func (x *explainer) allowed(e *jsonschema.ValidationError, values []any) []string {
	key := fmt.Sprintf("%T %s", e.ErrorKind, e.SchemaURL)
	known, ok := x.literals[key]
	if !ok {
		if x.literals == nil {
			x.literals = map[string][]string{}
		}
		known = jsonvalue.Literals(values)
		x.literals[key] = known
	}
	return known
}

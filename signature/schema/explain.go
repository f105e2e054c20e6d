package schema

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// explainer turns the library's tree of errors into problems.
type explainer struct {
	root    any                           // the value
	rules   map[string]*jsonschema.Schema // by place
	unknown *unknowns                     // nil: all is known

	compared int                 // names, for suggestions
	literals map[string][]string // of an enum or constant, by its place
}

// maxProblems is how many problems of one value are explained. Whoever has
// mended so many may ask again.
const maxProblems = 20

// check validates the value. Broken is the panic that ended it, or nil: a guard's
// or the library's, which is not trusted never to do so.
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

// fits reports whether the value fits the schema that has this opposite. Broken
// is as in check.
func (x *explainer) fits(opposite *jsonschema.Schema) (fits bool, broken any) {
	defer func() { broken = recover() }()
	return opposite.Validate(x.root) != nil, nil
}

// explain returns the problems of one error; none if it hangs on an unknown
// place.
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

// joins reports whether an error only joins its causes, all of which are to be
// mended.
func joins(e *jsonschema.ValidationError) bool {
	switch e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		return true
	default:
		return false
	}
}

// every explains the first of all errors that an error joins, and counts the
// rest.
func (x *explainer) every(e *jsonschema.ValidationError) []problem {
	errs := x.leaves(e, nil)
	slices.SortStableFunc(errs, byImportance) // the library goes over members in any order
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

// leaves collects the errors that an error joins, but for those that hang on
// an unknown place.
func (x *explainer) leaves(e *jsonschema.ValidationError, all []*jsonschema.ValidationError) []*jsonschema.ValidationError {
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

// byImportance puts wrong values first, since they tell which alternative was
// meant, then goes by place.
func byImportance(a, b *jsonschema.ValidationError) int {
	return cmp.Or(
		cmp.Compare(importance(a), importance(b)),
		slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, jsonvalue.CompareTokens),
		cmp.Compare(a.SchemaURL, b.SchemaURL),
		cmp.Compare(about(a), about(b)),
	)
}

// about is the name that an error is about, of those of which an object may have
// several.
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

// extent is how many problems there are in an error that is not explained.
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

// first returns the first names, in order, and how many more there are.
func first(names []string) ([]string, int) {
	names = slices.Sorted(slices.Values(names))
	if len(names) <= maxProblems {
		return names, 0
	}
	return names[:maxProblems], len(names) - maxProblems
}

// cut keeps the first problems, and adds one that stands for the rest.
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

func (x *explainer) missing(e *jsonschema.ValidationError, names []string) []problem {
	given, _ := jsonvalue.Lookup(x.root, e.InstanceLocation)
	var others []string
	if rule := x.rule(e); rule.AdditionalProperties == nil {
		others = strangers(given, rule)
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

// surplus words properties that the schema does not have.
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
				p.hint = "others " + p.hint
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

// forbidden words a schema that is false; unevaluatedProperties: false arrives
// as one.
func (x *explainer) forbidden(e *jsonschema.ValidationError) []problem {
	p := problem{at: e.InstanceLocation, text: "is not allowed"}
	if strings.HasSuffix(place(e.SchemaURL), "/unevaluatedProperties") {
		p.text = "is not a known property"
	}
	return []problem{p}
}

// rule returns the compiled schema that raised the error; an empty one if it is
// not of the document.
func (x *explainer) rule(e *jsonschema.ValidationError) *jsonschema.Schema {
	return cmp.Or(x.rules[place(e.SchemaURL)], &jsonschema.Schema{})
}

// unused returns the properties of a rule that an object lacks, in order.
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

// strangers returns the properties of an object that a rule does not name.
func strangers(object any, rule *jsonschema.Schema) []string {
	given, _ := object.(map[string]any)
	var others []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := rule.Properties[name]; !known {
			others = append(others, name)
		}
	}
	return others
}

// single words an error about one value.
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

// allowed writes the values of an enum or the constant that an error is about.
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

// limit words an error about size, form or content.
func limit(k jsonschema.ErrorKind, given string) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want) + ", not " + given
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want) + ", not " + given
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want) + ", not " + given
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want) + ", not " + given
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want) + ", not " + given
	case *kind.Pattern:
		return "must match /" + k.Want + "/, not " + given
	case *kind.Format:
		return "must be " + formatName(k.Want) + ", not " + given
	default:
		return size(k)
	}
}

func size(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "must have at least " + plural(k.Want, "character") + ", not " + strconv.Itoa(k.Got)
	case *kind.MaxLength:
		return "must have at most " + plural(k.Want, "character") + ", not " + strconv.Itoa(k.Got)
	case *kind.MinItems:
		return "must have at least " + plural(k.Want, "item") + ", not " + strconv.Itoa(k.Got)
	case *kind.MaxItems:
		return "must have at most " + plural(k.Want, "item") + ", not " + strconv.Itoa(k.Got)
	case *kind.MinProperties:
		return "must have at least " + propertyCount(k.Want) + ", not " + strconv.Itoa(k.Got)
	case *kind.MaxProperties:
		return "must have at most " + propertyCount(k.Want) + ", not " + strconv.Itoa(k.Got)
	default:
		return content(k)
	}
}

func content(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.AdditionalItems:
		return "must have " + plural(k.Count, "item") + " fewer"
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat an item: [%d] and [%d] are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "must have an item of the form that the schema's \"contains\" asks for"
	case *kind.MinContains:
		return fmt.Sprintf("must have at least %d items of the form that \"contains\" asks for, not %d", k.Want, len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must have at most %d items of the form that \"contains\" asks for, not %d", k.Want, len(k.Got))
	case *kind.OneOf:
		return fmt.Sprintf("must match exactly one alternative, but matches number %d and %d", k.Subschemas[0]+1, k.Subschemas[1]+1)
	case *kind.Not:
		return "has a form that is not allowed"
	default:
		return "does not fit its schema"
	}
}

func articles(types []string) []string {
	words := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			words[i] = t
		case "integer", "array", "object":
			words[i] = "an " + t
		default:
			words[i] = "a " + t
		}
	}
	return words
}

func plural(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

func propertyCount(n int) string {
	if n == 1 {
		return "1 property"
	}
	return strconv.Itoa(n) + " properties"
}

// decimal writes a number without loss where it is whole, and shortest otherwise.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func formatName(format string) string {
	switch format {
	case "date-time":
		return "a date-time such as 2026-01-31T15:04:05Z"
	case "date":
		return "a date such as 2026-01-31"
	case "time":
		return "a time such as 15:04:05Z"
	default:
		return "of format " + format
	}
}

package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A schema that recurses through alternatives checks what is nested n deep up
// to alternativesⁿ times, and whoever writes the value chooses n. So validation
// of such schemas counts its steps, and ends when there were too many.
const (
	maxSteps      = 30_000 // schemas applied in one validation
	stepsPerValue = 12     // and as many more for each of the first values
	stepsPerMore  = 2      // and for each of the rest
	firstValues   = 30_000
	fewSteps      = 5_000  // that need not be counted
	maxVisits     = 10_000 // of one value, if a schema does not recurse
	bigEnum       = 50     // values that are looked up, not compared one by one
)

// maxPlaces is how many values a value may have, times their depth, for its
// errors to be collected: each holds the path to its place.
const maxPlaces = 4_000_000

// runner is a compiled schema and its opposite, which is for values of which it
// is only asked whether they fit: it collects no errors.
type runner struct{ compiled, opposite *jsonschema.Schema }

// limits is how often a schema may check one and the same value.
type limits struct {
	// multiplies says that it depends on the value and has no other bound.
	multiplies bool
	// fan is how often it checks a member of a value that it checks once.
	fan float64
	// checks is how many schemas apply to a value that it checks once.
	checks int
}

// tame reports whether a value cannot make the schema take too many steps.
func (b limits) tame(d document) bool {
	return !b.multiplies ||
		float64(d.values)*float64(b.checks)*math.Pow(b.fan, float64(d.deepest)) <= fewSteps
}

// findLimits finds the limits of a schema that has been weighed. It overestimates:
// alternatives count as if all were tried, and all to their end.
func findLimits(rules map[string]*jsonschema.Schema, w weigher) limits {
	g := graph{component: map[*jsonschema.Schema]int{}, low: map[*jsonschema.Schema]int{}}
	b := limits{fan: 1, checks: 1}
	turns := fans{known: map[*jsonschema.Schema]float64{}, within: g.component}
	levels := fans{known: map[*jsonschema.Schema]float64{}}
	visits := visits{}
	dynamic := false
	for _, s := range rules {
		g.visit(s)
	}
	for _, s := range rules {
		b.fan = max(b.fan, levels.of(s))
		b.multiplies = b.multiplies || turns.of(s) > 1 || visits.of(s) > maxVisits
		dynamic = dynamic || s.DynamicRef != nil || s.RecursiveRef != nil
		if known := w[s]; known != nil {
			b.checks = max(b.checks, known.checks)
		}
	}
	b.multiplies = b.multiplies || dynamic && b.fan > 1 // where these lead is seen only in validation
	return b
}

// graph finds which schemas can reach one another, by Tarjan's algorithm. They
// get the same component.
type graph struct {
	component, low map[*jsonschema.Schema]int
	stack          []*jsonschema.Schema
	seen           int
}

func (g *graph) visit(s *jsonschema.Schema) {
	if g.low[s] > 0 {
		return
	}
	g.seen++
	index := g.seen
	g.low[s] = index
	g.stack = append(g.stack, s)
	for _, next := range append(sameValue(s), innerValues(s)...) {
		if _, done := g.component[next]; done {
			continue
		}
		g.visit(next)
		g.low[s] = min(g.low[s], g.low[next])
	}
	if g.low[s] < index {
		return
	}
	for {
		last := g.stack[len(g.stack)-1]
		g.stack = g.stack[:len(g.stack)-1]
		g.component[last] = index
		if last == s {
			return
		}
	}
}

// fans counts how often a schema checks a member of its value: by any schema,
// or by those from which it can be reached again.
type fans struct {
	known  map[*jsonschema.Schema]float64
	within map[*jsonschema.Schema]int // components; nil for any schema
}

func (f fans) of(s *jsonschema.Schema) float64 {
	if n, ok := f.known[s]; ok {
		return n
	}
	f.known[s] = 0 // no schema that was weighed leads to itself on the same value
	n := 0.0
	for _, group := range memberRules(s) {
		if slices.ContainsFunc(group, func(next *jsonschema.Schema) bool { return f.follows(s, next) }) {
			n++
		}
	}
	for _, next := range sameValue(s) {
		if f.follows(s, next) {
			n += f.of(next)
		}
	}
	f.known[s] = n
	return n
}

func (f fans) follows(s, next *jsonschema.Schema) bool {
	return f.within == nil || f.within[s] == f.within[next]
}

// visits counts how many schemas apply to a value and to one member of it, one
// member of that and so on, as far as the schema does not recurse.
type visits map[*jsonschema.Schema]float64

func (v visits) of(s *jsonschema.Schema) float64 {
	if n, ok := v[s]; ok {
		return n
	}
	v[s] = 0
	n := 1.0
	for _, next := range sameValue(s) {
		n += v.of(next)
	}
	for _, group := range memberRules(s) {
		most := 0.0
		for _, next := range group {
			most = max(most, v.of(next))
		}
		n += most
	}
	v[s] = n
	return n
}

// memberRules groups the schemas that s applies to members of its value: of
// each group, at most one applies to a member.
func memberRules(s *jsonschema.Schema) [][]*jsonschema.Schema {
	var either []*jsonschema.Schema
	for _, p := range s.Properties {
		either = append(either, p)
	}
	either = append(either, s.PrefixItems...)
	either = appendSchemas(either, s.AdditionalProperties)
	either = appendSchemas(either, s.Items)
	either = appendSchemas(either, s.AdditionalItems)
	either = append(either, s.Items2020)
	groups := [][]*jsonschema.Schema{present(either)}
	alone := []*jsonschema.Schema{s.Contains, s.UnevaluatedProperties, s.UnevaluatedItems}
	for _, p := range s.PatternProperties {
		alone = append(alone, p)
	}
	for _, rule := range present(alone) {
		groups = append(groups, []*jsonschema.Schema{rule})
	}
	return groups
}

// guard is a schema that counts its steps. It is for one validation at a time.
type guard struct {
	runner
	left int // steps
}

// newGuard compiles a schema that has been compiled before once more.
func newGuard(doc any, formats bool) *guard {
	compiled, opposite, err := build(doc, formats)
	if err != nil {
		return nil
	}
	g := &guard{runner: runner{compiled, opposite}}
	for _, s := range index(compiled, formats) {
		g.arm(s)
	}
	return g
}

// arm makes a schema count. The library asks for the format before all that
// leads to other schemas.
func (g *guard) arm(s *jsonschema.Schema) {
	cost := 1 + len(sameValue(s))/4
	hook(s, func(any) error {
		if g.left -= cost; g.left < 0 {
			panic(exhausted{})
		}
		return nil
	})
}

// hook lets a function check values before the schema's format does.
func hook(s *jsonschema.Schema, check func(any) error) {
	f := jsonschema.Format{Name: "writ", Validate: check}
	if next := s.Format; next != nil {
		f.Name = next.Name
		f.Validate = func(v any) error {
			if err := check(v); err != nil {
				return err
			}
			return next.Validate(v)
		}
	}
	s.Format = &f
}

// exhausted is the panic that ends a validation.
type exhausted struct{}

// steps is how many steps the validation of a value may take. The deeper it is,
// the more each error takes, which holds a path.
func steps(d document) int {
	few := min(d.values, firstValues)
	return (maxSteps + stepsPerValue*few + stepsPerMore*(d.values-few)) / (1 + d.deepest/32)
}

// tooIntricate words that a validation has been given up.
func tooIntricate(d document) problem {
	return problem{
		text: fmt.Sprintf("is nested %d deep and cannot be checked: at every level, its schema has several alternatives to try", d.deepest),
		hint: "nest it less deep",
	}
}

// tooLarge words that a value does not fit, but no more is known.
func tooLarge() problem {
	return problem{text: "does not fit its schema; it is too large and nested too deep to say where"}
}

// ifKnown returns a problem of a value unless parts of it are unknown.
func (x *explainer) ifKnown(p problem) []problem {
	if x.unknown != nil {
		return nil
	}
	return []problem{p}
}

// takeEnum looks the values of a long enum up, where the library compares all.
func takeEnum(s *jsonschema.Schema) {
	if s.Enum == nil || len(s.Enum.Values) < bigEnum {
		return
	}
	values := s.Enum.Values
	known := make(map[string]bool, len(values))
	for _, v := range values {
		k, ok := scalarKey(v)
		if !ok {
			return
		}
		known[k] = true
	}
	s.Enum = nil
	hook(s, func(v any) error {
		if k, ok := scalarKey(v); ok && known[k] {
			return nil
		}
		return notInEnum(values)
	})
}

// notInEnum is why an enum that was taken over refused a value. The library
// takes it for an error of format.
type notInEnum []any

func (notInEnum) Error() string { return "is not in the enum" }

// restore gives an error the kind that it would have without [takeEnum].
func restore(e *jsonschema.ValidationError) {
	if k, ok := e.ErrorKind.(*kind.Format); ok {
		if values, ok := k.Err.(notInEnum); ok {
			e.ErrorKind = &kind.Enum{Got: k.Got, Want: values}
		}
	}
}

// scalarKey returns a text that is the same for equal values, of those that have
// no members.
func scalarKey(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case string:
		return `"` + v, true
	case json.Number:
		r, ok := new(big.Rat).SetString(v.String())
		if !ok {
			return "", false
		}
		return r.RatString(), true
	default:
		return "", false
	}
}

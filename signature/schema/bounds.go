package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// A schema that recurses through k alternatives checks a value that is nested n deep up
// to kⁿ times, and a schema with thousands of rules applies all of them to every item of
// an array. Since both schema and value may be hostile, every validation counts its steps
// and ends after too many.
const (
	baseSteps   = 200_000                // steps in one validation; each byte of the value adds a step
	valueSteps  = 12                     // additional steps for each of the first values
	firstValues = 30_000                 // number of values that add valueSteps
	stepBytes   = 500                    // bytes of a string that count as one step
	stepDigits  = 20                     // digits of a number that count as one step
	patience    = 250 * time.Millisecond // time for all pattern matches of one validation
	patienceFor = time.Microsecond / 2   // additional time for each byte of the value
	bigEnum     = 50                     // enums with at least this many values become maps
)

// maxPlaces limits the number of values times their depth. Above the limit, validation
// collects no errors, since each error contains the path to its place.
const maxPlaces = 4_000_000

// guard is a compiled schema that limits its steps and the time that its patterns
// take. It serves one validation at a time.
type guard struct {
	compiled *jsonschema.Schema
	opposite *jsonschema.Schema // the negation of compiled, whose validation collects no errors
	steps    int                // number of steps left
	patience time.Duration      // time left for patterns
}

// newGuard compiles a schema and makes it count its steps. It also returns all reachable
// schemas by place.
func newGuard(doc any, formats bool) (*guard, map[string]*jsonschema.Schema, error) {
	g := &guard{patience: math.MaxInt64}
	if err := g.build(doc, formats); err != nil {
		return nil, nil, err
	}
	rules := index(g.compiled, formats)
	followed := false
	for _, s := range rules {
		followed = followed || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
	}
	for _, s := range rules {
		g.arm(s, tollOf(s, followed))
	}
	return g, rules, nil
}

// arm makes a schema count its steps. It uses a format for this, because the library checks
// the format of a value before it applies other schemas to the value.
func (g *guard) arm(s *jsonschema.Schema, t toll) {
	hook(s, func(v any) error {
		g.spend(t.own * weightOf(v))
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				g.spend(t.name + t.each*weightOf(member) + len(name)/stepBytes)
			}
		case []any:
			for _, item := range v {
				g.spend(t.each * weightOf(item))
			}
			if t.unique {
				g.compare(v)
			}
		}
		return nil
	})
}

func (g *guard) spend(steps int) {
	if g.steps -= steps; g.steps < 0 {
		panic(exhausted{})
	}
}

// compare counts the steps that uniqueItems takes to compare a value.
func (g *guard) compare(v any) {
	g.spend(2 * weightOf(v))
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			g.compare(member)
		}
	case []any:
		for _, item := range v {
			g.compare(item)
		}
	}
}

// begin sets the limits for the validation of a value. If validation collects errors, a
// deep value gets fewer steps, since each error contains a path.
func (g *guard) begin(d *jsonvalue.Document, collecting bool) {
	g.steps = baseSteps + d.Bytes + valueSteps*min(d.Values, firstValues)
	if collecting {
		g.steps /= 1 + d.Deepest/32
	}
	g.patience = patience + time.Duration(d.Bytes)*patienceFor
}

// toll is the cost of applying a schema, in steps. It includes the cost of entering the
// schemas that the schema applies, since some schemas never check a format.
type toll struct {
	own    int // for the value
	each   int // for each member or item of the value
	name   int // for each property's name
	unique bool
}

// tollOf returns the toll of a schema. If followed is set, the library tracks the names of unevaluated members.
func tollOf(s *jsonschema.Schema, followed bool) toll {
	t := toll{own: len(s.Required) / 4, unique: s.UniqueItems}
	for _, next := range sameValue(s) {
		t.own += entry(next)
	}
	for _, names := range s.DependentRequired {
		t.own += 1 + len(names)/4
	}
	for _, dependency := range s.Dependencies {
		names, _ := dependency.([]string)
		t.own += 1 + len(names)/4
	}
	for _, group := range memberRules(s) {
		largest := 0
		for _, next := range group {
			largest = max(largest, entry(next))
		}
		t.each += largest
	}
	if followed {
		t.each += 1 + len(sameValue(s))
	}
	t.name = 2 * len(s.PatternProperties)
	for _, x := range s.Extensions {
		if n, ok := x.(names); ok {
			t.name += 1 + entry(n.rule)
		}
	}
	return t
}

// entry returns the number of steps for entering a schema and for comparing a number with
// its bounds, constant and enum.
func entry(s *jsonschema.Schema) int {
	size := 4
	for _, bound := range []*big.Rat{s.Minimum, s.Maximum, s.ExclusiveMinimum, s.ExclusiveMaximum, s.MultipleOf} {
		if bound != nil {
			size += 4
		}
	}
	if s.Const != nil {
		size += sizeOf(*s.Const)
	}
	if s.Enum != nil {
		size += sizeOf(s.Enum.Values)
	}
	return size / 4
}

// sizeOf returns the cost of comparing a value, in quarters of a step. The library parses
// numbers at each comparison.
func sizeOf(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += sizeOf(member)
		}
	case []any:
		for _, item := range v {
			n += sizeOf(item)
		}
	case json.Number:
		n = 4 * weightOf(v)
	}
	return n
}

// weightOf returns the cost of a scalar relative to a short one.
func weightOf(v any) int {
	switch v := v.(type) {
	case string:
		return 1 + len(v)/stepBytes
	case json.Number:
		if n := len(v); n > stepDigits || strings.ContainsAny(v.String(), "eE") {
			return 2 + n/stepDigits
		}
	}
	return 1
}

// memberRules returns the schemas that s applies to its value's members, in groups. At most one schema in each group
// applies to a member.
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
	for _, rule := range present([]*jsonschema.Schema{s.Contains, s.UnevaluatedProperties, s.UnevaluatedItems}) {
		groups = append(groups, []*jsonschema.Schema{rule})
	}
	for _, p := range s.PatternProperties {
		groups = append(groups, []*jsonschema.Schema{p})
	}
	return groups
}

// hook makes a schema run a check before it checks the format.
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

// exhausted is the panic value that ends a validation after too many steps.
type exhausted struct{}

// ended explains why a validation ended without a result.
func ended(broken any, d *jsonvalue.Document) problem {
	switch b := broken.(type) {
	case exhausted:
		return tooComplex(d)
	case slow:
		return b.problem()
	default:
		return problem{text: fmt.Sprintf("cannot be checked: %v", b)}
	}
}

func tooComplex(d *jsonvalue.Document) problem {
	return problem{
		text: fmt.Sprintf("is too complex to be checked: its schema has too many rules for %s, nested %d deep",
			plural(d.Values, "value"), d.Deepest),
		hint: "make it smaller or nest it less deeply",
	}
}

func tooLarge() problem {
	return problem{text: "does not fit its schema, but is too large and too deeply nested to say where"}
}

// ifKnown returns a problem, or nil if parts of the value are unknown.
func (x *explainer) ifKnown(p problem) []problem {
	if x.unknown != nil {
		return nil
	}
	return []problem{p}
}

// takeEnum replaces a long enum with a map, since the library compares a value with all values of an enum.
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

// notInEnum is the error from a map made by [takeEnum]. The library reports it as a format error.
type notInEnum []any

func (notInEnum) Error() string { return "is not in the enum" }

// restore turns an error from a map made by [takeEnum] into an enum error.
func restore(e *jsonschema.ValidationError) {
	if k, ok := e.ErrorKind.(*kind.Format); ok {
		if values, ok := k.Err.(notInEnum); ok {
			e.ErrorKind = &kind.Enum{Got: k.Got, Want: values}
		}
	}
}

// scalarKey returns a string that is the same for equal scalars, and false for other values.
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

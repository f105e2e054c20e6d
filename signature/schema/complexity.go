package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxChecks = 10_000 // schemas that apply to one value
	maxChain  = 100    // nested schemas that apply to one value
)

// weigh rejects a schema that would be applied to one value endlessly or exponentially often, or recursively until the
// stack overflows. How often schemas apply to a value's members depends on the value, so a [guard] counts that.
func weigh(root *jsonschema.Schema) error {
	w := weigher{}
	for queue := []*jsonschema.Schema{root}; len(queue) > 0; {
		s := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if _, seen := w[s]; seen {
			continue
		}
		if _, err := w.weight(s); err != nil {
			return err
		}
		queue = append(append(queue, sameValue(s)...), innerValues(s)...)
	}
	return nil
}

// weight is the number of schemas that apply to one value, and the depth to which they are nested.
type weight struct{ checks, chain int }

// weigher caches the weights of schemas. Nil means that the schema is being weighed.
type weigher map[*jsonschema.Schema]*weight

func (w weigher) weight(s *jsonschema.Schema) (weight, error) {
	if known, seen := w[s]; seen && known != nil {
		return *known, nil
	} else if seen {
		return weight{}, fmt.Errorf("the reference at %q is circular", "#"+place(s.Location))
	}
	w[s] = nil
	total := weight{checks: 1}
	for _, child := range sameValue(s) {
		c, err := w.weight(child)
		if err != nil {
			return weight{}, err
		}
		total.checks += c.checks
		total.chain = max(total.chain, c.chain+1)
	}
	if total.checks > maxChecks || total.chain > maxChain {
		return weight{}, fmt.Errorf("%q applies too many schemas to one value", "#"+place(s.Location))
	}
	w[s] = &total
	return total, nil
}

// sameValue returns the schemas that s applies to its own value.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		all = append(all, s.DynamicRef.Ref)
	}
	all = append(all, s.AllOf...)
	all = append(all, s.AnyOf...)
	all = append(all, s.OneOf...)
	all = appendMembers(all, s.DependentSchemas)
	for _, name := range slices.Sorted(maps.Keys(s.Dependencies)) {
		all = appendSchemas(all, s.Dependencies[name])
	}
	return present(all)
}

// innerValues returns the schemas that s applies to its value's members.
func innerValues(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{
		s.PropertyNames, s.UnevaluatedProperties,
		s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	all = append(all, s.PrefixItems...)
	all = appendSchemas(all, s.Items)
	all = appendSchemas(all, s.AdditionalItems)
	all = appendSchemas(all, s.AdditionalProperties)
	all = appendMembers(all, s.Properties)
	patterns := slices.SortedFunc(maps.Values(s.PatternProperties), func(a, b *jsonschema.Schema) int {
		return cmp.Compare(a.Location, b.Location)
	})
	all = append(all, patterns...)
	for _, x := range s.Extensions {
		if n, ok := x.(names); ok {
			all = append(all, n.rule)
		}
	}
	return present(all)
}

// appendMembers appends schemas in the order of their names, so that weigh always reports
// the same schema.
func appendMembers(all []*jsonschema.Schema, members map[string]*jsonschema.Schema) []*jsonschema.Schema {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		all = append(all, members[name])
	}
	return all
}

// appendSchemas appends the schemas in a field that package jsonschema declares as any.
func appendSchemas(all []*jsonschema.Schema, field any) []*jsonschema.Schema {
	switch f := field.(type) {
	case *jsonschema.Schema:
		return append(all, f)
	case []*jsonschema.Schema:
		return append(all, f...)
	default:
		return all
	}
}

// present returns the schemas that are not nil.
func present(all []*jsonschema.Schema) []*jsonschema.Schema {
	some := all[:0]
	for _, s := range all {
		if s != nil {
			some = append(some, s)
		}
	}
	return some
}

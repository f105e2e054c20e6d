package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// DropNulls returns a decoded value without the members that are null, not required, and of a nullable type, also in
// nested objects. Such a null means the same as a missing member, as for a pointer in a Go struct. The value must fit
// the schema. DropNulls keeps members that the schema does not name.
func (s *Schema) DropNulls(value any) any {
	if !mentions(s.raw, "null") {
		return value
	}
	d := dropper{droppable: nullAllowed, steps: math.MaxInt}
	return d.drop(value, s.compiled)
}

// DropUnset returns a value without the members that are null, not required, and of a
// type that is not nullable, also in nested objects. A model that follows
// [Schema.Strict] writes null for optional members that it does not set. If the value
// is not JSON or repeats a name, DropUnset returns it unchanged.
func (s *Schema) DropUnset(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte("null")) {
		return value
	}
	doc, err := jsonvalue.Decode(value, maxValueDepth, false)
	if err != nil || len(doc.Repeated) > 0 {
		return value
	}
	g, free, err := s.acquire()
	if err != nil {
		return value
	}
	defer free()
	g.begin(doc, true)
	d := dropper{
		droppable: func(s *jsonschema.Schema) bool { return !nullAllowed(s) },
		unions:    true,
		steps:     baseSteps + valueSteps*doc.Values,
	}
	dropped, err := json.Marshal(d.drop(doc.Value, g.compiled))
	if err != nil {
		return value
	}
	return dropped
}

// dropper copies values without the members that are null and not required.
type dropper struct {
	droppable func(property *jsonschema.Schema) bool
	unions    bool // also drop members that the alternatives of a schema describe
	steps     int  // number of steps left
}

func (d *dropper) drop(value any, s *jsonschema.Schema) any {
	if d.steps < 0 {
		return value
	}
	parts := certain(s, nil)
	members, _ := value.(map[string]any)
	if d.steps -= len(parts) * (1 + len(members)); d.steps < 0 {
		return value
	}
	for _, part := range parts {
		value = d.members(value, part)
		for _, either := range [][]*jsonschema.Schema{part.AnyOf, part.OneOf} {
			if either = notOnlyNull(either); d.unions && len(either) > 1 {
				value = d.alternative(value, either)
			}
		}
	}
	return value
}

// members drops members from an object and from the members or items of a value, according to one schema.
func (d *dropper) members(value any, s *jsonschema.Schema) any {
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, member := range v {
			property := s.Properties[name]
			switch {
			case property == nil:
				kept[name] = member
			case member != nil || !d.droppable(property) || slices.Contains(s.Required, name):
				kept[name] = d.drop(member, property)
			}
		}
		return kept
	case []any:
		items := itemsOf(s)
		if items == nil {
			return v
		}
		kept := make([]any, len(v))
		for i, item := range v {
			kept[i] = d.drop(item, items)
		}
		return kept
	default:
		return value
	}
}

// alternative drops members according to the first alternative that the result fits.
func (d *dropper) alternative(value any, either []*jsonschema.Schema) any {
	for _, s := range either {
		dropped := d.drop(value, s)
		x := &explainer{root: dropped}
		if problems, broken := x.check(s); problems == nil && broken == nil {
			return dropped
		}
	}
	return value
}

// nullAllowed reports whether a schema lists null as a type or as an alternative.
func nullAllowed(s *jsonschema.Schema) bool {
	if s.Types != nil && slices.Contains(s.Types.ToStrings(), "null") {
		return true
	}
	return slices.ContainsFunc(s.AnyOf, onlyNull) || slices.ContainsFunc(s.OneOf, onlyNull)
}

// readNullable adds null to the types and enums of schemas with "nullable": true. JSON Schema ignores this keyword of
// OpenAPI, so validation would otherwise reject valid nulls.
func readNullable(v any) {
	switch v := v.(type) {
	case map[string]any:
		t, typed := v["type"].(string)
		if typed && v["nullable"] == true {
			v["type"] = []any{t, "null"}
		}
		values, listed := v["enum"].([]any)
		if listed && v["nullable"] == true && !slices.Contains(values, nil) {
			v["enum"] = append(values, nil)
		}
		for _, member := range v {
			readNullable(member)
		}
	case []any:
		for _, item := range v {
			readNullable(item)
		}
	}
}

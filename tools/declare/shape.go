package declare

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// Limits of a shape. A shape that exceeds them becomes the shape of any value.
const (
	maxDepth   = 8     // levels of objects and arrays
	maxMembers = 60    // an object's members
	maxItems   = 500   // items of an array that are read, evenly distributed
	maxName    = 64    // characters of a member's name
	maxTypes   = 3     // types of the values in one place
	maxShapes  = 1_000 // shapes in a shape
)

// shape is the type of the values that were seen in one place. Its JSON is a JSON Schema. It is immutable.
type shape struct {
	Types    []string          `json:"type,omitempty"`                 // sorted; if empty, any type
	JSON     *shape            `json:"contentSchema,omitempty"`        // of the JSON in strings, if all are JSON
	Items    *shape            `json:"items,omitempty"`                // of arrays
	Members  map[string]*shape `json:"properties,omitempty"`           // of objects, unless their names are data
	Required []string          `json:"required,omitempty"`             // the members that no object lacks; sorted
	Others   *shape            `json:"additionalProperties,omitempty"` // of members whose names are not kept
}

// shapeOf returns the shape of a decoded JSON value.
func shapeOf(v any, depth int) *shape {
	s, name := &shape{}, "null"
	if depth < 0 {
		return s
	}
	switch v := v.(type) {
	case bool:
		name = "boolean"
	case json.Number:
		name = "number"
	case string:
		name = "string"
		if text := strings.TrimSpace(v); text != "" && strings.Contains("{[", text[:1]) {
			if doc, err := jsonvalue.Decode(json.RawMessage(text), maxNesting, false); err == nil {
				s.JSON = shapeOf(doc.Value, depth)
			}
		}
	case []any:
		name = "array"
		for i := 0; i < len(v); i += 1 + len(v)/maxItems {
			s.Items = s.Items.with(shapeOf(v[i], depth-1))
		}
	case map[string]any:
		name = "object"
		s.Members = map[string]*shape{}
		for member, value := range v {
			if t := shapeOf(value, depth-1); isName(member) {
				s.Members[member] = t
			} else {
				s.Others = s.Others.with(t)
			}
		}
		s.Required = slices.Sorted(maps.Keys(s.Members))
		s.forgetNames()
	}
	s.Types = []string{name}
	return s
}

// isName reports whether a member name may be shown. Other names are data.
func isName(name string) bool {
	return utf8.RuneCountInString(name) <= maxName && jsonvalue.IsIdentifier(name)
}

// with returns a shape that describes the values of both s and other. It is associative, commutative and idempotent. A
// nil shape describes no values.
func (s *shape) with(other *shape) *shape {
	if s == nil || other == nil {
		return cmp.Or(s, other)
	}
	both := &shape{
		Types: slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.Types, other.Types)))),
		Items: s.Items.with(other.Items), Members: map[string]*shape{}, Others: s.Others.with(other.Others),
	}
	if s.Types == nil || other.Types == nil || len(both.Types) > maxTypes {
		return &shape{}
	}
	if !s.hasText() && !other.hasText() {
		both.JSON = s.JSON.with(other.JSON)
	}
	maps.Copy(both.Members, s.Members)
	for name, t := range other.Members {
		both.Members[name] = t.with(s.Members[name])
	}
	lacks := func(name string) bool { return s.lacks(name) || other.lacks(name) }
	both.Required = slices.DeleteFunc(slices.Sorted(maps.Keys(both.Members)), lacks)
	both.forgetNames()
	return both
}

// hasText reports whether some of the strings are not JSON.
func (s *shape) hasText() bool { return s.JSON == nil && slices.Contains(s.Types, "string") }

// lacks reports whether some object lacks the member. Empty objects do not count.
func (s *shape) lacks(name string) bool {
	return (s.Members != nil || s.Others != nil) && !slices.Contains(s.Required, name)
}

// forgetNames drops the member names if there are too many, or if no member is in every object.
func (s *shape) forgetNames() {
	if len(s.Required) > 0 && len(s.Members) <= maxMembers {
		return
	}
	for _, t := range s.Members {
		s.Others = s.Others.with(t)
	}
	s.Members, s.Required = nil, nil
}

// valid reports whether a shape is within the limits. It subtracts the number of shapes in s from left.
func (s *shape) valid(depth int, left *int) bool {
	if s == nil {
		return true
	}
	if *left--; *left < 0 || depth < 0 || len(s.Members) > maxMembers {
		return false
	}
	for name, t := range s.Members {
		if t == nil || !isName(name) || !t.valid(depth-1, left) {
			return false
		}
	}
	return s.JSON.valid(depth, left) && s.Items.valid(depth-1, left) && s.Others.valid(depth-1, left) &&
		!slices.ContainsFunc(s.Required, func(name string) bool { return s.Members[name] == nil })
}

// schema returns the shape as a JSON Schema. If a value was always null, the schema allows any value in its place.
func (s *shape) schema() json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // unreachable: a shape has nothing but strings
	}
	return bytes.ReplaceAll(text, []byte(`{"type":["null"]}`), []byte("{}"))
}

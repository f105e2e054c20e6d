package replies

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/writ-go/writ/signature"
)

// shape is what a schema admits, as far as it helps to read a value that is
// written in other ways than JSON's. What it misses is only read strictly.
type shape struct {
	text, integer, fraction, boolean, null bool // what kind of value it may be

	any         bool     // nothing is said about the kind
	format      string   // of a text
	constants   []string // texts of which it must be one; nil for any
	items       *shape   // of an array; nil if it is none
	members     []member // of an object; nil if it is none
	least, most *float64 // of a number
	name        string   // of the field or member, if it has one
	open        bool     // an object may have other members
	rest        *shape   // of those
}

type member struct {
	name     string
	shape    shape
	required bool
}

func (s shape) number() bool { return s.integer || s.fraction }

func shapeOf(f signature.Field) shape {
	return parseShape(f.Schema.Raw()).called(f.Name)
}

// called is a shape with the name of its field, which is that of numbers in a list too if it
// says their unit.
func (s shape) called(name string) shape {
	s.name = parted(name)
	if s.items != nil && s.items.number() && (s.unitInName() != "" || s.saysCurrency()) {
		s.items.name = s.name
	}
	return s
}

// parted is the name of a field with its words apart: weight_Kg of weightKg.
func parted(name string) string {
	if strings.ToLower(name) == name {
		return name
	}
	return capital.ReplaceAllString(name, "${1}_$2")
}

var capital = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// keywords are those of a schema that a shape is made of.
type keywords struct {
	Type         any
	Enum         []any
	Const        any
	Format       string
	Items        json.RawMessage
	Properties   signature.Values
	Required     []string
	Additional   json.RawMessage `json:"additionalProperties"`
	AnyOf, OneOf []json.RawMessage

	Minimum, Maximum *float64
}

func parseShape(raw json.RawMessage) shape {
	var k keywords
	if json.Unmarshal(raw, &k) != nil {
		return shape{any: true} // a boolean, or a form that is not known here
	}
	s := shape{format: k.Format, least: k.Minimum, most: k.Maximum}
	for _, choice := range append(k.AnyOf, k.OneOf...) {
		s.join(parseShape(choice))
	}
	s.admit(k)
	for _, c := range append(k.Enum, k.Const) {
		if text, ok := c.(string); ok {
			s.text = true
			s.constants = append(s.constants, text)
		}
	}
	s.null = s.null || slices.Contains(k.Enum, nil)
	s.any = s.any || k.Type == nil && k.Enum == nil && k.Const == nil && k.AnyOf == nil && k.OneOf == nil
	return s
}

func (s *shape) admit(k keywords) {
	types, _ := k.Type.([]any)
	if name, ok := k.Type.(string); ok {
		types = []any{name}
	}
	for _, t := range types {
		switch t {
		case "string":
			s.text = true
		case "integer":
			s.integer = true
		case "number":
			s.fraction = true
		case "boolean":
			s.boolean = true
		case "null":
			s.null = true
		case "array":
			items := parseShape(k.Items)
			s.items = &items
		case "object":
			s.object(k)
		}
	}
}

func (s *shape) object(k keywords) {
	s.members = make([]member, len(k.Properties))
	s.open = string(k.Additional) != "false"
	rest := parseShape(k.Additional)
	s.rest = &rest
	required := map[string]bool{}
	for _, name := range k.Required {
		required[name] = true
	}
	for i, p := range k.Properties {
		s.members[i] = member{p.Name, parseShape(p.JSON).called(p.Name), required[p.Name]}
	}
}

// inRange reports whether a number may be one of the shape's, as far as the schema
// says how large they are.
func (s shape) inRange(number string) bool {
	n, err := strconv.ParseFloat(number, 64)
	return err != nil || (s.least == nil || n >= *s.least) && (s.most == nil || n <= *s.most)
}

// join makes s admit what other admits too.
func (s *shape) join(o shape) {
	s.text, s.integer, s.fraction = s.text || o.text, s.integer || o.integer, s.fraction || o.fraction
	s.boolean, s.null, s.any = s.boolean || o.boolean, s.null || o.null, s.any || o.any
	s.constants = append(s.constants, o.constants...)
	if o.items != nil {
		s.items = o.items
	}
	if o.members != nil {
		s.members, s.open, s.rest = o.members, o.open, o.rest
	}
	if o.format != "" {
		s.format = o.format
	}
}

// scalar reports whether it may be a number, a boolean, a constant or a date:
// something that one word says.
func (s shape) scalar() bool {
	return s.number() || s.boolean || s.constants != nil || s.temporal()
}

// temporal reports whether it is a day or a moment.
func (s shape) temporal() bool { return s.format == dateTime || s.format == date }

const dateTime, date = "date-time", "date"

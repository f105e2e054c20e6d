package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/writ-go/writ/internal/jsonvalue"
)

const (
	maxDefault = 4 << 10  // bytes of one default
	maxAdded   = 64 << 10 // bytes that defaults add to one value
	maxParts   = 50_000   // parts of schemas that are searched for defaults
)

// defaults are the defaults of the members of a value.
type defaults struct {
	own   []member             // of properties
	under map[string]*defaults // in properties
	each  *defaults            // in items
}

type member struct {
	name  string
	value any
	size  int // bytes of name and value
}

// Complete adds the defaults of the schema to a value that fits it, in nested
// objects too. The value itself is returned if there is nothing to add.
//
// A default is used if it fits its own schema and is at most 4 KiB long. A default of null
// means no default. Defaults within defaults and in alternatives that may not apply are
// ignored. If the value with its defaults would no longer fit, for example because a oneOf
// requires either of two properties, or if the defaults add more than 64 KiB, nothing is
// added.
func (s *Schema) Complete(value json.RawMessage) json.RawMessage {
	if s.defaults == nil {
		return value
	}
	doc, err := jsonvalue.Decode(value, maxValueDepth, true)
	if err != nil || len(doc.Repeated) > 0 {
		return value
	}
	var c completer
	c.value(doc.Value, s.defaults)
	if c.bytes == 0 || c.bytes > maxAdded {
		return value
	}
	full := doc.Encode(doc.Value)
	if s.Validate(full) != nil {
		return value
	}
	return full
}

// CheckDefaults returns the problems of the defaults anywhere in the schema that
// [Schema.Complete] would ignore because they do not fit or are too long. Null is
// never a problem.
func (s *Schema) CheckDefaults() []Finding {
	if !mentions(s.raw, "default") {
		return nil
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	s.guard.begin(s.document, true) // for all defaults together
	var findings []Finding
	for _, at := range slices.Sorted(maps.Keys(s.rules)) {
		findings = append(findings, s.checkDefault(at)...)
	}
	return findings
}

// checkDefault checks the default of the schema at a place.
func (s *Schema) checkDefault(at string) []Finding {
	rule := s.rules[at]
	if rule.Default == nil || *rule.Default == nil {
		return nil
	}
	subject := "the default"
	if place := jsonvalue.Path(s.document.Value, jsonvalue.Tokens(at)); place != "" {
		subject += " at " + place
	}
	if n := len(jsonvalue.Text(*rule.Default)); n > maxDefault {
		return []Finding{{Path: subject, Message: fmt.Sprintf("has %d bytes; the limit is %d", n, maxDefault)}}
	}
	x := &explainer{root: *rule.Default}
	problems, broken := x.check(rule)
	if broken != nil {
		problems = []problem{{text: "takes too long to be checked"}}
	}
	findings := x.findings(problems)
	for i, f := range findings {
		findings[i].Path = within(subject, f.Path)
	}
	return findings
}

// mentions reports whether a schema may have a keyword, which may be written with
// escapes.
func mentions(raw json.RawMessage, keyword string) bool {
	return bytes.Contains(raw, []byte(`"`+keyword+`"`)) || bytes.Contains(raw, []byte(`\u`))
}

// completer adds defaults to a value.
type completer struct {
	bytes int // added
}

func (c *completer) value(v any, d *defaults) {
	if d == nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			c.value(member, d.under[name])
		}
		for _, m := range d.own {
			if _, given := v[m.name]; !given && c.bytes <= maxAdded {
				v[m.name] = m.value
				c.bytes += m.size
			}
		}
	case []any:
		for _, item := range v {
			c.value(item, d.each)
		}
	}
}

// findDefaults returns the defaults of a compiled schema, nil if it has none.
func (s *Schema) findDefaults() *defaults {
	if !mentions(s.raw, "default") {
		return nil
	}
	f := finder{known: map[*jsonschema.Schema]*defaults{}}
	s.guard.begin(s.document, true) // for all defaults together
	d := f.of(s.compiled)
	if f.found == 0 {
		return nil
	}
	return d
}

type finder struct {
	known map[*jsonschema.Schema]*defaults
	found int
	parts int
}

// certain is [certain] within the limit of one search.
func (f *finder) certain(s *jsonschema.Schema) []*jsonschema.Schema {
	if f.parts > maxParts {
		return nil
	}
	parts := certain(s, nil)
	f.parts += len(parts)
	return parts
}

// of returns the defaults within the values of a schema, which may be recursive.
func (f *finder) of(s *jsonschema.Schema) *defaults {
	if d := f.known[s]; d != nil {
		return d
	}
	d := &defaults{under: map[string]*defaults{}}
	f.known[s] = d
	for _, part := range f.certain(s) {
		for _, name := range slices.Sorted(maps.Keys(part.Properties)) {
			if d.under[name] != nil {
				continue
			}
			property := part.Properties[name]
			d.under[name] = f.of(property)
			if value, size := f.usable(property); size > 0 {
				d.own = append(d.own, member{name, value, size + len(jsonvalue.Text(name)) + 1})
				f.found++
			}
		}
		if items := itemsOf(part); items != nil && d.each == nil {
			d.each = f.of(items)
		}
	}
	return d
}

// itemsOf returns the schema of all items of an array.
func itemsOf(s *jsonschema.Schema) *jsonschema.Schema {
	if len(s.PrefixItems) > 0 {
		return nil
	}
	if old, ok := s.Items.(*jsonschema.Schema); ok {
		return old
	}
	return s.Items2020
}

// certain appends the schemas that apply to every value of a schema, except null.
func certain(s *jsonschema.Schema, parts []*jsonschema.Schema) []*jsonschema.Schema {
	parts = append(parts, s)
	if s.Ref != nil {
		parts = certain(s.Ref, parts)
	}
	for _, part := range s.AllOf {
		parts = certain(part, parts)
	}
	for _, either := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		either = slices.DeleteFunc(slices.Clone(either), onlyNull)
		if len(either) == 1 {
			parts = certain(either[0], parts)
		}
	}
	return parts
}

func onlyNull(s *jsonschema.Schema) bool {
	return s.Types != nil && slices.Equal(s.Types.ToStrings(), []string{"null"})
}

// usable returns the default of a property and its size as JSON, which is 0 if
// the property has no default that can be used.
func (f *finder) usable(property *jsonschema.Schema) (value any, size int) {
	for _, part := range f.certain(property) {
		if part.Default != nil {
			return valid(*part.Default, property)
		}
	}
	return nil, 0
}

func valid(value any, rule *jsonschema.Schema) (any, int) {
	text := jsonvalue.Text(value)
	if value == nil || len(text) > maxDefault {
		return nil, 0
	}
	doc, err := jsonvalue.Decode([]byte(text), maxDepth, false)
	if err != nil {
		return nil, 0
	}
	x := &explainer{root: doc.Value}
	if problems, broken := x.check(rule); broken != nil || problems != nil {
		return nil, 0
	}
	return doc.Value, len(text)
}

// within returns the path of a place in a named value.
func within(name, path string) string {
	if path == "" || path[0] == '[' {
		return name + path
	}
	return name + "." + path
}

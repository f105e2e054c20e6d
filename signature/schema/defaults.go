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
	maxParts   = 50_000   // schemas searched for defaults
)

// Complete returns value, which must fit the schema, with the defaults of missing
// properties, also in nested objects. If there is nothing to add, it returns value
// unchanged.
//
// Complete uses a default if the default fits its own schema and is at most 4 KiB long. A
// default of null means no default. Complete ignores defaults within defaults, and those in
// alternatives that may not apply. It adds nothing if the result would not fit the schema,
// for example because a oneOf requires either of two properties, or if the defaults would
// add more than 64 KiB.
func (s *Schema) Complete(value json.RawMessage) json.RawMessage {
	if len(s.defaults) == 0 {
		return value
	}
	doc, err := jsonvalue.Decode(value, maxValueDepth, true)
	if err != nil || len(doc.Repeated) > 0 {
		return value
	}
	c := completer{defaults: s.defaults, steps: 10 * (baseSteps + valueSteps*doc.Values)}
	c.value(doc.Value, s.compiled)
	for _, add := range c.additions {
		add()
	}
	if c.bytes == 0 || c.bytes > maxAdded || c.steps < 0 {
		return value
	}
	full := doc.Encode(doc.Value)
	if s.Validate(full) != nil {
		return value
	}
	return full
}

// CheckDefaults returns the problems of the defaults that [Schema.Complete] ignores
// because they do not fit their schema or are too long. A default of null is not a
// problem.
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

// checkDefault returns the problems of the default in the schema at a place.
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

// mentions reports whether a schema may have a keyword. A keyword can be written with
// escapes, so mentions returns true for every schema that has escapes.
func mentions(raw json.RawMessage, keyword string) bool {
	return bytes.Contains(raw, []byte(`"`+keyword+`"`)) || bytes.Contains(raw, []byte(`\u`))
}

// usableDefaults returns the defaults that [Schema.Complete] uses, by schema. The default of a schema may be declared
// in the schema itself or in one that always applies with it, such as the target of a $ref.
func (s *Schema) usableDefaults() map[*jsonschema.Schema]any {
	if !mentions(s.raw, "default") {
		return nil
	}
	s.guard.begin(s.document, true) // for all defaults together
	usable := map[*jsonschema.Schema]any{}
	searched := 0
	for _, at := range slices.Sorted(maps.Keys(s.rules)) {
		parts := certain(s.rules[at], nil)
		if searched += len(parts); searched > maxParts {
			break
		}
		i := slices.IndexFunc(parts, func(part *jsonschema.Schema) bool { return part.Default != nil })
		if i < 0 || *parts[i].Default == nil || len(jsonvalue.Text(*parts[i].Default)) > maxDefault {
			continue
		}
		x := &explainer{root: *parts[i].Default}
		if problems, broken := x.check(s.rules[at]); problems == nil && broken == nil {
			usable[s.rules[at]] = x.root
		}
	}
	return usable
}

// completer adds defaults to a value.
type completer struct {
	defaults  map[*jsonschema.Schema]any
	bytes     int      // number of added bytes
	steps     int      // number of steps left
	additions []func() // called after the walk, so that the walk does not complete the added defaults
}

func (c *completer) value(v any, s *jsonschema.Schema) {
	if c.steps < 0 {
		return
	}
	parts := certain(s, nil)
	if c.steps -= len(parts); c.steps < 0 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, part := range parts {
			c.steps -= len(v) + len(part.Properties)
			for name, member := range v {
				if property := part.Properties[name]; property != nil {
					c.value(member, property)
				}
			}
		}
		for _, part := range parts {
			c.additions = append(c.additions, func() { c.add(v, part.Properties) })
		}
	case []any:
		for _, part := range parts {
			if items := itemsOf(part); items != nil {
				for _, item := range v {
					c.value(item, items)
				}
			}
		}
	}
}

// add adds the missing properties that have usable defaults to an object.
func (c *completer) add(object map[string]any, properties map[string]*jsonschema.Schema) {
	if c.steps < 0 {
		return
	}
	for name, property := range properties {
		value, usable := c.defaults[property]
		if _, given := object[name]; usable && !given && c.bytes <= maxAdded {
			object[name] = value
			c.bytes += len(jsonvalue.Text(name)) + len(jsonvalue.Text(value)) + 1
		}
	}
}

// itemsOf returns the schema that describes all items of an array, or nil.
func itemsOf(s *jsonschema.Schema) *jsonschema.Schema {
	if len(s.PrefixItems) > 0 {
		return nil
	}
	if old, ok := s.Items.(*jsonschema.Schema); ok {
		return old
	}
	return s.Items2020
}

// certain appends s and the schemas that s applies to every value except null.
func certain(s *jsonschema.Schema, parts []*jsonschema.Schema) []*jsonschema.Schema {
	parts = append(parts, s)
	if s.Ref != nil {
		parts = certain(s.Ref, parts)
	}
	for _, part := range s.AllOf {
		parts = certain(part, parts)
	}
	for _, either := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if either = notOnlyNull(either); len(either) == 1 {
			parts = certain(either[0], parts)
		}
	}
	return parts
}

func notOnlyNull(either []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(slices.Clone(either), onlyNull)
}

func onlyNull(s *jsonschema.Schema) bool {
	return s.Types != nil && slices.Equal(s.Types.ToStrings(), []string{"null"})
}

// within returns the path of a place in a value that is called name.
func within(name, path string) string {
	if path == "" || path[0] == '[' {
		return name + path
	}
	return name + "." + path
}

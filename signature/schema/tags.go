package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/internal/similar"
	"github.com/writ-go/writ/signature/internal/formats"
)

// rules lists the rules that a jsonschema tag may have, by the field's JSON type.
var rules = map[string][]string{
	"string": {"minLength", "maxLength", "pattern", "format", "enum", "default", "example"},
	"number": {
		"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "enum", "default", "example",
	},
	"boolean": {"default"},
	"array":   {"minItems", "maxItems", "uniqueItems"},
}

// always are the rules that apply to every type.
var always = []string{"title", "description", "required", "nullable", "oneof_required", "anyof_required"}

// property is a struct field and the schema of its type, to which tags are applied.
type property struct {
	field
	schema *jsonschema.Schema
	own    jsonschema.Schema // the schema of the type (or of the items of a list) before tags are applied
}

// newProperty prepares the schema of a field's type for the field's tags. It copies the schema of items, which other
// fields may share.
func newProperty(f field, s *jsonschema.Schema) *property {
	if t := ruledBy(s); f.option("string") && (t == "number" || t == "boolean") {
		s.Type, s.Minimum, s.Maximum = "string", "", ""
	}
	if s.Items != nil {
		items := *s.Items
		s.Items = &items
	}
	p := &property{field: f, schema: s}
	p.own = *p.scalar()
	p.own.Description = s.Description
	return p
}

// ruledBy returns a schema's type as a key of [rules].
func ruledBy(s *jsonschema.Schema) string {
	if s.Type == "integer" {
		return "number"
	}
	return s.Type
}

// scalar returns the schema to which most rules apply: the schema of the items, if the field is a list.
func (p *property) scalar() *jsonschema.Schema {
	if p.schema.Items != nil {
		return p.schema.Items
	}
	return p.schema
}

// tags returns the tags that the reflector reads.
func (p *property) tags() reflect.StructTag {
	options := ""
	if p.optional() {
		options = ",omitempty"
	}
	return reflect.StructTag(fmt.Sprintf(`json:%q jsonschema:%q jsonschema_description:%q`,
		p.json+options, p.Tag.Get("jsonschema"), p.Tag.Get("jsonschema_description")))
}

// check returns an error if the tags have a rule that the reflector would ignore or apply wrongly.
func (p *property) check() error {
	if p.Tag.Get("jsonschema_extras") != "" {
		return errors.New("jsonschema_extras is not supported; give the type a method JSONSchemaExtend")
	}
	const comma = "\x00"
	for rule := range strings.SplitSeq(strings.ReplaceAll(p.Tag.Get("jsonschema"), `\,`, comma), ",") {
		if rule == "" {
			continue
		}
		if err := p.checkRule(strings.ReplaceAll(rule, comma, ",")); err != nil {
			return err
		}
	}
	return nil
}

func (p *property) checkRule(rule string) error {
	name, value, assigned := strings.Cut(rule, "=")
	of := ruledBy(p.schema)
	known := slices.Clone(rules[of])
	if p.schema.MaxItems != nil { // a Go array, whose length is fixed
		known = []string{"uniqueItems"}
	}
	if items := p.schema.Items; of == "array" && items != nil {
		if of = ruledBy(items); of != "array" {
			known = append(known, rules[of]...)
		}
	}
	switch alone := name == "required" || name == "nullable"; {
	case slices.Contains(always, name) && alone != assigned:
		return nil
	case !assigned:
		return fmt.Errorf(`%q is not a rule; write name=value, and put \\ before each comma in a value, `+
			`or use jsonschema_description`, rule)
	case !slices.Contains(known, name):
		if near := similar.Nearest(name, known); near != "" {
			return fmt.Errorf("unknown rule %q; did you mean %s?", name, near)
		}
		return fmt.Errorf("the rule %s does not apply to %v; use one of %s",
			name, p.Type, strings.Join(append(known, always[:4]...), ", "))
	case name == "format" && value != p.own.Format && !(p.own.Format == "date-time" && value == "date"):
		if p.own.Format != "" {
			return fmt.Errorf("the type %v already has the format %s", p.Type, p.own.Format)
		}
		return formats.Check(value)
	case p.schema.Items != nil && strings.Contains(value, "="):
		return fmt.Errorf("the rule %s for the items of a list cannot have a value with =; declare a type for "+
			"the items", name)
	}
	return checkValue(name, value, of)
}

// checkValue checks the form of a rule's value. The argument of is the JSON type to which the rule applies.
func checkValue(name, value, of string) error {
	takes, ok := "", true
	switch {
	case name == "uniqueItems":
		takes, ok = "true", value == "true"
	case slices.Contains([]string{"minLength", "maxLength", "minItems", "maxItems"}, name):
		_, err := strconv.ParseUint(value, 10, 32)
		takes, ok = "an integer of at least 0", err == nil
	case of == "number":
		var n float64
		takes, ok = "a number", json.Unmarshal([]byte(value), &n) == nil && value != "null"
	case of == "boolean":
		takes, ok = "true or false", value == "true" || value == "false"
	case name == "pattern":
		if _, err := compilePattern(value, nil); err != nil {
			return fmt.Errorf("the pattern %s does not compile: %v", jsonvalue.Quote(value), err)
		}
	}
	if !ok {
		return fmt.Errorf("the rule %s takes %s, not %q", name, takes, value)
	}
	return nil
}

// finish corrects the schema to which the reflector has applied the tags, and checks its defaults, examples and enums.
// The type's description remains unless a tag replaces it, and its bounds remain unless a tag narrows them. An enum in
// a tag selects from the type's values. The elements in a list's default get the items' type.
func (p *property) finish() error {
	s, scalar := p.schema, p.scalar()
	if s.Description == "" {
		s.Description = p.own.Description
	}
	scalar.Minimum = narrower(scalar.Minimum, p.own.Minimum, 1)
	scalar.Maximum = narrower(scalar.Maximum, p.own.Maximum, -1)
	if n := len(p.own.Enum); n > 0 && len(scalar.Enum) > n {
		scalar.Enum = scalar.Enum[n:]
		for _, v := range scalar.Enum {
			isEqual := func(own any) bool { return jsonvalue.Text(own) == jsonvalue.Text(v) }
			if !slices.ContainsFunc(p.own.Enum, isEqual) {
				return fmt.Errorf("%s is not a value of %v", jsonvalue.Text(v), p.Type)
			}
		}
	}
	if list, _ := s.Default.([]any); s.Items != nil && ruledBy(s.Items) != "string" {
		for i, v := range list {
			list[i] = json.RawMessage(fmt.Sprint(v))
		}
	}
	if scalar.Default != nil && s.Items != nil { // the reflector adds the default of a list of booleans to the items
		scalar.Default = nil
	}
	return errors.Join(checkValues(s, "the default", s.Default), checkValues(scalar, "the example", scalar.Examples...),
		checkValues(scalar, "a value of enum", scalar.Enum...))
}

// narrower returns the narrower of two bounds: that in a tag, and that of the type, outside which a value cannot be
// decoded. The sign is 1 for minimums and -1 for maximums.
func narrower(tag, own json.Number, sign int) json.Number {
	x, _ := new(big.Rat).SetString(tag.String())
	y, bounded := new(big.Rat).SetString(own.String())
	if bounded && x.Cmp(y) == -sign {
		return own
	}
	return tag
}

// checkValues returns an error if values do not fit a schema.
func checkValues(s *jsonschema.Schema, name string, values ...any) error {
	raw, err := json.Marshal(s)
	if err != nil || len(values) == 0 || values[0] == nil {
		return err
	}
	compiled, err := compile(raw, true)
	if err != nil {
		return nil // the schema may refer to the rest of the document
	}
	for _, v := range values {
		raw, err := json.Marshal(v)
		if err != nil {
			return err
		}
		findings := compiled.Validate(raw)
		for i, f := range findings {
			findings[i].Path = within(name, f.Path)
		}
		if len(findings) > 0 {
			return errors.New(Summary(findings))
		}
	}
	return nil
}

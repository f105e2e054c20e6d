package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// family is a set of JSON types to which a rule of a tag applies.
type family int

const (
	texts family = 1 << iota
	numbers
	booleans
	lists
	others
	anyType = texts | numbers | booleans | lists | others
)

// familyOf returns the family of a schema. That of a list includes the family of
// its items, to which most rules apply.
func familyOf(s *jsonschema.Schema) family {
	switch s.Type {
	case "string":
		return texts
	case "integer", "number":
		return numbers
	case "boolean":
		return booleans
	case "array":
		if s.Items == nil || s.Items.Type == "array" {
			return lists
		}
		return lists | familyOf(s.Items)
	default:
		return others
	}
}

// rule is a rule of a jsonschema tag, such as minimum=1.
type rule struct {
	name    string
	applies family
	takes   kindOfValue
}

// kindOfValue is what a rule takes.
type kindOfValue string

const (
	aNumber kindOfValue = "a number"
	aCount  kindOfValue = "an integer of at least 0"
	aText   kindOfValue = "a non-empty string"
	aValue  kindOfValue = "a value of the type"
	aTruth  kindOfValue = "true or false"
	nothing kindOfValue = "no value"
)

var rules = []rule{
	{"minItems", lists, aCount},
	{"maxItems", lists, aCount},
	{"uniqueItems", lists, aTruth},
	{"minimum", numbers, aNumber},
	{"exclusiveMinimum", numbers, aNumber},
	{"maximum", numbers, aNumber},
	{"exclusiveMaximum", numbers, aNumber},
	{"multipleOf", numbers, aNumber},
	{"minLength", texts, aCount},
	{"maxLength", texts, aCount},
	{"pattern", texts, aText},
	{"format", texts, aText},
	{"enum", texts | numbers, aValue},
	{"default", texts | numbers | booleans, aValue},
	{"example", texts | numbers, aValue},
	{"title", anyType, aText},
	{"description", anyType, aText},
	{"required", anyType, nothing},
	{"nullable", anyType, nothing},
	{"oneof_required", anyType, aText},
	{"anyof_required", anyType, aText},
}

// tagged is a field whose tags are applied to the schema of its type.
type tagged struct {
	field
	schema   *jsonschema.Schema
	family   family
	own      jsonschema.Schema // the type, or the type of the items, without the tags
	fixed    bool              // the length of the list
	required bool
	nullable bool
}

// applyTags applies the tags of a field to the schema s of its type. What they
// say about the struct goes into its schema, parent.
func (f field) applyTags(s, parent *jsonschema.Schema) (*tagged, error) {
	t := &tagged{field: f, schema: s, required: !f.optional()}
	if text := f.Tag.Get("jsonschema_description"); text != "" {
		s.Description = text
	}
	if of := familyOf(s); f.option("string") && (of == numbers || of == booleans) {
		s.Type, s.Minimum, s.Maximum = "string", "", ""
	}
	t.family = familyOf(s)
	tag := f.Tag.Get("jsonschema")
	switch {
	case f.Tag.Get("jsonschema_extras") != "":
		return nil, errors.New("jsonschema_extras is not supported; give the type a method JSONSchemaExtend")
	case tag == "":
		return t, nil
	case t.family&lists != 0 && s.Items != nil: // other fields may share the items
		items := *s.Items
		s.Items = &items
	}
	valued, parts := t.of(texts), tagParts(tag)
	if valued.Format == "date-time" && isTime(f.Type) && slices.Contains(parts, "format=date") {
		valued.Format = "date"
	}
	t.own, t.fixed, valued.Enum = *valued, s.MinItems != nil, nil
	given := map[string]bool{}
	for _, part := range parts {
		if err := t.apply(part, given, parent); err != nil {
			return nil, err
		}
	}
	if !given["enum"] {
		valued.Enum = t.own.Enum
	}
	return t, t.checkValues(s)
}

// isTime reports whether a type consists of [time.Time].
func isTime(t reflect.Type) bool {
	of := []reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array}
	return t == moment || slices.Contains(of, t.Kind()) && isTime(t.Elem())
}

// apply applies one rule of the tag.
func (t *tagged) apply(part string, given map[string]bool, parent *jsonschema.Schema) error {
	name, text, assigned := strings.Cut(part, "=")
	if name == "format" && text != "" && text == t.own.Format {
		return nil // the type says so itself
	}
	r, err := t.rule(name, part, assigned, given)
	if err != nil {
		return err
	}
	value, err := t.parse(r, text, assigned)
	if err != nil {
		return err
	}
	once := name
	if name == "enum" || name == "example" {
		once = part
	}
	if given[once] && (name != "default" || t.family&lists == 0) {
		return fmt.Errorf("the rule %s is repeated", once)
	}
	given[name], given[once] = true, true
	return t.set(r, value, parent)
}

// of returns the schema to which the rules of a family apply: the type's, or the
// one of its items.
func (t *tagged) of(applies family) *jsonschema.Schema {
	if t.family&lists != 0 && applies != lists && applies != anyType && t.schema.Items != nil {
		return t.schema.Items
	}
	return t.schema
}

// rule finds a rule by its name.
func (t *tagged) rule(name, part string, assigned bool, given map[string]bool) (rule, error) {
	var known []string
	for _, r := range rules {
		if !t.takes(r) {
			continue
		}
		if r.name == name {
			return r, nil
		}
		if !strings.Contains(r.name, "_") {
			known = append(known, r.name)
		}
	}
	exists := slices.ContainsFunc(rules, func(r rule) bool { return r.name == name })
	near := Nearest(name, known)
	switch {
	case exists:
		return rule{}, fmt.Errorf("the rule %s does not apply to %v; use %s", name, t.Type, strings.Join(known, ", "))
	case near != "":
		return rule{}, fmt.Errorf("unknown rule %q; did you mean %s?", name, near)
	case !assigned && given["enum"]:
		return rule{}, fmt.Errorf("%q is not a rule; repeat the rule for each value, as in enum=a,enum=b", part)
	case !assigned && len(given) == 0: // in a tag of the MCP SDK, the text is the description
		return rule{}, fmt.Errorf(`%q is not a rule; for a description, write jsonschema:"description=%s"`, part, part)
	case !assigned:
		return rule{}, fmt.Errorf(`%q is not a rule; write a comma in a text as \\, or use jsonschema_description`, part)
	default:
		return rule{}, fmt.Errorf("unknown rule %q; use %s", name, strings.Join(known, ", "))
	}
}

// takes reports whether a rule applies to the type, which does not say the same
// itself.
func (t *tagged) takes(r rule) bool {
	switch {
	case r.applies&t.family == 0:
		return false
	case r.name == "format":
		return t.own.Format == ""
	case r.name == "minItems", r.name == "maxItems":
		return !t.fixed
	default:
		return true
	}
}

var numeric = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// parse returns the value of a rule as decoded JSON.
func (t *tagged) parse(r rule, text string, assigned bool) (any, error) {
	takes := r.takes
	if takes == aValue {
		switch of := t.family &^ lists; of {
		case numbers:
			takes = aNumber
		case booleans:
			takes = aTruth
		}
	}
	ok := assigned
	var value any = text
	switch takes {
	case nothing:
		if assigned {
			return nil, fmt.Errorf("the rule %s takes no value", r.name)
		}
		ok = true
	case aNumber:
		ok, value = numeric.MatchString(text), json.Number(text)
	case aCount:
		n, err := strconv.ParseUint(text, 10, 32)
		ok, value = err == nil, n
	case aTruth:
		ok, value = text == "true" || text == "false", text == "true"
	case aText:
		ok = text != ""
	case aValue:
	}
	switch {
	case !ok && !assigned:
		return nil, fmt.Errorf("the rule %s takes %s: %[1]s=…", r.name, takes)
	case !ok:
		return nil, fmt.Errorf("the rule %s takes %s, not %q", r.name, takes, text)
	case r.name == "pattern":
		if _, err := compilePattern(text, nil); err != nil {
			return nil, fmt.Errorf("the pattern %s does not compile: %v", jsonvalue.Quote(text), err)
		}
	case r.name == "format":
		return value, CheckFormat(text)
	}
	return value, nil
}

// set sets the keyword of a rule.
func (t *tagged) set(r rule, value any, parent *jsonschema.Schema) error {
	s := t.of(r.applies)
	switch r.name {
	case "required":
		t.required = true
	case "nullable":
		t.nullable = true
	case "enum":
		var own []string
		for _, v := range t.own.Enum {
			own = append(own, jsonvalue.Text(v))
		}
		if own != nil && !slices.Contains(own, jsonvalue.Text(value)) {
			return fmt.Errorf("%s is not a value of %v; its values are %s",
				jsonvalue.Text(value), t.Type, strings.Join(own, ", "))
		}
		s.Enum = append(s.Enum, value)
	case "example":
		s.Examples = append(s.Examples, value)
	case "default":
		if t.family&lists != 0 {
			list, _ := t.schema.Default.([]any)
			value = append(list, value)
		}
		t.schema.Default = value
	case "oneof_required":
		parent.OneOf = requireInGroup(parent.OneOf, value, t.json)
	case "anyof_required":
		parent.AnyOf = requireInGroup(parent.AnyOf, value, t.json)
	case "minimum":
		s.Minimum = narrower(value, s.Minimum, 1)
	case "maximum":
		s.Maximum = narrower(value, s.Maximum, -1)
	default:
		return json.Unmarshal([]byte(`{"`+r.name+`":`+jsonvalue.Text(value)+`}`), s)
	}
	return nil
}

// narrower returns a bound in a tag, or the one of the type if that is narrower:
// a value between the two could not be decoded.
func narrower(tag any, own json.Number, sign int) json.Number {
	n, _ := tag.(json.Number)
	x, _ := new(big.Rat).SetString(n.String())
	y, bounded := new(big.Rat).SetString(own.String())
	if bounded && x.Cmp(y) == -sign {
		return own
	}
	return n
}

// requireInGroup adds a property to the group of a name, of which one or some
// must be present.
func requireInGroup(groups []*jsonschema.Schema, name any, property string) []*jsonschema.Schema {
	for _, g := range groups {
		if g.Title == name {
			g.Required = append(g.Required, property)
			return groups
		}
	}
	return append(groups, &jsonschema.Schema{Title: fmt.Sprint(name), Required: []string{property}})
}

// tagParts splits a tag at its commas, except escaped ones.
func tagParts(tag string) []string {
	const escaped = "\x00"
	parts := strings.Split(strings.ReplaceAll(tag, `\,`, escaped), ",")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, escaped, ",")
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

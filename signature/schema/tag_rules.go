package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// family says which rules a tag may have, by what the type is in JSON.
type family int

const (
	ofTexts family = 1 << iota
	ofNumbers
	ofBooleans
	ofLists
	ofAny = ofTexts | ofNumbers | ofBooleans | ofLists
)

// familyOf returns the family of a type. A tag of a list has the rules of its
// items, too.
func familyOf(s *jsonschema.Schema) family {
	switch s.Type {
	case "string":
		return ofTexts
	case "integer", "number":
		return ofNumbers
	case "boolean":
		return ofBooleans
	case "array":
		if s.Items == nil || s.Items.Type == "array" {
			return ofLists
		}
		return ofLists | familyOf(s.Items)
	default:
		return 0
	}
}

// tagRule is what may stand in a jsonschema tag. The library that reads the tags
// passes over whatever it does not know, does not take for this type or cannot
// read: a constraint that one believes in would not be there. So all that it
// passes over is refused here.
type tagRule struct {
	name  string
	goes  family
	takes string // what its value is
}

// What rules take.
const (
	aNumber  = "a number"
	aCount   = "a whole number, 0 or more"
	aText    = "a text"
	aValue   = "a value"
	aTruth   = "true or false"
	onlyTrue = "true"
	aType    = "a type of JSON"
	nothing  = "no value"
)

var tagRules = []tagRule{
	{"minItems", ofLists, aCount},
	{"maxItems", ofLists, aCount},
	{"uniqueItems", ofLists, onlyTrue},
	{"minimum", ofNumbers, aNumber},
	{"exclusiveMinimum", ofNumbers, aNumber},
	{"maximum", ofNumbers, aNumber},
	{"exclusiveMaximum", ofNumbers, aNumber},
	{"multipleOf", ofNumbers, aNumber},
	{"minLength", ofTexts, aCount},
	{"maxLength", ofTexts, aCount},
	{"pattern", ofTexts, aText},
	{"format", ofTexts, aText},
	{"enum", ofTexts | ofNumbers, aValue},
	{"default", ofTexts | ofNumbers | ofBooleans, aValue},
	{"example", ofTexts | ofNumbers, aValue},
	{"readOnly", ofTexts, aTruth},
	{"writeOnly", ofTexts, aTruth},
	{"title", ofAny, aText},
	{"description", ofAny, aText},
	{"type", ofAny, aType},
	{"required", ofAny, nothing},
	{"nullable", ofAny, nothing},
	{"anchor", ofAny, aText},
	{"oneof_required", ofAny, aText},
	{"anyof_required", ofAny, aText},
	{"oneof_type", ofAny, aText},
	{"anyof_type", ofAny, aText},
	{"oneof_ref", ofAny, aText},
	{"anyof_ref", ofAny, aText},
}

// otherNames are what rules are called elsewhere.
var otherNames = map[string][]string{
	"ge": {"minimum"}, "min": {"minimum", "minItems", "minLength"}, "gt": {"exclusiveMinimum"},
	"le": {"maximum"}, "max": {"maximum", "maxItems", "maxLength"}, "lt": {"exclusiveMaximum"},
	"min_length": {"minItems", "minLength"}, "max_length": {"maxItems", "maxLength"},
	"multiple_of": {"multipleOf"}, "regex": {"pattern"}, "desc": {"description"}, "examples": {"example"},
}

// fits reports whether a rule takes a value, as far as that does not depend on
// the type.
func (r tagRule) fits(value string) bool {
	switch r.takes {
	case aNumber:
		return isNumber(value)
	case aCount:
		_, err := strconv.ParseUint(value, 10, 32)
		return err == nil
	case aText:
		return value != ""
	case aTruth:
		return value == "true" || value == "false"
	case onlyTrue:
		return value == "true"
	case aType:
		return slices.Contains(jsonTypes, value)
	default:
		return true
	}
}

// once returns what a tag may have only once: a rule, or a rule with a value.
func (r tagRule) once(f family, part string) string {
	if r.name == "enum" || r.name == "example" || r.name == "default" && f&ofLists != 0 || strings.Contains(r.name, "of_") {
		return part
	}
	return r.name
}

func ruleNamed(name string) tagRule {
	for _, r := range tagRules {
		if r.name == name {
			return r
		}
	}
	return tagRule{}
}

var jsonTypes = strings.Fields("string number integer boolean array object null")

var numeric = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// isNumber reports whether a text is a number in JSON.
func isNumber(text string) bool { return numeric.MatchString(text) }

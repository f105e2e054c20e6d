package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// tagged is a field with a tag, and the schema of its type as the library sees it.
type tagged struct {
	*jsonschema.Schema
	own    string // the type in JSON, without the tag
	called string // how the type is called in Go
	family family
	tag    string
}

func newTagged(f field, s *jsonschema.Schema) tagged {
	t := tagged{tag: f.Tag.Get("jsonschema"), own: s.Type, called: f.Type.String()}
	seen := *s
	for _, part := range tagParts(t.tag) {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "type":
			seen.Type = value
		case "oneof_type", "anyof_type":
			seen.Type = ""
		}
	}
	quoted := slices.Contains(strings.Split(f.options, ","), "string")
	if of := familyOf(&seen); quoted && (of == ofNumbers || of == ofBooleans) {
		seen.Type = "string"
	}
	t.Schema, t.family = &seen, familyOf(&seen)
	return t
}

// check says what is wrong with a tag, or nothing.
func (t tagged) check() string {
	given, before := map[string]bool{}, ""
	for i, part := range tagParts(t.tag) {
		if i == 0 && part == "-" || t.says(part) { // of "-" is told elsewhere
			continue
		}
		name, value, assigned := strings.Cut(part, "=")
		r, problem := t.rule(name, part, assigned, before)
		if problem == "" {
			problem = t.value(r, value, assigned)
		}
		if problem != "" {
			return problem
		}
		once := r.once(t.family, part)
		if given[once] {
			return fmt.Sprintf("the rule %s is given twice; leave one out", once)
		}
		given[once], before = true, part
	}
	return ""
}

// says reports whether the type itself says what a part of the tag says, as
// time.Time does of its format.
func (t tagged) says(part string) bool {
	format, ok := strings.CutPrefix(part, "format=")
	return ok && format != "" && format == t.about(ofTexts).Format
}

// about returns what a rule for such types is about: the type, or the items of a list.
func (t tagged) about(goes family) *jsonschema.Schema {
	if t.family&ofLists != 0 && goes != ofLists && t.Items != nil {
		return t.Items
	}
	return t.Schema
}

// rule finds the rule of a name that goes with the type. Another part stands before it.
func (t tagged) rule(name, part string, assigned bool, before string) (r tagRule, problem string) {
	known, listed := t.known()
	if slices.Contains(known, name) {
		return ruleNamed(name), ""
	}
	strange := ruleNamed(name).name == "" // not one of another type
	near := cmp.Or(meant(name, known), Nearest(name, known))
	switch {
	case strange && near != "":
		return r, fmt.Sprintf("the rule %q is not known; did you mean %s?", name, near)
	case strange && !assigned && strings.HasPrefix(before, "enum="):
		return r, fmt.Sprintf("%q is no rule; each value has its own, as in %s,enum=%s", part, before, strings.TrimSpace(part))
	case strange && !assigned:
		return r, fmt.Sprintf(`%q is no rule; a comma in a text is written \\, or the text goes into jsonschema_description`, part)
	default:
		return r, fmt.Sprintf("the rule %q does not go with %s; its rules are %s", name, t.called, strings.Join(listed, ", "))
	}
}

// meant returns what a name from elsewhere is called among the known ones.
func meant(name string, known []string) string {
	for _, own := range otherNames[name] {
		if slices.Contains(known, own) {
			return own
		}
	}
	return ""
}

// known returns the names of all rules that go with the type, and of those that
// one may look for.
func (t tagged) known() (all, listed []string) {
	for _, r := range tagRules {
		if r.goes != ofAny && !t.takes(r) {
			continue
		}
		all = append(all, r.name)
		if r.goes != ofAny || r.takes == nothing || r.name == "title" || r.name == "description" {
			listed = append(listed, r.name)
		}
	}
	return all, listed
}

// takes reports whether a rule goes with the type, which may say it already.
func (t tagged) takes(r tagRule) bool {
	of := t.about(r.goes)
	switch {
	case r.goes&t.family == 0:
		return false
	case r.name == "default" && t.family&ofLists != 0: // the library makes a list of texts
		return t.family&ofTexts != 0
	case r.name == "format":
		return of.Format == ""
	case r.name == "minItems", r.name == "maxItems":
		return of.MinItems == nil
	default:
		return true
	}
}

// value says what is wrong with the value of a rule, or nothing.
func (t tagged) value(r tagRule, value string, assigned bool) string {
	switch {
	case r.takes == nothing && assigned:
		return fmt.Sprintf("the rule %s takes %s; write %s alone", r.name, r.takes, r.name)
	case r.takes != nothing && !assigned:
		return fmt.Sprintf("the rule %s takes %s; write %s=…", r.name, r.takes, r.name)
	case !r.fits(value):
		return fmt.Sprintf("the rule %s takes %s, not %q", r.name, r.takes, value)
	case t.family&ofLists != 0 && r.goes != ofAny && strings.Contains(value, "="):
		return fmt.Sprintf("the rule %s of a list takes no value with =; give the items a type with a method JSONSchema", r.name)
	case r.goes == ofTexts|ofNumbers && t.family&ofNumbers != 0, r.name == "default" && t.family == ofNumbers:
		if !isNumber(value) {
			return fmt.Sprintf("the rule %s takes %s, not %q", r.name, aNumber, value)
		}
	case r.name == "default" && t.family == ofBooleans && value != "true" && value != "false":
		return fmt.Sprintf("the rule %s takes %s, not %q", r.name, aTruth, value)
	case r.name == "type" && t.own != "" && value != t.own && (value != "integer" || t.own != "number"):
		return fmt.Sprintf("the rule type says %s, but %s is %s in JSON; leave it out", value, t.called, t.own)
	case r.name == "pattern":
		if _, err := compilePattern(value, nil); err != nil {
			return fmt.Sprintf("the pattern %s does not compile: %v", jsonvalue.Quote(value), err)
		}
	case r.name == "format":
		if err := CheckFormat(value); err != nil {
			return err.Error()
		}
	}
	return ""
}

// tagParts splits a tag at its commas, but for escaped ones.
func tagParts(tag string) []string {
	const escaped = "\x00"
	parts := strings.Split(strings.ReplaceAll(tag, `\,`, escaped), ",")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(part, escaped, ",")
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}

package signature

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// String returns the fields in the notation of [Parse], without the instructions.
// Types that the notation cannot express are written as JSON Schema, in schema({…}).
// Parsing the result yields the same fields.
func (s *Spec) String() string {
	if s == nil {
		return "<nil>"
	}
	var b strings.Builder
	writeSide(&b, s.inputs, s.inRules)
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString("-> ")
	writeSide(&b, s.outputs, s.outRules)
	return b.String()
}

// String returns the signature's [Spec] in [Parse]'s notation.
func (s *Signature[In, Out]) String() string { return s.Spec().String() }

func writeSide(b *strings.Builder, fields []Field, rules Values) {
	for i, f := range fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(f.String())
	}
	if len(rules) == 0 {
		return
	}
	if len(fields) > 0 {
		b.WriteByte(' ')
	}
	b.WriteString("with schema(" + string(literal(rules)) + ")")
}

// String returns the field in the notation of [ParseField].
func (f Field) String() string {
	raw := json.RawMessage("true")
	if f.Schema != nil {
		raw = f.Schema.Raw()
	}
	raw = described(raw, f.Description)
	text := f.Name + spellMember(raw, f.Required)
	again, err := ParseField(text)
	if err == nil && again.Required == f.Required && sameSchema(again.Schema.Raw(), raw) {
		return text
	}
	_, backed := defaultOf(raw)
	return f.Name + ask(f.Required || backed) + ": " + whole(raw)
}

func whole(raw json.RawMessage) string { return "schema(" + string(raw) + ")" }

func ask(required bool) string {
	if required {
		return ""
	}
	return "?"
}

// spellMember returns the text after a field or member name.
func spellMember(raw json.RawMessage, required bool) string {
	var keywords Values
	_ = json.Unmarshal(raw, &keywords) // it may be a boolean
	if either, ok := keywords.Get("anyOf"); ok && !required && endsInNull(either) {
		return ": Optional[" + strings.TrimSuffix(joined(either, spell, " | "), " | None") + "]" + arguments(keywords)
	}
	_, backed := keywords.Get("default")
	return ask(required || backed) + ": " + spell(raw)
}

// endsInNull reports whether null is the last of several alternatives.
func endsInNull(either json.RawMessage) bool {
	var all []json.RawMessage
	if json.Unmarshal(either, &all) != nil || len(all) < 2 {
		return false
	}
	return string(compact(all[len(all)-1])) == nullSchema
}

// spell returns a schema in the notation of types.
func spell(raw json.RawMessage) string {
	if string(raw) == "true" {
		return "any"
	}
	var keywords Values
	if json.Unmarshal(raw, &keywords) != nil {
		return whole(raw)
	}
	text := shape(keywords)
	rules := arguments(keywords)
	if text == "" {
		return whole(raw)
	}
	if _, union := keywords.Get("anyOf"); union && rules != "" {
		text = "(" + text + ")"
	}
	return text + rules
}

// arguments returns, in parentheses, the rules that express keywords.
func arguments(keywords Values) string {
	var all []string
	for _, r := range rules {
		if value, ok := keywords.Get(r.keyword); ok && !shaping(keywords, r.keyword) {
			all = append(all, r.name+"="+string(value))
		}
	}
	if all == nil {
		return ""
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// shaping reports whether the type's name implies a keyword that can also be a rule.
func shaping(keywords Values, keyword string) bool {
	switch keyword {
	case "format":
		format, _ := keywords.Get("format")
		return dates[string(format)] != ""
	case "minItems", "maxItems":
		_, tuple := keywords.Get("prefixItems")
		return tuple
	default:
		return false
	}
}

var dates = map[string]string{`"date"`: "date", `"date-time"`: "datetime", `"time"`: "time"}

// plainTypes are the names of types whose only keyword is "type".
var plainTypes = map[string]string{
	`"string"`: "str", `"integer"`: "int", `"number"`: "float", `"boolean"`: "bool", `"null"`: "None",
	`"array"`: "list", `"object"`: "dict",
}

// shape returns the type that keywords describe, without its rules, or "" if the notation
// cannot express it.
func shape(keywords Values) string {
	var names []string
	get := map[string]json.RawMessage{}
	for _, k := range keywords {
		ruling := slices.ContainsFunc(rules, func(r rule) bool { return r.keyword == k.Name })
		if !ruling || shaping(keywords, k.Name) {
			names = append(names, k.Name)
			get[k.Name] = k.JSON
		}
	}
	slices.Sort(names)
	switch strings.Join(names, " ") {
	case "":
		return "any"
	case "type":
		return plainTypes[string(get["type"])]
	case "format type":
		return dates[string(get["format"])]
	case "contentEncoding type":
		return "bytes"
	case "enum", "enum type":
		return "Literal[" + joined(get["enum"], func(v json.RawMessage) string { return string(v) }, ", ") + "]"
	case "items type":
		return "list[" + spell(get["items"]) + "]"
	case "items type uniqueItems":
		return "set[" + spell(get["items"]) + "]"
	case "maxItems minItems prefixItems type":
		return "tuple[" + joined(get["prefixItems"], spell, ", ") + "]"
	case "anyOf":
		return joined(get["anyOf"], spell, " | ")
	case "additionalProperties type":
		return "dict[str, " + spell(get["additionalProperties"]) + "]"
	case "additionalProperties properties type", "additionalProperties properties required type":
		return spellObject(get["properties"], get["required"])
	}
	if kind, special := get[kindKeyword]; special {
		return kindNames[Kind(strings.Trim(string(kind), `"`))]
	}
	return ""
}

func joined(list json.RawMessage, spell func(json.RawMessage) string, by string) string {
	var all []json.RawMessage
	_ = json.Unmarshal(list, &all) // if this fails, the result does not parse, which Field.String notices
	texts := make([]string, len(all))
	for i, raw := range all {
		texts[i] = spell(raw)
	}
	return strings.Join(texts, by)
}

func spellObject(properties, required json.RawMessage) string {
	var members Values
	var must []string
	_ = json.Unmarshal(properties, &members) // see joined
	_ = json.Unmarshal(required, &must)
	texts := make([]string, len(members))
	for i, m := range members {
		name := m.Name
		if s := (&scanner{text: name}); name == "" || s.peek() != name {
			name = string(literal(name))
		}
		texts[i] = name + spellMember(m.JSON, slices.Contains(must, m.Name))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// sameSchema reports whether two schemas are equal except for the order of keywords.
func sameSchema(a, b json.RawMessage) bool {
	var values [2]any
	for i, raw := range []json.RawMessage{a, b} {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

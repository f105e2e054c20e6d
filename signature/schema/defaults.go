package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	maxDefault = 4 << 10  // bytes of one default
	maxAdded   = 64 << 10 // bytes that defaults add to one value
	maxParts   = 50_000   // parts of schemas that are searched for defaults
)

// defaults are those of the members of a value.
type defaults struct {
	own   []member             // of properties
	under map[string]*defaults // in properties
	each  *defaults            // in items
}

type member struct {
	name string
	json []byte // the name, too
}

// Complete puts the defaults of the schema where a value that fits has nothing,
// in nested objects too, and leaves all else as it is written. The value itself
// is returned if there is nothing to add.
//
// A default counts if it fits its own schema and has at most 4 KiB. One that is
// null says that there is none. Defaults within defaults and in alternatives of
// which it is not certain that they apply are not looked at. If the value with
// its defaults would not fit any more, as where a oneOf requires this property
// or that, or if they add more than 64 KiB, nothing is added.
func (s *Schema) Complete(value json.RawMessage) json.RawMessage {
	if s.defaults == nil {
		return value
	}
	c := completer{decoder: decoder{text: value}}
	c.value(s.defaults)
	if c.added == 0 || c.added > maxAdded {
		return value
	}
	full := append(c.out, value[c.copied:]...)
	if s.Validate(full) != nil {
		return value
	}
	return full
}

// CheckDefaults returns what is wrong with the defaults in the schema, wherever
// they stand, or nil: those that [Schema.Complete] would pass over because they do
// not fit or are too long. Null is never wrong, since it says that there is none.
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
	if place := path(s.document.value, tokens(at)); place != "" {
		subject += " at " + place
	}
	if n := len(literalOf(*rule.Default)); n > maxDefault {
		return []Finding{{Path: subject, Message: fmt.Sprintf("has %d bytes; at most %d are taken", n, maxDefault)}}
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

// mentions reports whether a schema may have a keyword, perhaps one that is
// written with escapes.
func mentions(raw json.RawMessage, keyword string) bool {
	return bytes.Contains(raw, []byte(`"`+keyword+`"`)) || bytes.Contains(raw, []byte(`\u`))
}

// completer writes a value again, which is known to be valid JSON.
type completer struct {
	decoder
	out    []byte
	copied int // bytes of the text that are in out
	added  int
}

func (c *completer) value(d *defaults) {
	switch first := c.skip(); {
	case d == nil:
		c.pass()
	case first == '{':
		c.object(d)
	case first == '[':
		c.array(d.each)
	default:
		c.pass()
	}
}

func (c *completer) object(d *defaults) {
	given := map[string]bool{}
	for c.at++; c.skip() != '}'; {
		name := c.string()
		given[name] = true
		c.value(d.under[name])
	}
	first := len(given) == 0
	for _, m := range d.own {
		if !given[m.name] && c.added <= maxAdded {
			c.add(m.json, first)
			first = false
		}
	}
	c.at++
}

// add writes a member here.
func (c *completer) add(text []byte, first bool) {
	c.out = append(c.out, c.text[c.copied:c.at]...)
	c.copied = c.at
	if !first {
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, text...)
	c.added += len(text)
}

func (c *completer) array(each *defaults) {
	for c.at++; c.skip() != ']'; {
		c.value(each)
	}
	c.at++
}

// pass goes to what follows the value.
func (c *completer) pass() {
	for depth := 0; ; {
		switch c.skip() {
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			depth--
			c.at++
		case '"':
			c.string()
		default:
			for c.at < len(c.text) && bytes.IndexByte([]byte(",:]} \t\r\n"), c.text[c.at]) < 0 {
				c.at++
			}
		}
		if depth == 0 {
			return
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

// certain is [certain] within what one search may look at.
func (f *finder) certain(s *jsonschema.Schema) []*jsonschema.Schema {
	if f.parts > maxParts {
		return nil
	}
	parts := certain(s, nil)
	f.parts += len(parts)
	return parts
}

// of returns the defaults within what a schema describes, which may be described
// by itself again.
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
			if text := f.text(name, property); text != nil {
				d.own = append(d.own, member{name, text})
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

// certain adds to the parts of a schema those that apply to whatever it applies
// to, null aside.
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

// text returns the member that a default makes, nil if there is none that can be
// used.
func (f *finder) text(name string, property *jsonschema.Schema) []byte {
	for _, part := range f.certain(property) {
		if part.Default != nil {
			return f.valid(name, *part.Default, property)
		}
	}
	return nil
}

func (f *finder) valid(name string, value any, rule *jsonschema.Schema) []byte {
	text := []byte(literalOf(value))
	if value == nil || len(text) > maxDefault {
		return nil
	}
	doc, err := decode(text, maxSchemaDepth, nil)
	if err != nil {
		return nil
	}
	x := &explainer{root: doc.value}
	if problems, broken := x.check(rule); broken != nil || problems != nil {
		return nil
	}
	return []byte(literalOf(name) + ":" + string(text))
}

// literalOf writes a decoded value as JSON.
func literalOf(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what was decoded encodes
	return string(bytes.TrimSpace(b.Bytes()))
}

package schema

import (
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// anyObject is the type of objects without known properties.
const anyObject = "Record<string, unknown>"

func (p *printer) object(s subschema) string {
	if p.options.Depth > 0 && p.objects >= p.options.Depth {
		p.cut()
		return "object"
	}
	p.objects++
	defer func() { p.objects-- }()
	members := p.members(s)
	if len(members) == 0 {
		return p.dictionary(s)
	}
	return "{" + strings.Join(members, "; ") + "}"
}

func (p *printer) members(s subschema) []string {
	required, _ := s.keyword("required").([]any)
	names := p.schema.names(s, "properties")
	var all []string
	for _, name := range names {
		if text, ok := p.member(s.child("properties", name), name, slices.Contains(required, any(name))); ok {
			all = append(all, text)
		}
	}
	for _, r := range required {
		if name, _ := r.(string); !slices.Contains(names, name) {
			all = append(all, key(name)+": unknown")
		}
	}
	return all
}

// member prints a property, and returns false if the option Show excludes it.
func (p *printer) member(s subschema, name string, required bool) (string, bool) {
	typ := p.expression(s).text
	if p.objects == 1 && p.options.Show != nil && !p.options.Show(name, typ) {
		return "", false
	}
	mark := "?: "
	if required {
		mark = ": "
	}
	return key(name) + mark + typ + p.comment(s, name), true
}

// dictionary prints an object without named properties.
func (p *printer) dictionary(s subschema) string {
	if s.has("patternProperties") {
		var all []expr
		for _, name := range p.schema.names(s, "patternProperties") {
			all = append(all, p.expression(s.child("patternProperties", name)))
		}
		return "Record<string, " + unite(all).text + ">"
	}
	switch s.keyword("additionalProperties").(type) {
	case map[string]any:
		return "Record<string, " + p.expression(s.child("additionalProperties")).text + ">"
	case bool:
		if s.keyword("additionalProperties") == false {
			return "{}"
		}
	}
	return anyObject
}

func (p *printer) array(s subschema) string {
	if tuple := append(s.list("prefixItems"), s.list("items")...); len(tuple) > 0 {
		return p.tuple(s, tuple)
	}
	if !s.has("items") {
		return "unknown[]"
	}
	return p.expression(s.child("items")).within(atAtom) + "[]"
}

// tuple prints an array whose first items have individual types. The type of further
// items is in "items" or, in early drafts, in "additionalItems".
func (p *printer) tuple(s subschema, first []subschema) string {
	var all []string
	for _, item := range first {
		all = append(all, p.expression(item).text)
	}
	rest := "additionalItems"
	if s.has("prefixItems") {
		rest = "items"
	}
	if s.has(rest) && s.keyword(rest) != false {
		all = append(all, "..."+p.expression(s.child(rest)).within(atAtom)+"[]")
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// key returns a property's name, quoted if it is not an identifier.
func key(name string) string {
	if jsonvalue.IsIdentifier(name) {
		return name
	}
	return jsonvalue.Quote(name)
}

package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

const (
	maxDropped = 10 // things that were dropped are told
	maxRounds  = 20 // of dropping what was lost with something else
)

// mend turns a schema into one of draft 2020-12 that compiles, in place, and
// says what it had to drop. See [Loose].
func mend(doc *document) []string {
	if !isSchema(doc.value) {
		dropped := []string{"the schema must be an object or a boolean, not " + describe(doc.value)}
		doc.value = true
		return dropped
	}
	m := &mender{root: doc.value, order: doc.order, seen: map[uintptr]bool{}, lost: map[uintptr]bool{}, home: &resource{}}
	m.resources = map[string]*resource{"": m.home}
	m.dialect()
	m.schema(doc.value, nil, m.home)
	m.resolve()
	m.breakCycles()
	for n, again := 0, len(m.dropped) > 0; again; n++ {
		m.loosen()
		again = m.check(n == maxRounds)
	}
	m.reorder()
	return m.report()
}

// mender mends one schema. Objects are known by their addresses.
type mender struct {
	root  any
	order map[string][]string
	moved bool
	draft int // the declared one, or the latest

	objects []map[string]any // schemas that were mended
	seen    map[uintptr]bool // and their addresses
	lost    map[uintptr]bool // those that lost a constraint
	dropped []loss

	home      *resource
	resources map[string]*resource // by URL
	refs      []*reference
}

// loss is one thing that was dropped.
type loss struct {
	at   []string
	line string
}

// address identifies an object.
func address(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

// dialect reads "$schema". Dialects that are not known are taken for the latest.
func (m *mender) dialect() {
	object, _ := m.root.(map[string]any)
	url, _ := object["$schema"].(string)
	m.draft = drafts[trimScheme(url)]
	if m.draft > 0 {
		return
	}
	m.draft = 2020
	if v := object["$schema"]; v != nil {
		m.lose(nil, []string{"$schema"}, "is no draft that is known: "+describe(v))
	}
}

// schema mends a schema and all that are in it.
func (m *mender) schema(v any, at []string, in *resource) {
	object, ok := v.(map[string]any)
	if !ok || m.seen[address(object)] {
		return
	}
	m.seen[address(object)] = true
	m.objects = append(m.objects, object)
	in = m.identify(object, at, in)
	m.translate(object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] == nil && name != "const" && name != "default" {
			delete(object, name)
			continue
		}
		if f, known := forms[name]; known {
			m.keyword(object, name, f, at, in)
		}
	}
	m.refer(object, at, in)
}

// keyword mends the value of a keyword, or drops it.
func (m *mender) keyword(object map[string]any, name string, f form, at []string, in *resource) {
	v := object[name]
	if f.holds == named && emptyList(v) { // what PHP makes of an empty object
		v = map[string]any{}
		object[name] = v
	}
	if !f.fits(v) {
		m.drop(object, name, at, "must be "+f.wants+", not "+describe(v))
		return
	}
	at = extend(at, name)
	switch f.holds {
	case itself:
		m.schema(v, at, in)
	case listed:
		m.list(object, name, at, in)
	case named:
		m.names(object, name, at, in)
	case none:
		m.value(object, name, at)
	}
}

// list mends the schemas of a list, which is dropped if one of them is none.
func (m *mender) list(object map[string]any, name string, at []string, in *resource) {
	all, _ := object[name].([]any)
	for i, v := range all {
		if !isSchema(v) {
			m.lose(object, extend(at, strconv.Itoa(i)), "must be a schema, not "+describe(v))
			delete(object, name)
			return
		}
	}
	for i, v := range all {
		m.schema(v, extend(at, strconv.Itoa(i)), in)
	}
}

// names mends the schemas of an object. What is none may be anything.
func (m *mender) names(object map[string]any, name string, at []string, in *resource) {
	all, _ := object[name].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch v := all[key]; {
		case name == "patternProperties" && !m.compiles(key):
			m.lose(object, extend(at, key), "is not a regular expression that can be used")
			delete(all, key)
			delete(object, "additionalProperties")
		case v == nil:
			all[key] = map[string]any{}
		case !isSchema(v):
			m.lose(object, extend(at, key), "must be a schema, not "+describe(v))
			all[key] = map[string]any{}
		default:
			m.schema(v, extend(at, key), in)
		}
	}
}

// value mends a value that has the right form and no schemas in it.
func (m *mender) value(object map[string]any, name string, at []string) {
	switch name {
	case "pattern":
		if source, _ := object[name].(string); !m.compiles(source) {
			m.drop(object, name, at[:len(at)-1], "is not a regular expression that can be used: "+quote(clip(source)))
		}
	case "required", "type":
		object[name] = once(object[name])
	case "dependentRequired":
		all, _ := object[name].(map[string]any)
		for key, v := range all {
			all[key] = once(v)
		}
	}
}

func (m *mender) compiles(pattern string) bool {
	_, err := compilePattern(pattern, nil)
	return err == nil
}

// once returns a list of strings without those that it has twice.
func once(v any) any {
	all, ok := v.([]any)
	if !ok || len(all) < 2 {
		return v
	}
	known := map[any]bool{}
	return slices.DeleteFunc(all, func(v any) bool {
		twice := known[v]
		known[v] = true
		return twice
	})
}

func emptyList(v any) bool {
	all, ok := v.([]any)
	return ok && len(all) == 0
}

// drop removes a keyword, and what would refuse too much without it.
func (m *mender) drop(object map[string]any, name string, at []string, why string) {
	m.lose(object, extend(at, name), why)
	delete(object, name)
	switch name {
	case "properties", "patternProperties":
		delete(object, "additionalProperties")
	case "prefixItems":
		delete(object, "items")
	case "if":
		remove(object, "then", "else")
	case "contains":
		remove(object, "minContains", "maxContains")
	}
}

// lose notes that an object loses a constraint.
func (m *mender) lose(object map[string]any, at []string, why string) {
	m.lost[address(object)] = true
	m.dropped = append(m.dropped, loss{at, path(m.root, at) + " " + why})
}

// report tells what was dropped.
func (m *mender) report() []string {
	slices.SortStableFunc(m.dropped, func(a, b loss) int { return slices.CompareFunc(a.at, b.at, compareTokens) })
	var lines []string
	for _, l := range m.dropped[:min(len(m.dropped), maxDropped)] {
		lines = append(lines, l.line)
	}
	if more := len(m.dropped) - maxDropped; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

package schema

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

// resource is a part of a schema that has a URL of its own, or all of it.
type resource struct {
	base    string // its URL
	at      []string
	anchors map[string][]string // places
}

// reference is one $ref.
type reference struct {
	object map[string]any
	at     []string
	in     *resource
	found  bool
	to     []string       // its target's place
	target map[string]any // nil for a boolean
}

// identify reads the name and anchors of a schema, which it removes: references
// become JSON pointers. It returns the resource that the schema is in.
func (m *mender) identify(object map[string]any, at []string, in *resource) *resource {
	id, _ := object["$id"].(string)
	if old, ok := object["id"].(string); ok && m.draft <= 4 && id == "" {
		id = old
	}
	location, fragment, _ := strings.Cut(id, "#")
	in = m.part(location, at, in)
	in.anchor(fragment, at)
	for _, name := range []string{"$anchor", "$dynamicAnchor"} {
		anchor, _ := object[name].(string)
		in.anchor(anchor, at)
		delete(object, name)
	}
	delete(object, "$id")
	return in
}

// part returns the resource that a schema is in: a new one if it has a URL.
func (m *mender) part(location string, at []string, in *resource) *resource {
	if location == "" {
		return in
	}
	full, ok := joinURL(in.base, location)
	switch {
	case !ok:
		return in
	case len(at) == 0:
		in.base = full
	default:
		in = &resource{base: full, at: at}
	}
	m.register(in)
	return in
}

// anchor keeps the first of several anchors of one name.
func (r *resource) anchor(name string, at []string) {
	if _, known := r.anchors[name]; known || name == "" {
		return
	}
	if r.anchors == nil {
		r.anchors = map[string][]string{}
	}
	r.anchors[name] = at
}

// register keeps the first of several resources that share a name.
func (m *mender) register(in *resource) {
	if _, taken := m.resources[in.base]; !taken {
		m.resources[in.base] = in
	}
}

// refer notes a reference. Within one document the recursive and dynamic ones
// are like others.
func (m *mender) refer(object map[string]any, at []string, in *resource) {
	for _, name := range []string{"$recursiveRef", "$dynamicRef"} {
		other, ok := object[name].(string)
		delete(object, name)
		if _, has := object["$ref"]; ok && !has {
			object["$ref"] = other
		}
	}
	if is[string](object["$ref"]) {
		m.refs = append(m.refs, &reference{object: object, at: at, in: in})
	}
}

// resolve turns all references into pointers, and mends schemas that only they
// lead to.
func (m *mender) resolve() {
	for i := 0; i < len(m.refs); i++ { // which may become more
		r := m.refs[i]
		ref, _ := r.object["$ref"].(string)
		target, at, why := m.find(ref, r.in)
		if why != "" {
			m.drop(r.object, "$ref", r.at, why)
			continue
		}
		r.point(target, at)
		m.schema(target, at, m.home)
	}
}

// point makes a reference one to a place in the document.
func (r *reference) point(target any, at []string) {
	r.target, _ = target.(map[string]any)
	r.found, r.to = true, at
	segments := strings.Split(pointer(at), "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	r.object["$ref"] = "#" + strings.Join(segments, "/")
}

// check drops the references to what is not there any more, or all, and reports
// whether there were any.
func (m *mender) check(all bool) bool {
	dropped := false
	for _, r := range m.refs {
		if _, ok := r.object["$ref"]; !ok || !r.found {
			continue
		}
		if target, at, ok := follow(m.root, r.to); ok && !all {
			r.point(target, at)
			continue
		}
		m.drop(r.object, "$ref", r.at, "refers to what had to be dropped")
		dropped = true
	}
	return dropped
}

// find returns what a reference names and where that is, or why there is none.
func (m *mender) find(ref string, in *resource) (target any, at []string, why string) {
	location, fragment, _ := strings.Cut(ref, "#")
	place, err := url.PathUnescape(fragment)
	full, ok := joinURL(in.base, location)
	if err != nil || !ok {
		return nil, nil, "is not a reference: " + quote(clip(ref))
	}
	within := m.resources[full]
	if location == "" {
		within = in
	}
	if within == nil {
		return nil, nil, "refers to " + quote(clip(ref)) + ", which is not loaded"
	}
	for _, r := range []*resource{within, m.home} { // some who write # mean the whole
		if at, ok = r.place(place); !ok {
			continue
		}
		if target, at, ok = follow(m.root, at); ok && isSchema(target) {
			return target, at, ""
		}
	}
	return nil, nil, "refers to " + quote(clip(ref)) + ", which is not there"
}

// place returns the place that a fragment names.
func (r *resource) place(fragment string) ([]string, bool) {
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return slices.Concat(r.at, tokens(fragment)), true
	}
	at, ok := r.anchors[fragment]
	return at, ok
}

func joinURL(base, ref string) (string, bool) {
	b, err := url.Parse(base)
	if err != nil {
		return "", false
	}
	u, err := url.Parse(ref)
	if err != nil {
		return "", false
	}
	return b.ResolveReference(u).String(), true
}

// breakCycles drops references by which a schema would check one value without
// end.
func (m *mender) breakCycles() {
	if len(m.refs) == 0 {
		return
	}
	c := cycles{mender: m, state: map[uintptr]int{}, refs: map[uintptr]*reference{}}
	for _, r := range m.refs {
		if r.found {
			c.refs[address(r.object)] = r
		}
	}
	for _, object := range m.objects {
		c.visit(object, nil)
	}
}

type cycles struct {
	*mender
	state map[uintptr]int // 1 while an object is visited, 2 after that
	refs  map[uintptr]*reference
}

// visit follows the schemas that apply to one value. Last is the reference that
// was followed last.
func (c *cycles) visit(object map[string]any, last *reference) {
	switch c.state[address(object)] {
	case 1:
		if last.object["$ref"] != nil {
			c.drop(last.object, "$ref", last.at, "refers to itself without end")
		}
		return
	case 2:
		return
	}
	c.state[address(object)] = 1
	if r := c.refs[address(object)]; r != nil && r.target != nil {
		c.visit(r.target, r)
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"} {
		for _, next := range under(object, name) {
			c.visit(next, last)
		}
	}
	c.state[address(object)] = 2
}

// under returns the schemas in a keyword that are objects, in order.
func under(object map[string]any, name string) []map[string]any {
	var all []map[string]any
	add := func(v any) {
		if o, ok := v.(map[string]any); ok {
			all = append(all, o)
		}
	}
	switch v := object[name]; forms[name].holds {
	case itself:
		add(v)
	case listed:
		items, _ := v.([]any)
		for _, item := range items {
			add(item)
		}
	case named:
		members, _ := v.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(members)) {
			add(members[key])
		}
	case none:
	}
	return all
}

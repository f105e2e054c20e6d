package foreign

import (
	"net/url"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// resource is a schema that has a URL of its own.
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
	to     []string       // the place of its target
	target map[string]any // nil for a boolean
}

// identify reads the URL and anchors of a schema and removes them, since
// references become JSON pointers. It returns the resource that contains the
// schema.
func (r *repairer) identify(object map[string]any, at []string, in *resource) *resource {
	id, _ := object["$id"].(string)
	if old, ok := object["id"].(string); ok && r.draft <= 4 && id == "" {
		id = old
	}
	location, fragment, _ := strings.Cut(id, "#")
	in = r.resource(location, at, in)
	in.anchor(fragment, at)
	for _, name := range []string{"$anchor", "$dynamicAnchor"} {
		anchor, _ := object[name].(string)
		in.anchor(anchor, at)
		delete(object, name)
	}
	delete(object, "$id")
	return in
}

// resource returns the resource that contains a schema: a new one if the schema
// has a URL. The first of several resources with the same URL is kept.
func (r *repairer) resource(location string, at []string, in *resource) *resource {
	full, ok := joinURL(in.base, location)
	if location == "" || !ok {
		return in
	}
	if len(at) == 0 {
		in.base = full
	} else {
		in = &resource{base: full, at: at}
	}
	if _, taken := r.resources[in.base]; !taken {
		r.resources[in.base] = in
	}
	return in
}

// anchor keeps the first of several anchors with the same name.
func (in *resource) anchor(name string, at []string) {
	if _, known := in.anchors[name]; known || name == "" {
		return
	}
	if in.anchors == nil {
		in.anchors = map[string][]string{}
	}
	in.anchors[name] = at
}

// refer records a reference. Within one document, recursive and dynamic
// references are like the others.
func (r *repairer) refer(object map[string]any, at []string, in *resource) {
	for _, name := range []string{"$recursiveRef", "$dynamicRef"} {
		other, ok := object[name].(string)
		delete(object, name)
		if _, has := object["$ref"]; ok && !has {
			object["$ref"] = other
		}
	}
	if is[string](object["$ref"]) {
		r.refs = append(r.refs, &reference{object: object, at: at, in: in})
	}
}

// resolve turns all references into pointers, and repairs the schemas that only
// references lead to.
func (r *repairer) resolve() {
	for i := 0; i < len(r.refs); i++ { // repairing a target may add references
		ref := r.refs[i]
		text, _ := ref.object["$ref"].(string)
		target, at, why := r.find(text, ref.in)
		if why != "" {
			r.drop(ref.object, "$ref", ref.at, why)
			continue
		}
		ref.point(target, at)
		r.schema(target, at, r.home)
	}
}

// point makes a reference point to a place in the document.
func (ref *reference) point(target any, at []string) {
	ref.target, _ = target.(map[string]any)
	ref.found, ref.to = true, at
	segments := strings.Split(jsonvalue.Pointer(at), "/")
	for i := range segments {
		segments[i] = url.PathEscape(segments[i])
	}
	ref.object["$ref"] = "#" + strings.Join(segments, "/")
}

// dropDangling drops the references to what was dropped, or all references, and
// reports whether it dropped any.
func (r *repairer) dropDangling(all bool) bool {
	dropped := false
	for _, ref := range r.refs {
		if _, ok := ref.object["$ref"]; !ok || !ref.found {
			continue
		}
		if target, at, ok := follow(r.root, ref.to); ok && !all {
			ref.point(target, at)
			continue
		}
		r.drop(ref.object, "$ref", ref.at, "refers to a part that was dropped")
		dropped = true
	}
	return dropped
}

// find returns the target of a reference and its place, or why there is none.
func (r *repairer) find(ref string, in *resource) (target any, at []string, why string) {
	location, fragment, _ := strings.Cut(ref, "#")
	place, err := url.PathUnescape(fragment)
	full, ok := joinURL(in.base, location)
	if err != nil || !ok {
		return nil, nil, "is not a reference: " + jsonvalue.Describe(ref)
	}
	within := r.resources[full]
	if location == "" {
		within = in
	}
	if within == nil {
		return nil, nil, "refers to " + jsonvalue.Describe(ref) + ", which is not loaded"
	}
	for _, in := range []*resource{within, r.home} { // some authors use # for the whole document
		if at, ok = in.place(place); !ok {
			continue
		}
		if target, at, ok = follow(r.root, at); ok && isSchema(target) {
			return target, at, ""
		}
	}
	return nil, nil, "refers to " + jsonvalue.Describe(ref) + ", which does not exist"
}

// place returns the place that a fragment names.
func (in *resource) place(fragment string) ([]string, bool) {
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		return slices.Concat(in.at, jsonvalue.Tokens(fragment)), true
	}
	at, ok := in.anchors[fragment]
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

// breakCycles drops the references by which a schema would check one value
// endlessly.
func (r *repairer) breakCycles() {
	if len(r.refs) == 0 {
		return
	}
	c := cycles{repairer: r, state: map[uintptr]visit{}, refs: map[uintptr]*reference{}}
	for _, ref := range r.refs {
		if ref.found {
			c.refs[jsonvalue.Address(ref.object)] = ref
		}
	}
	for _, object := range r.objects {
		c.visit(object, nil)
	}
}

type cycles struct {
	*repairer
	state map[uintptr]visit
	refs  map[uintptr]*reference
}

type visit int

const (
	unvisited visit = iota
	visiting
	visited
)

// visit follows the schemas that apply to the same value. Last is the reference
// followed last.
func (c *cycles) visit(object map[string]any, last *reference) {
	at := jsonvalue.Address(object)
	switch c.state[at] {
	case visiting:
		if last.object["$ref"] != nil {
			c.drop(last.object, "$ref", last.at, "is a circular reference")
		}
		return
	case visited:
		return
	case unvisited:
	}
	c.state[at] = visiting
	if ref := c.refs[at]; ref != nil && ref.target != nil {
		c.visit(ref.target, ref)
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"} {
		for _, next := range schemasIn(object, name) {
			c.visit(next, last)
		}
	}
	c.state[at] = visited
}

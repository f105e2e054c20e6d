package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
)

const (
	maxDropped = 10 // described
	maxRounds  = 20 // of dropping references to what was dropped
)

// repairer repairs one schema. Objects are identified by their addresses.
type repairer struct {
	root  any
	draft int // the declared one, or the latest

	objects  []map[string]any // schemas that were repaired
	seen     map[uintptr]bool // and their addresses
	weakened map[uintptr]bool // those that lost a constraint
	dropped  []drop

	home      *resource
	resources map[string]*resource // by URL
	refs      []*reference
}

// drop is one thing that was dropped.
type drop struct {
	at   []string
	line string
}

// repairValue turns a decoded schema into one of draft 2020-12 that compiles, in
// place, and describes what it dropped. See [Repair].
func repairValue(root any) (repaired any, dropped []string) {
	if !isSchema(root) {
		return true, []string{"the schema must be an object or a boolean, not " + jsonvalue.Describe(root)}
	}
	r := &repairer{root: root, seen: map[uintptr]bool{}, weakened: map[uintptr]bool{}, home: &resource{}}
	r.resources = map[string]*resource{"": r.home}
	r.dialect()
	r.schema(root, nil, r.home)
	r.resolve()
	r.breakCycles()
	for n, again := 0, len(r.dropped) > 0; again; n++ {
		r.relax()
		again = r.dropDangling(n == maxRounds)
	}
	return root, r.report()
}

// schema repairs a schema and all schemas in it.
func (r *repairer) schema(v any, at []string, in *resource) {
	object, ok := v.(map[string]any)
	if !ok || r.seen[jsonvalue.Address(object)] {
		return
	}
	r.seen[jsonvalue.Address(object)] = true
	r.objects = append(r.objects, object)
	in = r.identify(object, at, in)
	r.translate(object)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if object[name] == nil && name != "const" && name != "default" {
			delete(object, name)
			continue
		}
		if f, known := keywords[name]; known {
			r.keyword(object, name, f, at, in)
		}
	}
	r.refer(object, at, in)
}

// keyword repairs the value of a keyword, or drops the keyword.
func (r *repairer) keyword(object map[string]any, name string, f form, at []string, in *resource) {
	v := object[name]
	if f.holds == named && emptyList(v) { // how PHP encodes an empty object
		v = map[string]any{}
		object[name] = v
	}
	if !f.fits(v) {
		r.drop(object, name, at, "must be "+f.wants+", not "+jsonvalue.Describe(v))
		return
	}
	at = jsonvalue.Extend(at, name)
	switch f.holds {
	case itself:
		r.schema(v, at, in)
	case listed:
		r.list(object, name, at, in)
	case named:
		r.members(object, name, at, in)
	case none:
		r.value(object, name, at)
	}
}

// list repairs the schemas of a list, which is dropped if one of them is not a
// schema.
func (r *repairer) list(object map[string]any, name string, at []string, in *resource) {
	all, _ := object[name].([]any)
	for i, v := range all {
		if !isSchema(v) {
			r.record(object, jsonvalue.Extend(at, strconv.Itoa(i)), "must be a schema, not "+jsonvalue.Describe(v))
			delete(object, name)
			return
		}
	}
	for i, v := range all {
		r.schema(v, jsonvalue.Extend(at, strconv.Itoa(i)), in)
	}
}

// members repairs the schemas of an object. A member that is not a schema admits
// any value.
func (r *repairer) members(object map[string]any, name string, at []string, in *resource) {
	all, _ := object[name].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		switch v := all[key]; {
		case name == "patternProperties" && schema.CheckPattern(key) != nil:
			r.record(object, jsonvalue.Extend(at, key), "is not a supported regular expression")
			delete(all, key)
			delete(object, "additionalProperties")
		case v == nil:
			all[key] = map[string]any{}
		case !isSchema(v):
			r.record(object, jsonvalue.Extend(at, key), "must be a schema, not "+jsonvalue.Describe(v))
			all[key] = map[string]any{}
		default:
			r.schema(v, jsonvalue.Extend(at, key), in)
		}
	}
}

// value repairs a value that has the right form and contains no schemas.
func (r *repairer) value(object map[string]any, name string, at []string) {
	switch name {
	case "pattern":
		if source, _ := object[name].(string); schema.CheckPattern(source) != nil {
			r.drop(object, name, at[:len(at)-1], "is not a supported regular expression: "+jsonvalue.Describe(source))
		}
	case "required", "type":
		object[name] = unique(object[name])
	case "dependentRequired":
		all, _ := object[name].(map[string]any)
		for key, v := range all {
			all[key] = unique(v)
		}
	}
}

// unique removes repeated strings from a list.
func unique(v any) any {
	all, ok := v.([]any)
	if !ok || len(all) < 2 {
		return v
	}
	known := map[any]bool{}
	return slices.DeleteFunc(all, func(v any) bool {
		repeated := known[v]
		known[v] = true
		return repeated
	})
}

func emptyList(v any) bool {
	all, ok := v.([]any)
	return ok && len(all) == 0
}

// drop removes a keyword, and the keywords that would refuse too much without
// it.
func (r *repairer) drop(object map[string]any, name string, at []string, why string) {
	r.record(object, jsonvalue.Extend(at, name), why)
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

// record notes that an object loses a constraint.
func (r *repairer) record(object map[string]any, at []string, why string) {
	r.weakened[jsonvalue.Address(object)] = true
	r.dropped = append(r.dropped, drop{at, jsonvalue.Path(r.root, at) + " " + why})
}

// report describes what was dropped.
func (r *repairer) report() []string {
	slices.SortStableFunc(r.dropped, func(a, b drop) int {
		return slices.CompareFunc(a.at, b.at, jsonvalue.CompareTokens)
	})
	var lines []string
	for _, d := range r.dropped[:min(len(r.dropped), maxDropped)] {
		lines = append(lines, d.line)
	}
	if more := len(r.dropped) - maxDropped; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// relax removes or weakens the keywords that would refuse more now than before
// because a schema in them was weakened.
func (r *repairer) relax() {
	weaker := r.weaker()
	leadsToWeaker := func(object map[string]any, name string) bool {
		return slices.ContainsFunc(schemasIn(object, name), func(inner map[string]any) bool {
			return weaker[jsonvalue.Address(inner)]
		})
	}
	for _, object := range r.objects {
		if !weaker[jsonvalue.Address(object)] {
			continue
		}
		if leadsToWeaker(object, "not") {
			delete(object, "not")
		}
		if leadsToWeaker(object, "if") {
			remove(object, "if", "then", "else")
		}
		if leadsToWeaker(object, "contains") {
			delete(object, "maxContains")
		}
		if leadsToWeaker(object, "oneOf") {
			if _, taken := object["anyOf"]; !taken {
				object["anyOf"] = object["oneOf"]
			}
			delete(object, "oneOf")
		}
		remove(object, "unevaluatedProperties", "unevaluatedItems")
	}
}

func remove(object map[string]any, names ...string) {
	for _, name := range names {
		delete(object, name)
	}
}

// weaker finds the schemas that were weakened or lead to one that was.
func (r *repairer) weaker() map[uintptr]bool {
	parents := map[uintptr][]uintptr{}
	for _, object := range r.objects {
		for name := range object {
			for _, inner := range schemasIn(object, name) {
				parents[jsonvalue.Address(inner)] = append(parents[jsonvalue.Address(inner)], jsonvalue.Address(object))
			}
		}
	}
	for _, ref := range r.refs {
		if ref.target != nil {
			target := jsonvalue.Address(ref.target)
			parents[target] = append(parents[target], jsonvalue.Address(ref.object))
		}
	}
	weaker := map[uintptr]bool{}
	queue := slices.Collect(maps.Keys(r.weakened))
	for len(queue) > 0 {
		last := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !weaker[last] {
			weaker[last] = true
			queue = append(queue, parents[last]...)
		}
	}
	return weaker
}

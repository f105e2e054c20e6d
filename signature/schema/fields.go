package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// field is a field of a struct or of what is embedded in it.
type field struct {
	reflect.StructField
	json    string // its name in JSON
	options string // what follows the name in the json tag: ,omitempty
	tagged  bool
	depth   int // of embedding
}

// tag returns the tag that the stand-in for the field gets: its name is spelt
// out, and a pointer may be left out.
func (f field) tag() reflect.StructTag {
	options := f.options
	if f.Type.Kind() == reflect.Pointer {
		options += ",omitempty"
	}
	return reflect.StructTag(`json:"`+f.json+options+`" `) + f.Tag
}

// fieldsOf returns the fields that encoding/json sees: of several with one name
// the shallowest, then the tagged one, otherwise none.
func fieldsOf(t reflect.Type) []field {
	all := collect(t, 0, nil)
	var visible []field
	for i, f := range all {
		if dominant(f, i, all) {
			visible = append(visible, f)
		}
	}
	return visible
}

func dominant(f field, i int, all []field) bool {
	for j, g := range all {
		if i == j || f.json != g.json {
			continue
		}
		if g.depth < f.depth || g.depth == f.depth && (g.tagged || !f.tagged) {
			return false
		}
	}
	return true
}

func collect(t reflect.Type, depth int, above []reflect.Type) []field {
	for _, outer := range above {
		if outer == t {
			return nil // embedded in itself
		}
	}
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && deref(f.Type).Kind() == reflect.Struct
		if f.Tag.Get("json") == "-" || !f.IsExported() && !embedded {
			continue
		}
		if promoted(f) {
			all = append(all, collect(deref(f.Type), depth+1, append(above, t))...)
			continue
		}
		all = append(all, newField(f, name, options, depth))
	}
	return all
}

func newField(f reflect.StructField, name, options string, depth int) field {
	n := field{StructField: f, json: name, tagged: name != "", depth: depth}
	if name == "" {
		n.json = f.Name
	}
	if options != "" {
		n.options = "," + options
	}
	return n
}

// checkNames refuses what encoding/json, or the library that reads the tags, would
// pass over: two fields of one name, and tags where there is no field.
func checkNames(t reflect.Type, path string) error {
	fields := collect(t, 0, nil)
	for i, f := range fields {
		for _, g := range fields[:i] {
			if f.json == g.json && f.depth == 0 && g.depth == 0 {
				return fmt.Errorf("field %q: %s and %s both have this name in JSON; rename one", join(path, f.json), g.Name, f.Name)
			}
		}
		if f.json == "-" {
			return typeError(join(path, f.Name), f.Type, `is called "-" in JSON, for its tag is json:"-,"; write json:"-" to leave the field out, or give it another name`)
		}
	}
	if f, ok := taggedEmbedding(t, nil); ok {
		return typeError(join(path, f.Name), f.Type, "is embedded, and has a jsonschema tag that nobody reads; give the tag to its fields, or give it a name in JSON")
	}
	return nil
}

// taggedEmbedding finds an embedded struct with a tag, though its fields stand for
// it.
func taggedEmbedding(t reflect.Type, above []reflect.Type) (reflect.StructField, bool) {
	if slices.Contains(above, t) {
		return reflect.StructField{}, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !promoted(f) {
			continue
		}
		if strings.Contains(string(f.Tag), "jsonschema") {
			return f, true
		}
		if inner, ok := taggedEmbedding(deref(f.Type), append(above, t)); ok {
			return inner, true
		}
	}
	return reflect.StructField{}, false
}

// promoted reports whether the fields of an embedded struct are those of the
// outer one.
func promoted(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Anonymous && name == "" && deref(f.Type).Kind() == reflect.Struct
}

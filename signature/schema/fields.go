package schema

import (
	"reflect"
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
		if embedded && name == "" {
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

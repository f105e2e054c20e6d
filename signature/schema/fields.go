package schema

import (
	"reflect"
	"slices"
	"strings"
)

// field is a field of a struct or of a struct that is embedded in it.
type field struct {
	reflect.StructField
	json    string   // the name in JSON
	options []string // options of the json tag, such as omitempty
	tagged  bool     // the name is from the json tag
	depth   int      // number of embedded structs around the field
}

func (f field) option(name string) bool { return slices.Contains(f.options, name) }

// optional reports whether the field may be missing, judging by its type and its
// json tag.
func (f field) optional() bool {
	return f.Type.Kind() == reflect.Pointer || f.option("omitempty") || f.option("omitzero")
}

// fieldsOf returns the fields that encoding/json encodes. Of several fields with the same
// name, encoding/json encodes the least nested one. If several are equally nested, it
// encodes the only one whose name is from a tag, or else none of them.
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

// dominant reports whether no other field hides field i.
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

// collect returns the fields of a struct and of its embedded structs.
func collect(t reflect.Type, depth int, outer []reflect.Type) []field {
	if slices.Contains(outer, t) {
		return nil
	}
	var all []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := strings.Split(f.Tag.Get("json"), ",")
		embedded := f.Anonymous && pointed(f.Type).Kind() == reflect.Struct
		switch {
		case f.Tag.Get("json") == "-", !f.IsExported() && !embedded:
		case promoted(f):
			all = append(all, collect(pointed(f.Type), depth+1, append(outer, t))...)
		default:
			name := tag[0]
			if name == "" {
				name = f.Name
			}
			all = append(all, field{f, name, tag[1:], tag[0] != "", depth})
		}
	}
	return all
}

// promoted reports whether a field is an embedded struct whose fields are promoted to
// the outer struct.
func promoted(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Anonymous && name == "" && pointed(f.Type).Kind() == reflect.Struct
}

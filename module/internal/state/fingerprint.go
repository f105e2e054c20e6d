package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// field is a field without its description.
type field struct {
	name  string // with its side, such as "output score"
	shape string
}

// Fields are the fields of a signature and its task, without descriptions. They identify the signature, so that a state
// is loaded only with the signature with which it was saved. The fields of each side end with an empty field.
type Fields []field

// FieldsOf returns a signature's fields. The task is nil, unless the signature asks for one step of the task.
func FieldsOf(spec, task *signature.Spec) (all Fields, err error) {
	type side struct {
		name   string
		fields []signature.Field
	}
	sides := []side{{"input ", spec.Inputs()}, {"output ", spec.Outputs()}}
	if task != nil {
		sides = append(sides, side{"task input ", task.Inputs()}, side{"task output ", task.Outputs()})
	}
	for _, s := range sides {
		for _, f := range s.fields {
			schema, err := canonicalSchema(f)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
			all = append(all, field{s.name + f.Name, fmt.Sprintf("%q %t %s\n", f.Name, f.Required, schema)})
		}
		all = append(all, field{shape: "\n"})
	}
	return all, nil
}

// Hash returns a hash of the fields and their order.
func (s Fields) Hash() string {
	sum := sha256.New()
	for _, f := range s {
		sum.Write([]byte(f.shape))
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Hashes returns a hash of each field, so that an error can name the fields that differ.
func (s Fields) Hashes() map[string]string {
	hashes := map[string]string{}
	for _, f := range s {
		if f.name != "" {
			sum := sha256.Sum256([]byte(f.shape))
			hashes[f.name] = hex.EncodeToString(sum[:4])
		}
	}
	return hashes
}

// Differ describes how the fields differ from saved ones.
func (s Fields) Differ(saved map[string]string) string {
	now := s.Hashes()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		switch hash, had := saved[name]; {
		case !had:
			list = append(list, "the "+name+" is new")
		case hash != now[name]:
			list = append(list, "the "+name+" has a different type or different constraints")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if _, has := now[name]; !has {
			list = append(list, "the "+toUTF8(name)+" is missing")
		}
	}
	if list == nil {
		return "its fields are in a different order"
	}
	return strings.Join(list, ", ")
}

// canonicalSchema returns a field's schema without its description, with sorted keywords.
func canonicalSchema(f signature.Field) ([]byte, error) {
	var keywords any
	decoder := json.NewDecoder(bytes.NewReader(f.Schema.Raw()))
	decoder.UseNumber()
	if err := decoder.Decode(&keywords); err != nil {
		return nil, err
	}
	if object, ok := keywords.(map[string]any); ok {
		delete(object, "description")
		if object["$id"] == "field:"+f.Name { // how a spec marks recursive schemas
			delete(object, "$id")
		}
	}
	return json.Marshal(keywords)
}

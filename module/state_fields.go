package module

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

// savedField is a field as far as a state depends on it: not what is said about it.
type savedField struct {
	name  string // with its side: output score
	shape string
}

// savedFields are what a predictor asks for, and the task that it does so for: the
// inputs and the outputs of each, with an empty one behind every side.
type savedFields []savedField

func (p *Predictor) fields() (all savedFields, err error) {
	type side struct {
		of     string
		fields []signature.Field
	}
	sides := []side{{"input ", p.Spec.Inputs()}, {"output ", p.Spec.Outputs()}}
	if p.task != nil {
		sides = append(sides, side{"task input ", p.task.Inputs()}, side{"task output ", p.task.Outputs()})
	}
	for _, s := range sides {
		for _, f := range s.fields {
			schema, err := schemaOf(f)
			if err != nil {
				return nil, fmt.Errorf("field %q: %w", f.Name, err)
			}
			all = append(all, savedField{s.of + f.Name, fmt.Sprintf("%q %t %s\n", f.Name, f.Required, schema)})
		}
		all = append(all, savedField{shape: "\n"})
	}
	return all, nil
}

// hash identifies all of them, and their order.
func (s savedFields) hash() string {
	sum := sha256.New()
	for _, f := range s {
		sum.Write([]byte(f.shape))
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// hashes identifies each, so that it can be said which one is not as it was.
func (s savedFields) hashes() map[string]string {
	hashes := map[string]string{}
	for _, f := range s {
		if f.name != "" {
			hashes[f.name] = hashOf(f.shape)
		}
	}
	return hashes
}

func hashOf(shape string) string {
	sum := sha256.Sum256([]byte(shape))
	return hex.EncodeToString(sum[:4])
}

// differ says what is not as it was saved.
func (s savedFields) differ(saved map[string]string) string {
	if saved == nil {
		return "the names or the schemas of its fields are not the same"
	}
	now := s.hashes()
	var told []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		switch hash, had := saved[name]; {
		case !had:
			told = append(told, "the "+name+" is new")
		case hash != now[name]:
			told = append(told, "the "+name+" has another type, or other constraints")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(saved)) {
		if _, has := now[name]; !has {
			told = append(told, "the "+toUTF8(name)+" is missing")
		}
	}
	if told == nil {
		return "its fields are in another order"
	}
	return strings.Join(told, ", ")
}

// schemaOf is the schema of a field without its description, in one form.
func schemaOf(f signature.Field) ([]byte, error) {
	var keywords any
	decoder := json.NewDecoder(bytes.NewReader(f.Schema.Raw()))
	decoder.UseNumber()
	if err := decoder.Decode(&keywords); err != nil {
		return nil, err
	}
	if object, ok := keywords.(map[string]any); ok {
		delete(object, "description")
		if object["$id"] == "field:"+f.Name { // as a spec marks those that refer to themselves
			delete(object, "$id")
		}
	}
	return json.Marshal(keywords)
}

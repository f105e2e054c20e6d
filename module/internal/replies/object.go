package replies

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// maxObjects bounds how many places of a reply are looked at for a JSON object.
const maxObjects = 50

// object reads a reply in which there is one JSON object with outputs: the whole reply, the text of a
// fence, or next to prose. Several of them must agree.
func (r reply) object() (fields, error) {
	if strings.IndexByte(r.text, '{') < 0 {
		return nil, nil
	}
	if text, ok := quotedText(r.text); ok {
		r.text = text // an object that is written as a string
	}
	objects, around, err := r.objects()
	if err != nil {
		return nil, structural("", "the JSON object in the reply cannot be read: %v", err)
	}
	var found fields
	for _, o := range objects {
		given := r.members(o)
		if given == nil {
			continue
		}
		if found == nil {
			found = given
			continue
		}
		if len(given) != len(found) {
			return nil, structural("", "the reply has several JSON objects with different answers; write one")
		}
		for name, values := range given {
			found[name] = append(found[name], values...)
		}
	}
	if found != nil && !blank(around) {
		if labels, err := (reply{r.outputs, strings.TrimSpace(around)}).labeled(); err != nil || labels != nil {
			return nil, structural("", "the reply has an answer next to the JSON object; write one")
		}
	}
	return found, nil
}

// objects are the JSON objects of a reply, and what stands outside of them. The error is why one that
// names an output, or is the whole reply, cannot be read.
func (r reply) objects() (objects []json.RawMessage, rest string, err error) {
	text := r.text
	if inner := Unfence(text); inner != text {
		text = strings.TrimSpace(inner)
	} else if blocks, open := fences(text); len(blocks) > 0 && !open {
		for _, b := range blocks {
			if inner := strings.TrimSpace(b.text); strings.HasPrefix(inner, "{") {
				object, err := wholeJSON(inner)
				if err != nil && r.names(inner) {
					return nil, "", err
				}
				if err == nil {
					objects = append(objects, object)
				}
			}
		}
		if objects != nil {
			return objects, outside(text, blocks), nil
		}
	}
	if strings.HasPrefix(text, "[") {
		var items []json.RawMessage
		if list, err := wholeJSON(text); err == nil && json.Unmarshal(list, &items) == nil && len(items) == 1 {
			return items, "", nil
		}
	}
	for at, n := 0, 0; ; n++ {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return objects, rest + text[at:], nil
		}
		if n == maxObjects {
			return nil, "", fmt.Errorf("there are more than %d of them", maxObjects)
		}
		start := at + next
		object, behind, wrong := readJSON(text[start:])
		if start == 0 && wrong != nil || wrong != nil && r.names(text[start:]) {
			return nil, "", wrong
		}
		rest += text[at:start]
		if at = start + 1; wrong == nil {
			objects, at = append(objects, object), len(text)-len(behind)
		}
	}
}

// firstKey finds the name of the first member of an object.
var firstKey = regexp.MustCompile(`^\{\s*["']?(\w+)["']?\s*:`)

// names reports whether a text begins as an object with an output.
func (r reply) names(text string) bool {
	m := firstKey.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	_, known := fieldNamed(r.outputs, m[1])
	return known
}

// members are the outputs that an object gives, possibly within its only member. An object that is
// the value of the only output is that.
func (r reply) members(object json.RawMessage) fields {
	inner := object
	for range 3 {
		var all signature.Values
		if json.Unmarshal(inner, &all) != nil {
			break
		}
		found := fields{}
		for _, v := range all {
			if f, ok := fieldNamed(r.outputs, v.Name); ok {
				found[f.Name] = append(found[f.Name], given{json: v.JSON})
			}
		}
		if len(found) > 0 {
			return found
		}
		if inner = wrapped(all); inner == nil {
			break
		}
	}
	if f := r.outputs[0]; len(r.outputs) == 1 && !f.Schema.AnyText() {
		if value, err := readMember(f, object, true); err == nil {
			return fields{f.Name: {{json: value}}}
		}
	}
	return nil
}

// wrapped is the object in the only member of an object, or in the arguments of a call that is
// written as one.
func wrapped(all signature.Values) json.RawMessage {
	var inner json.RawMessage
	for _, v := range all {
		if v.JSON[0] == '{' {
			if inner != nil {
				return nil
			}
			inner = v.JSON
		} else if v.Name != "name" && v.Name != "type" {
			return nil
		}
	}
	return inner
}

package replies

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// maxObjects is the maximum number of positions in a reply that are tried as the beginning of a JSON object.
const maxObjects = 50

// object reads a reply that contains a JSON object with outputs: as the whole reply, in a fence, or next to prose.
// Several objects must agree, and the reply must not contain another answer.
func (r reply) object() (found fields, err error) {
	if strings.IndexByte(r.text, '{') < 0 {
		return nil, nil
	}
	if text, ok := quotedText(r.text); ok {
		r.text = text // an object that is written as a string
	}
	objects, around, err := r.objects()
	for _, o := range objects {
		given, unread := r.members(o)
		switch {
		case unread != nil:
			err = unread
		case found == nil:
			found = given
		case len(given) != 0 && len(given) != len(found):
			return nil, structural("", "the reply has several JSON objects with different answers; write one")
		default:
			found.add(given)
		}
	}
	if err != nil {
		return nil, structural("", "the JSON object in the reply cannot be read: %s",
			strings.TrimPrefix(err.Error(), "signature: "))
	}
	if found != nil {
		if labels, err := (reply{r.outputs, strings.TrimSpace(around)}).labeled(); err != nil || labels != nil {
			return nil, structural("", "the reply has an answer next to the JSON object; write one")
		}
	}
	return found, nil
}

// objects returns the JSON objects of a reply and the text around them. It returns an error if it cannot read an object
// that begins with an output or is at the beginning of the reply.
func (r reply) objects() (objects []json.RawMessage, around string, err error) {
	text := strings.TrimSpace(Unfence(r.text))
	for at, n := 0, 0; ; n++ {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return objects, around + text[at:], nil
		}
		if n == maxObjects {
			return nil, "", fmt.Errorf("there are more than %d objects", maxObjects)
		}
		start := at + next
		object, behind, wrong := readJSON(text[start:])
		if wrong != nil && (start == 0 || r.begins(text[start:])) {
			return nil, "", wrong
		}
		around += text[at:start]
		if at = start + 1; wrong == nil {
			objects, at = append(objects, object), len(text)-len(behind)
		}
	}
}

// firstKey finds the name of an object's first member.
var firstKey = regexp.MustCompile(`^\{\s*["']?(\w+)["']?\s*:`)

// begins reports whether text begins like an object whose first member is an output.
func (r reply) begins(text string) bool {
	m := firstKey.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	_, known := fieldNamed(r.outputs, m[1])
	return known
}

// members returns the outputs in an object, or else in its only member that is an object. If there is only one output,
// the whole object may be its value.
func (r reply) members(object json.RawMessage) (fields, error) {
	for inner := object; inner != nil; {
		var all signature.Values
		if err := json.Unmarshal(inner, &all); err != nil {
			return nil, err
		}
		found := fields{}
		inner = nil
		within := 0
		for _, v := range all {
			if f, ok := fieldNamed(r.outputs, v.Name); ok {
				found[f.Name] = append(found[f.Name], fieldValue{json: v.JSON})
			}
			if v.JSON[0] == '{' {
				inner, within = v.JSON, within+1
			}
		}
		if len(found) > 0 {
			return found, nil
		}
		if within != 1 {
			break
		}
	}
	if f := r.outputs[0]; len(r.outputs) == 1 && !f.Schema.AnyText() {
		if value, err := readMember(f, object, true); err == nil {
			return fields{f.Name: {{json: value}}}, nil
		}
	}
	return nil, nil
}

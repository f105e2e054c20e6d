package replies

import "strings"

// Form is how a model was asked to answer. Replies of every form are read; it says
// where the answer ends, should the reply have been cut off behind it.
type Form int

// The forms that are asked for.
const (
	// Markers: each value under the marker of its field, and the end marker last.
	Markers Form = iota
	// Object: one JSON object.
	Object
)

// advice says what to do about a reply in which nothing was found.
func (f Form) advice(field string) string {
	if f == Object {
		return "answer with the JSON object"
	}
	return "put each value under its marker, such as " + marker(field)
}

// ofProgram says where a program is to stand.
func (f Form) ofProgram() string {
	if f == Object {
		return `in the field "code" of the JSON object`
	}
	return "under " + marker("code")
}

// ended reports whether a reply had come to the end of its answer.
func (f Form) ended(r reply) bool {
	if f == Object {
		return endsObject(r)
	}
	return ended(r.outputs, r.text)
}

// endsObject reports whether a reply had come to the end of its object.
func endsObject(r reply) bool {
	objects, _, behind, err := objectsIn(r.text)
	return err == nil && len(objects) > 0 && !objects[len(objects)-1].unclosed && strings.Trim(behind, "` \n") == ""
}

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

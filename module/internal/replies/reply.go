package replies

import (
	"strings"

	"github.com/writ-go/writ/signature"
)

// reply is what a reader is given: a text, and the fields that it may give.
type reply struct {
	spec    *signature.Spec
	outputs []signature.Field
	text    string

	truncated bool // behind the answer
	whole     bool // the text is one JSON object
}

// given is what a reply gives for a field.
type given struct {
	text   string
	open   bool // nothing says where it ends, but the reply does
	loose  bool // it was not written in the form that was asked for
	ragged bool // it begins on the line of its name and goes on below
}

// OutputNamed finds an output by its name, or by one that is written otherwise, if it
// is no other's.
func OutputNamed(spec *signature.Spec, name string) (signature.Field, bool) {
	return fieldNamed(spec.Outputs(), name)
}

// fieldNamed finds a field by its name, or by one that is written otherwise, if
// it is no other's: First name for first_name.
func fieldNamed(fields []signature.Field, name string) (signature.Field, bool) {
	var found signature.Field
	n := 0
	asOptional, optional := strings.CutSuffix(name, "?") // as the type has it
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
		if sameName(f.Name, name) || optional && !f.Required && sameName(f.Name, asOptional) {
			found, n = f, n+1
		}
	}
	if n != 1 {
		return signature.Field{}, false
	}
	return found, true
}

// sameName compares names without regard to case and to what joins their words.
func sameName(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(joined.Replace(a), joined.Replace(b))
}

var joined = strings.NewReplacer("_", "", " ", "", "-", "")

package module

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// labelled is "Mood: good", also in a list, in bold or in backticks.
var labelled = regexp.MustCompile(`^[ \t]*(?:[-*+][ \t]+|#+[ \t]+)?` +
	"(?:\\*\\*([^*:`]+):\\*\\*|\\*\\*([^*:`]+)\\*\\*[ \t]*:|`([^*:`]+)`[ \t]*:|([^*:`]+):)[ \t]*(.*?)[ \t]*$")

// label reads a line that gives an output.
func label(spec *signature.Spec, line string) (f signature.Field, text string, ok bool) {
	m := labelled.FindStringSubmatch(line)
	if m == nil {
		return f, "", false
	}
	name := strings.TrimSpace(strings.Join(m[1:5], "")) // only one of them took part
	f, ok = outputNamed(spec, strings.ReplaceAll(name, " ", "_"))
	return f, m[5], ok
}

// readLabels reads a line for each field and nothing else: a line without a
// label may be the rest of the value before it.
func readLabels(spec *signature.Spec, text string) (signature.Values, error) {
	fields := map[string]given{}
	for line := range strings.SplitSeq(unfence(text), "\n") {
		if blank(line) {
			continue
		}
		f, value, ok := label(spec, line)
		if !ok || value == "" {
			return nil, nil
		}
		if earlier, twice := fields[f.Name]; twice && earlier.text != value {
			return nil, fmt.Errorf("the field %q was given twice, with different values; give each once", f.Name)
		}
		fields[f.Name] = given{text: value}
	}
	return collect(spec, fields)
}

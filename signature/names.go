package signature

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonvalue"
)

// checkFields checks the fields' names and kinds.
func checkFields(inputs, outputs []Field) error {
	if len(outputs) == 0 {
		return errors.New("signature: no output field; add one")
	}
	seen := map[string]string{}
	for _, side := range []struct {
		name   string
		fields []Field
	}{{"input", inputs}, {"output", outputs}} {
		for _, f := range side.fields {
			if err := checkName(f.Name); err != nil {
				return fmt.Errorf("signature: %s field %q: %w", side.name, f.Name, err)
			}
			if other, taken := seen[f.Name]; taken {
				return fmt.Errorf("signature: %s field %q: an %s field has the same name; rename one",
					side.name, f.Name, other)
			}
			seen[f.Name] = side.name
			if err := checkKind(f, side.name == "output"); err != nil {
				return fmt.Errorf("signature: %s field %q: %w", side.name, f.Name, err)
			}
		}
	}
	return nil
}

// checkDefaults returns an error if a default does not fit its schema.
func checkDefaults(side string, fields []Field) error {
	for _, f := range fields {
		if findings := f.Schema.CheckDefaults(); findings != nil {
			return fmt.Errorf("signature: %s field %q: %w", side, f.Name, &InvalidError{findings})
		}
	}
	return nil
}

func defaultOf(raw json.RawMessage) (json.RawMessage, bool) {
	var keywords Values
	if json.Unmarshal(raw, &keywords) != nil {
		return nil, false
	}
	return keywords.Get("default")
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case !jsonvalue.IsIdentifier(name):
		return errors.New("the name is not a JavaScript identifier; use letters, digits and _")
	case name == "__proto__":
		return errors.New("the name has a special meaning in JavaScript; choose another")
	case slices.Contains(reserved, name):
		return errors.New("the name is reserved in JavaScript; choose another")
	default:
		return nil
	}
}

// reserved are the words that cannot be variable names in a JavaScript module, and
// predefined names that a variable would hide.
var reserved = strings.Fields(`
	arguments await break case catch class const continue debugger default
	delete do else enum eval export extends false finally for function if
	implements import in instanceof interface let new null package private
	protected public return static super switch this throw true try typeof var
	void while with yield Infinity NaN undefined globalThis`)

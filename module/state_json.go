package module

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/writ-go/writ/signature"
)

// indented writes JSON for people and for diffs: indented, and with < as it is.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// decode reads an object with the members of the given names, and nothing else:
// [json.Unmarshal] alone takes names in another case, and names that are given
// twice.
func decode(raw []byte, v any, names ...string) error {
	if err := members(raw, names); err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// members checks that raw is an object of members with these names, and that no
// object within has a name twice.
func members(raw []byte, names []string) error {
	if err := unique(raw); err != nil {
		return err
	}
	var all signature.Values
	if err := json.Unmarshal(raw, &all); err != nil {
		return errors.New("it is not an object")
	}
	for _, v := range all {
		if !slices.Contains(names, v.Name) {
			return fmt.Errorf("there is a member %q that is not known", v.Name)
		}
	}
	return nil
}

// unique refuses a value in which an object has a name twice, and more than one
// value.
func unique(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := uniqueIn(d); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the end")
	}
	return nil
}

// uniqueIn reads one value.
func uniqueIn(d *json.Decoder) error {
	token, err := d.Token()
	opened, isObject := token == json.Delim('{') || token == json.Delim('['), token == json.Delim('{')
	if err != nil || !opened {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		if isObject {
			name, err := d.Token()
			if err != nil {
				return err
			}
			text := fmt.Sprint(name)
			if seen[text] {
				return fmt.Errorf("the member %q is given twice", text)
			}
			seen[text] = true
		}
		if err := uniqueIn(d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

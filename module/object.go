package module

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// readObject reads the one JSON object that has the output fields: the whole
// reply, a fenced block, or behind prose. What is said behind it may take it
// back.
func readObject(spec *signature.Spec, text string) (signature.Values, error) {
	objects, prose, behind, err := objectsIn(text)
	if err != nil {
		return nil, err // what is in it may have been the answer
	}
	objects = slices.DeleteFunc(objects, func(o signature.Values) bool { return !hasOutputs(spec, o) })
	if len(objects) == 0 {
		return nil, nil
	}
	for _, o := range objects[1:] {
		if !slices.EqualFunc(o, objects[0], equalValues) {
			return nil, errors.New("the reply has several objects with the fields; give one")
		}
	}
	if strings.HasSuffix(strings.TrimSpace(prose), "[") || strings.HasSuffix(strings.TrimSpace(prose), ",") {
		return nil, errors.New("the object is one of a list; give it alone")
	}
	for line := range strings.SplitSeq(prose+behind, "\n") {
		if f, _, ok := label(spec, line); ok {
			return nil, fmt.Errorf("the field %q is in the object and outside of it; give it once", f.Name)
		}
	}
	if strings.Trim(behind, "` \t\r\n") != "" {
		return nil, errors.New("there is text behind the object; end with it, or put each value under its marker")
	}
	return respell(spec, objects[0])
}

func equalValues(a, b signature.Value) bool {
	return a.Name == b.Name && string(a.JSON) == string(b.JSON)
}

// objectStart tells JSON, also where it is malformed, from braces in prose.
var objectStart = regexp.MustCompile(`\{\s*(?:["'/]|[\w$]+\s*:)`)

// objectsIn returns the outermost JSON objects of a text, the text before and
// between them, and that behind the last. It never looks inside a malformed object: what it holds may be a part of
// the answer, or an example.
func objectsIn(text string) (objects []signature.Values, prose, behind string, err error) {
	for {
		at := objectStart.FindStringIndex(text)
		if at == nil {
			return objects, prose, text, nil
		}
		var object signature.Values
		d := json.NewDecoder(strings.NewReader(text[at[0]:]))
		if err := d.Decode(&object); err != nil {
			return nil, "", "", fmt.Errorf("the JSON object in the reply cannot be read: %w", err)
		}
		objects = append(objects, object)
		prose += text[:at[0]]
		text = text[at[0]+int(d.InputOffset()):]
	}
}

// hasOutputs reports whether an object has an output and every required one.
func hasOutputs(spec *signature.Spec, object signature.Values) bool {
	has := map[string]bool{}
	for _, v := range object {
		if f, ok := outputNamed(spec, v.Name); ok {
			has[f.Name] = true
		}
	}
	return len(has) > 0 && !slices.ContainsFunc(spec.Outputs(), func(f signature.Field) bool { return f.Required && !has[f.Name] })
}

// respell gives the outputs of an object their own names, and reads those that
// were written as text: {"Score": "0.5"}. It leaves alone what it doesn't know,
// for the signature to refuse.
func respell(spec *signature.Spec, object signature.Values) (signature.Values, error) {
	values := signature.Values{}
	for _, v := range object {
		f, known := outputNamed(spec, v.Name)
		if !known {
			values = append(values, v)
			continue
		}
		if _, twice := values.Get(f.Name); twice {
			return nil, fmt.Errorf("the field %q was given twice; give it once", f.Name)
		}
		if string(v.JSON) == "null" && !f.Required {
			continue
		}
		var text string
		if !fits(f, v.JSON) && json.Unmarshal(v.JSON, &text) == nil {
			if spelled := spelled(f, text); spelled != nil {
				v.JSON = spelled
			}
		}
		values = append(values, signature.Value{Name: f.Name, JSON: v.JSON})
	}
	return values, nil
}

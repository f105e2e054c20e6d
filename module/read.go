package module

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
)

// readReply finds the output fields in what a model said, by several readers in
// turn, without asking again. What it returns has been found, not yet validated.
// A reply that can be read in two ways is an error: a wrong answer is worse than
// none.
func readReply(spec *signature.Spec, reply string) (signature.Values, error) {
	reply = withoutThinking(reply)
	if strings.TrimSpace(reply) == "" {
		return nil, errors.New("the reply is empty")
	}
	if fields, err := readMarkers(reply); len(fields) > 0 || err != nil {
		if err != nil {
			return nil, err
		}
		return collect(spec, fields)
	}
	if object := readObject(spec, reply); object != nil {
		return object, nil
	}
	if fields := readLabels(spec, reply); fields != nil {
		return collect(spec, fields)
	}
	return nil, fmt.Errorf("no field was found in the reply; put each value under its marker, such as %s", marker(spec.Outputs()[0].Name))
}

var thinking = regexp.MustCompile(`(?is)^\s*<think(?:ing)?>.*?</think(?:ing)?>`)

func withoutThinking(reply string) string { return thinking.ReplaceAllString(reply, "") }

var markerLine = regexp.MustCompile(`(?im)^[ \t*#]*\[\[\s*##\s*([\p{L}\p{N}_$]+)\s*##\s*\]\]`)

// readMarkers splits a reply at its markers. Names are in lower case.
func readMarkers(reply string) (map[string]string, error) {
	at := markerLine.FindAllStringSubmatchIndex(reply, -1)
	fields := map[string]string{}
	for i, m := range at {
		end := len(reply)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		name := strings.ToLower(reply[m[2]:m[3]])
		text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(reply[m[1]:end]), "**"))
		if earlier, twice := fields[name]; twice && earlier != text {
			return nil, fmt.Errorf("the field %q was given twice, with different values; give each once", name)
		}
		fields[name] = text
	}
	delete(fields, "completed")
	return fields, nil
}

// collect makes values of the texts of fields.
func collect(spec *signature.Spec, fields map[string]string) (signature.Values, error) {
	var values signature.Values
	var errs []error
	for _, f := range spec.Outputs() {
		text, ok := fields[strings.ToLower(f.Name)]
		if !ok {
			if f.Required {
				errs = append(errs, fmt.Errorf("the field %q is missing", f.Name))
			}
			continue
		}
		value, err := readValue(f, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("the field %q: %w", f.Name, err))
			continue
		}
		values = append(values, signature.Value{Name: f.Name, JSON: value})
	}
	return values, errors.Join(errs...)
}

// readValue reads one value: the text itself if that is what the field admits,
// otherwise JSON, possibly in a fence.
func readValue(f signature.Field, text string) (json.RawMessage, error) {
	quoted, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	if f.Schema == nil || len(f.Schema.Validate(quoted)) == 0 {
		return quoted, nil
	}
	bare := strings.TrimSpace(unfence(text))
	for _, candidate := range []string{bare, strings.Trim(bare, "`*\"'. "), strings.ToLower(bare)} {
		if value := fitting(f, candidate); value != nil {
			return value, nil
		}
	}
	return mismatch(f, bare, quoted)
}

// fitting returns a text as JSON, or as a JSON string, if the field admits it.
func fitting(f signature.Field, text string) json.RawMessage {
	if json.Valid([]byte(text)) && len(f.Schema.Validate([]byte(text))) == 0 {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err == nil && len(f.Schema.Validate(quoted)) == 0 {
		return quoted
	}
	return nil
}

// mismatch says why a text is no value of a field.
func mismatch(f signature.Field, bare string, quoted json.RawMessage) (json.RawMessage, error) {
	value := json.RawMessage(quoted)
	if json.Valid([]byte(bare)) {
		value = json.RawMessage(bare)
	}
	var lines []string
	for _, finding := range f.Schema.Validate(value) {
		lines = append(lines, finding.String())
	}
	return nil, errors.New(strings.Join(lines, "; "))
}

// readObject finds the one JSON object that has the output fields: the whole
// reply, a fenced block, or embedded in prose.
func readObject(spec *signature.Spec, reply string) signature.Values {
	var found []signature.Values
	for _, text := range objectsIn(reply) {
		var values signature.Values
		if json.Unmarshal([]byte(text), &values) == nil && hasOutputs(spec, values) {
			found = append(found, values)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// objectsIn returns the outermost JSON objects of a text.
func objectsIn(text string) []string {
	var list []string
	for {
		start := strings.IndexByte(text, '{')
		if start < 0 {
			return list
		}
		d := json.NewDecoder(strings.NewReader(text[start:]))
		var object json.RawMessage
		if d.Decode(&object) != nil {
			text = text[start+1:]
			continue
		}
		list = append(list, string(bytes.TrimSpace(object)))
		text = text[start+int(d.InputOffset()):]
	}
}

func hasOutputs(spec *signature.Spec, values signature.Values) bool {
	for _, f := range spec.Outputs() {
		if _, ok := values.Get(f.Name); !ok && f.Required {
			return false
		}
	}
	return len(values) > 0
}

// readLabels reads "Mood: good", a line for each field and nothing else: a line
// without a label may be the rest of the value before it.
func readLabels(spec *signature.Spec, reply string) map[string]string {
	fields := map[string]string{}
	for _, f := range spec.Outputs() {
		fields[strings.ToLower(f.Name)] = ""
	}
	for line := range strings.Lines(reply) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		label, text, _ := strings.Cut(line, ":")
		name := strings.ToLower(strings.ReplaceAll(strings.Trim(label, " \t*_#->`\""), " ", "_"))
		if earlier, known := fields[name]; !known || earlier != "" {
			return nil
		}
		fields[name] = strings.Trim(text, " \t\r\n*_")
	}
	for name, text := range fields {
		if text == "" {
			delete(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

var fence = regexp.MustCompile("(?s)^```[^\n]*\n(.*?)\n?```$")

// unfence returns what stands in a fence, if the text is nothing else.
func unfence(text string) string {
	if m := fence.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		return m[1]
	}
	return text
}

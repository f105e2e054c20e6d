package replies

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// noArguments are the ways in which models write that nothing is passed.
var noArguments = map[string]bool{"": true, "()": true, "null": true, "None": true, "undefined": true}

// Arguments reads what a model passes to a tool: an object, or a text, as a JSON string, that may stand for one. What
// looks like JSON is never taken for a text. Plain reports whether the text had no quotes.
func Arguments(text string) (args json.RawMessage, plain bool, err error) {
	text = strings.TrimSpace(Unfence(text))
	switch {
	case noArguments[text]:
		return json.RawMessage("{}"), false, nil
	case text[0] == '{', text[0] == '"':
		args, err = Expression(text)
		return args, false, err
	case text[0] == '[', json.Valid([]byte(text)):
		return nil, false, errNotObject(errors.New("write the object that the tool takes"))
	case computed.MatchString(text):
		return nil, false, errNotObject(errors.New("it may be an expression of a program; write the value"))
	}
	return Quote(text), true, nil
}

// computed finds a text that a program would compute: 'a' + 'b', f"{x}.txt", `${x}.txt`, k="a".
var computed = regexp.MustCompile("(?s)^(?:[a-zA-Z]{1,2}[\"'`]|'[^']*'\\s*\\S|`[^`]*`\\s*\\S|\\w+\\s*=)|\\$\\{")

// Expression reads what stands in the parentheses of a call: an object, or a text in quotes.
func Expression(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if noArguments[text] {
		return json.RawMessage("{}"), nil
	}
	if strings.IndexByte("{\"'`", text[0]) < 0 {
		return nil, errNotObject(errors.New("words without quotes may be the names of variables"))
	}
	value, err := wholeJSON(text)
	if object := (signature.Values{}); err == nil && value[0] == '{' {
		err = json.Unmarshal(value, &object)
	}
	if err != nil {
		return nil, errNotObject(err)
	}
	return value, nil
}

func errNotObject(err error) error {
	return fmt.Errorf("it is not one JSON object: %s", strings.TrimPrefix(err.Error(), "signature: "))
}

// ArgumentText reads a text as the only argument, or the only output.
func ArgumentText(f signature.Field, text string) (json.RawMessage, error) {
	r := reply{[]signature.Field{f}, strings.TrimSpace(text)}
	object, err := r.object()
	labels, wrong := r.labeled()
	if err != nil || wrong != nil || object != nil || labels != nil || !r.bare() {
		return nil, structural(f.Name, "may be more than its value; give only the value")
	}
	if quoted, err := wholeJSON(r.text); err == nil && quoted[0] == '"' {
		r.text = string(quoted)
	}
	return readValue(f, given{text: r.text}, true)
}

// Timed returns the arguments of a tool with the times in them that have a unit in nanoseconds, where its schema asks
// for those.
func Timed(of, args json.RawMessage) json.RawMessage {
	if !strings.Contains(string(of), `"`+schema.Nanoseconds+`"`) {
		return args
	}
	return shapeOf(of).spelled(args, func(s shape, text string) json.RawMessage {
		if s.lasts() {
			return duration(text)
		}
		return nil
	})
}

package replies

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/signature/schema"
)

// noArguments are the ways in which programs write that nothing is passed.
var noArguments = map[string]bool{"": true, "()": true, "null": true, "None": true, "undefined": true}

// Arguments reads what a model passes to a tool: an object, or a text, as a JSON string, that may
// stand for one. What looks like JSON is never taken for a text. Plain reports whether the text had no
// quotes.
func Arguments(text string) (args json.RawMessage, plain bool, err error) {
	text = strings.TrimSpace(Unfence(text))
	switch {
	case noArguments[text]:
		return json.RawMessage("{}"), false, nil
	case text[0] == '{':
		args, err = objectOf(text)
		return args, false, err
	case keyword.MatchString(text):
		args, err = Expression(text)
		return args, false, err
	case text[0] == '"' && json.Valid([]byte(text)):
		return json.RawMessage(text), false, nil
	case text[0] == '[', text[0] == '"', json.Valid([]byte(text)):
		return nil, false, errNotObject(errors.New("write the object that the tool takes"))
	case computed.MatchString(text):
		return nil, false, errNotObject(errors.New("it may be an expression of a program; write the value"))
	}
	return Quote(text), true, nil
}

// computed finds a text that a program would compute: 'a' + 'b', f"{x}.txt", `${x}.txt`.
var computed = regexp.MustCompile("(?s)^(?:[a-zA-Z]{1,2}[\"'`]|'[^']*'\\s*\\S|`[^`]*`\\s*\\S)|\\$\\{")

// Expression reads what stands in the parentheses of a call: an object, named arguments as Python
// has them, or a text in quotes. Words without quotes may be the names of variables.
func Expression(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	switch {
	case noArguments[text]:
		return json.RawMessage("{}"), nil
	case text[0] == '{':
		return objectOf(text)
	case keyword.MatchString(text):
		l := &lax{text: text + ")", depth: 1}
		err := l.object('=', ')')
		if l.depth = 0; err == nil && l.peek() != 0 {
			err = l.unexpected("the end")
		}
		if err != nil {
			return nil, errNotObject(err)
		}
		return l.out.Bytes(), nil
	}
	l := &lax{text: text}
	if open, _ := l.quote(); open == "" {
		return nil, errNotObject(errors.New("words without quotes may be the names of variables"))
	}
	value, err := wholeJSON(text)
	if err != nil {
		return nil, errNotObject(err)
	}
	return value, nil
}

// keyword begins an argument that has a name: path="report.txt".
var keyword = regexp.MustCompile(`^[a-zA-Z_]\w*\s*=[^=]`)

func objectOf(text string) (json.RawMessage, error) {
	object, err := wholeJSON(text)
	if err != nil {
		return nil, errNotObject(err)
	}
	return object, nil
}

func errNotObject(err error) error {
	return errors.New("it is not one JSON object: " + err.Error())
}

// ArgumentText reads a text that stands for the only argument, or the only output.
func ArgumentText(f signature.Field, text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	r := reply{[]signature.Field{f}, text}
	object, wrong := r.object()
	if labels, err := r.labeled(); err != nil || wrong != nil || labels != nil || object != nil || !r.bare() {
		return nil, structural(f.Name, "may be more than its value; give only the value")
	}
	if quoted, err := wholeJSON(text); err == nil && quoted[0] == '"' {
		text = string(quoted)
	}
	return readValue(f, given{text: text}, true)
}

// Timed returns the arguments of a tool with the times in them that have a unit in nanoseconds, where
// its schema asks for those.
func Timed(of, args json.RawMessage) json.RawMessage {
	if !strings.Contains(string(of), `"`+schema.Nanoseconds+`"`) {
		return args
	}
	return shapeOf(of).timed(args)
}

func (s shape) timed(value json.RawMessage) json.RawMessage {
	switch c := value[0]; {
	case c == '"' && s.lasts():
		if d := s.duration(PlainText(value)); d != nil {
			return d
		}
	case c == '[' && s.items != nil:
		return each(value, s.items.timed)
	case c == '{' && s.members != nil:
		var all signature.Values
		if json.Unmarshal(value, &all) != nil {
			return value
		}
		for i, v := range all {
			for _, m := range s.members {
				if m.name == v.Name {
					all[i].JSON = m.shape.timed(v.JSON)
				}
			}
		}
		if timed, err := all.MarshalJSON(); err == nil {
			return timed
		}
	}
	return value
}

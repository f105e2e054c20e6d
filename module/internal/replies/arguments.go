package replies

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/signature"
)

// What a model gives to a tool is one object, or a text that may stand for one. It is
// about to be acted on, so a text has to be marked off, or be nothing else for certain.

// noArguments are how programs write that nothing is given.
var noArguments = map[string]bool{"": true, "()": true, "null": true, "None": true, "undefined": true}

// Arguments reads what stands where the arguments belong: an object, or a text, as a
// JSON string. What looks like JSON is never taken for a text; plain says that it was
// words as they are, without quotes.
func Arguments(text string) (args json.RawMessage, plain bool, err error) {
	text = strings.TrimSpace(Unfence(text))
	switch {
	case noArguments[text]:
		return json.RawMessage("{}"), false, nil
	case strings.HasPrefix(text, "{"):
		args, err = objectOf(text)
		return args, false, err
	case text[0] == '"' && json.Valid([]byte(text)):
		return json.RawMessage(text), false, nil
	case text[0] == '[', text[0] == '"', json.Valid([]byte(text)):
		return nil, false, notOneObject(json.Unmarshal([]byte(text), new(signature.Values)))
	}
	if computed.MatchString(text) {
		return nil, false, notOneObject(errors.New("it may be an expression of a program; write the value"))
	}
	return Quote(text), true, nil
}

// computed finds a text that a program would make a value of: 'a' + 'b', f"{x}.txt",
// `${x}.txt`.
var computed = regexp.MustCompile("(?s)^(?:[a-zA-Z]{1,2}[\"'`]|'[^']*'\\s*\\S|`[^`]*`\\s*\\S)|\\$\\{")

// Expression reads what a program has in the parentheses of a call: an object, named
// arguments as Python has them, or a text in quotes. Words without quotes may be
// anything, such as the name of a variable.
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
		return l.whole(err)
	}
	l := &lax{text: text}
	if open, _ := l.quoteAt(); open == "" {
		return nil, notOneObject(errors.New("words without quotes may be anything"))
	}
	value, err := l.string()
	l.out.Write(value)
	return l.whole(err)
}

// keyword begins an argument that has a name: path="report.txt".
var keyword = regexp.MustCompile(`^[a-zA-Z_]\w*\s*=[^=]`)

// objectOf reads one object, as models write it.
func objectOf(text string) (json.RawMessage, error) {
	if json.Valid([]byte(text)) { // as it is, numbers and all
		return ordered(json.RawMessage(text))
	}
	l := &lax{text: text}
	return l.whole(l.value())
}

// whole is what was read, if it is all there is, and nothing of it is uncertain.
func (l *lax) whole(err error) (json.RawMessage, error) {
	if err := l.certain(err); err != nil {
		return nil, notOneObject(err)
	}
	return ordered(l.out.Bytes())
}

// certain says why it isn't, if there was no other error.
func (l *lax) certain(err error) error {
	switch {
	case err != nil:
	case l.unclosed:
		err = errCutValue
	case l.bare:
		err = errors.New("a text in it has no quotes")
	case strings.Contains(l.text, "`") && strings.Contains(l.text, "${"):
		err = errors.New("a text in it is to be computed; write it out")
	case l.peek() != 0:
		err = l.unexpected("the end")
	case l.comments != nil: // behind it, too
		err = errors.New("there is a comment in it, which may say otherwise; leave comments out")
	case l.slashes.some, l.slashes.perhaps && drive.MatchString(l.text):
		err = errSlashes
	}
	return err
}

// drive begins a path of Windows.
var drive = regexp.MustCompile(`(?:^|[^A-Za-z])[A-Za-z]:\\`)

// ordered is a text as it is, or an object that gives no name twice.
func ordered(raw json.RawMessage) (json.RawMessage, error) {
	if raw[0] == '"' {
		return raw, nil
	}
	var object signature.Values
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, notOneObject(err)
	}
	return object.MarshalJSON()
}

func notOneObject(err error) error {
	return errors.New("it is not one JSON object: " + strings.TrimPrefix(err.Error(), "signature: "))
}

// ArgumentText reads words that stand for the only argument, or output, as they are,
// unless they may have more in them than its value.
func ArgumentText(f signature.Field, text string) (json.RawMessage, error) {
	if value := assigned(f, text); value != nil {
		return value, nil
	}
	if m := assignment.FindStringSubmatch(text); m != nil && sameName(f.Name, m[1]) && !strings.Contains(text, "\n") || hasMember(f, text) {
		return nil, structural(f.Name, "is given with its name once more; give only the value")
	}
	return readValue(f, given{text: text})
}

// hasMember reports whether there is an object with the field in a text.
func hasMember(f signature.Field, text string) bool {
	objects, _, _, err := objectsIn(text)
	return err == nil && slices.ContainsFunc(objects, func(o found) bool {
		_, has := o.Get(f.Name)
		return has
	})
}

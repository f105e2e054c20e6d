package replies

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
)

var written = []struct{ name, tool, args, called, with, wrong string }{
	{name: "the requested form", tool: "mail.send", args: `{"to": "ann"}`, called: "mail.send", with: `{"to":"ann"}`},
	{name: "no arguments", tool: "list", called: "list", with: `{}`},
	{name: "null", tool: "list", args: `null`, called: "list", with: `{}`},
	{name: "exact numbers", tool: "pay", args: `{"n": 9007199254740993, "x": 1e400}`, called: "pay",
		with: `{"n":9007199254740993,"x":1e400}`},
	{name: "in backticks", tool: "`list`", args: `{}`, called: "list", with: `{}`},
	{name: "parentheses after the name", tool: "`list()`", args: `{}`, called: "list", with: `{}`},
	{name: "in a fence", tool: "```\nlist\n```", args: "```json\n{}\n```", called: "list", with: `{}`},
	{name: "as a text", tool: "send", args: `"{\"to\": \"ann\"}"`, called: "send", with: `{"to":"ann"}`},
	{name: "parentheses in a member", tool: `fs["read (old)"]`, called: `fs["read (old)"]`, with: `{}`},
	{name: "a call", tool: "send", args: `send({"to": "ann"})`,
		wrong: `the field "args": it is not one JSON object: line 1 has 's' instead of a value`},
	{name: "words", tool: "send", args: `dear ann`,
		wrong: `the field "args": it is not one JSON object: line 1 has 'd' instead of a value`},
	{name: "a variable in it", tool: "act", args: "{k: `a ${input}`}",
		wrong: `the field "args": it is not one JSON object: a string in it is an expression; write its value`},
	{name: "a list", tool: "send", args: `["ann"]`,
		wrong: `the field "args": it is not one JSON object: write the object that the tool takes`},
	{name: "a number", tool: "send", args: `7`,
		wrong: `the field "args": it is not one JSON object: write the object that the tool takes`},
	{name: "a text that is cut off", tool: "send", args: `"ann`,
		wrong: `the field "args": it is not one JSON object: it ends in the middle of a value`},
	{name: "an object that is cut off", tool: "send", args: `{"to": "ann"`,
		wrong: `the field "args": it is not one JSON object: it ends in the middle of a value`},
	{name: "one name twice", tool: "send", args: `{"to": "ann", "to": "bob"}`,
		wrong: `the field "args": it is not one JSON object: the value of "to" is given twice`},
	{name: "two objects", tool: "send", args: `{} {}`,
		wrong: `the field "args": it is not one JSON object: line 1 has '{' instead of the end`},
	{name: "undefined of JavaScript", tool: "list", args: "undefined", called: "list", with: `{}`},
	{name: "single quotes", tool: "send", args: `{'to': 'ann'}`, called: "send", with: `{"to":"ann"}`},
	{name: "bare names", tool: "send", args: `{to: 'ann'}`, called: "send", with: `{"to":"ann"}`},
	{name: "a trailing comma", tool: "send", args: `{"to":"ann",}`, called: "send", with: `{"to":"ann"}`},
	{name: "a Python literal", tool: "send", args: `{"now": True, "to": None}`, called: "send",
		with: `{"now":true,"to":null}`},
	{name: "a comment", tool: "act", args: `{"k": "a" /* the key */}`, called: "act", with: `{"k":"a"}`},
	{name: "half of a character", tool: "act", args: `{"k": "a\ud83d"}`,
		wrong: `the field "args": it is not one JSON object: a string in it contains an unpaired surrogate ` +
			`escape, or an escape that JSON does not have; write the character itself, and a backslash as \\`},
}

// replied has the values of a reply.
func replied(tool, args string) signature.Values {
	values := signature.Values{{Name: "tool", JSON: Quote(tool)}}
	switch {
	case args == "":
	case json.Valid([]byte(args)):
		values = append(values, signature.Value{Name: "args", JSON: json.RawMessage(args)})
	default:
		values = append(values, signature.Value{Name: "args", JSON: Quote(args)})
	}
	return values
}

func TestAction(t *testing.T) {
	t.Parallel()
	for _, c := range written {
		got, err := ReadAction(replied(c.tool, c.args))
		switch {
		case c.wrong != "":
			if err == nil || err.Error() != c.wrong {
				t.Errorf("%s: got %+v and %v, want %s", c.name, got, err, c.wrong)
			}
		case err != nil || got.Tool != c.called || string(got.Args) != c.with:
			t.Errorf("%s: got %s with %s and %v", c.name, got.Tool, got.Args, err)
		}
	}
}

// Whatever a reply says, the arguments are one object with everything that was given.
func FuzzAction(f *testing.F) {
	for _, c := range written {
		f.Add(c.tool, c.args)
	}
	f.Fuzz(func(t *testing.T, tool, args string) {
		if !utf8.ValidString(tool) || !utf8.ValidString(args) {
			return // not JSON
		}
		got, err := ReadAction(replied(tool, args))
		if err != nil {
			if got.Tool != "" || got.Args != nil || err.Error() == "" {
				t.Errorf("got both %+v and %v", got, err)
			}
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(got.Args, &object); err != nil || object == nil {
			t.Errorf("the arguments %s are not an object: %v", got.Args, err)
		}
		if !strings.Contains(tool, got.Tool) {
			t.Errorf("%q does not come from %q", got.Tool, tool)
		}
		again, err := ReadAction(replied(got.Tool, string(got.Args)))
		if err == nil && len(object) > 0 && string(again.Args) != string(got.Args) {
			t.Errorf("%s becomes %s", got.Args, again.Args)
		}
	})
}

package replies

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

const words = "the arguments after the name of the tool: it is not one JSON object: words without quotes may be " +
	"the names of variables; put them in args"

var written = []struct{ name, tool, args, called, with, wrong string }{
	{name: "the requested form", tool: "mail.send", args: `{"to": "ann"}`, called: "mail.send", with: `{"to":"ann"}`},
	{name: "no arguments", tool: "list", called: "list", with: `{}`},
	{name: "null", tool: "list", args: `null`, called: "list", with: `{}`},
	{name: "exact numbers", tool: "pay", args: `{"n": 9007199254740993, "x": 1e400}`, called: "pay",
		with: `{"n":9007199254740993,"x":1e400}`},
	{name: "in backticks", tool: "`list`", args: `{}`, called: "list", with: `{}`},
	{name: "in a fence", tool: "```\nlist\n```", args: "```json\n{}\n```", called: "list", with: `{}`},
	{name: "as a text", tool: "send", args: `"{\"to\": \"ann\"}"`, called: "send", with: `{"to":"ann"}`},
	{name: "as an expression", tool: `await mail.send({"to": "a(n)n"});`, called: "mail.send", with: `{"to":"a(n)n"}`},
	{name: "as an expression of a member", tool: `fs["read/file"]({"path": "/"})`, called: `fs["read/file"]`,
		with: `{"path":"/"}`},
	{name: "parentheses in a member", tool: `fs["read (old)"]`, called: `fs["read (old)"]`, with: `{}`},
	{name: "as an expression without arguments", tool: "list()", args: `{"n": 1}`, called: "list", with: `{"n":1}`},
	{name: "twice", tool: `send({"to": "ann"})`, args: `{"to": "bob"}`,
		wrong: "there are arguments both after the name of the tool and in args; put them in args"},
	{name: "a list", tool: "send", args: `["ann"]`,
		wrong: `the field "args": it is not one JSON object: write the object that the tool takes`},
	{name: "a text", tool: "greet", args: `dear "ann"`, called: "greet", with: `"dear \"ann\""`},
	{name: "a text as an expression", tool: `greet("ann")`, called: "greet", with: `"ann"`},
	{name: "a number", tool: "send", args: `7`,
		wrong: `the field "args": it is not one JSON object: write the object that the tool takes`},
	{name: "a text that is cut off", tool: "send", args: `"ann`,
		wrong: `the field "args": it is not one JSON object: it ends in the middle of a value`},
	{name: "an object that is cut off", tool: "send", args: `{"to": "ann"`,
		wrong: `the field "args": it is not one JSON object: it ends in the middle of a value`},
	{name: "one name twice", tool: "send", args: `{"to": "ann", "to": "bob"}`,
		wrong: `the field "args": it is not one JSON object: the value of "to" is given twice`},
	{name: "two objects", tool: "send", args: `{} {}`,
		wrong: `the field "args": it is not one JSON object: there is '{' in line 1 where the end was expected`},
	{name: "JavaScript", tool: "send({to: 'ann'})", called: "send", with: `{"to":"ann"}`},
	{name: "None of Python", tool: "list(None)", called: "list", with: `{}`},
	{name: "undefined of JavaScript", tool: "list", args: "undefined", called: "list", with: `{}`},
	{name: "single quotes", tool: "send", args: `{'to': 'ann'}`, called: "send", with: `{"to":"ann"}`},
	{name: "bare names", tool: "send", args: `{to: 'ann'}`, called: "send", with: `{"to":"ann"}`},
	{name: "a trailing comma", tool: "send", args: `{"to":"ann",}`, called: "send", with: `{"to":"ann"}`},
	{name: "a Python literal", tool: "send", args: `{"now": True, "to": None}`, called: "send",
		with: `{"now":true,"to":null}`},
	{name: "in Python's quotes", tool: "greet('ann')", called: "greet", with: `"ann"`},
	{name: "the call repeated", tool: "send", args: `send({"to": "ann"})`, called: "send", with: `{"to":"ann"}`},
	{name: "the call twice", tool: `send({"to": "bob"})`, args: `send({"to": "ann"})`,
		wrong: "there are arguments both after the name of the tool and in args; put them in args"},
	{name: "another call as a text", tool: "calculate", args: "sqrt(2)", called: "calculate", with: `"sqrt(2)"`},
	{name: "two calls", tool: "act(a) and then act(b)", wrong: words},
	{name: "two calls with quotes", tool: `act("a") and then act("b")`,
		wrong: "the arguments after the name of the tool: it is not one JSON object: there is ')' in line 1 where the " +
			"end was expected; put them in args"},
	{name: "two arguments", tool: `act("a", "b")`,
		wrong: "the arguments after the name of the tool: it is not one JSON object: there is ',' in line 1 where the " +
			"end was expected; put them in args"},
	{name: "a variable", tool: "act(input.k)", wrong: words},
	{name: "an ellipsis", tool: "act(...)", wrong: words},
	{name: "a placeholder", tool: "act(<k>)", wrong: words},
	{name: "a variable in an object", tool: "act({k: input})",
		wrong: "the arguments after the name of the tool: it is not one JSON object: there is 'i' in line 1 where a " +
			"value was expected; put them in args"},
	{name: "a variable in a text", tool: "act({k: `a ${input}`})",
		wrong: "the arguments after the name of the tool: it is not one JSON object: a text in it is to be computed; " +
			"write it out; put them in args"},
	{name: "an unterminated text", tool: `act("a" + b)`,
		wrong: "the arguments after the name of the tool: it is not one JSON object: there is '+' in line 1 where the " +
			"end was expected; put them in args"},
	{name: "a comment", tool: "act", args: `{"k": "a" /* the key */}`, called: "act", with: `{"k":"a"}`},
	{name: "half of a character", tool: "act", args: `{"k": "a\ud83d"}`,
		wrong: `the field "args": it is not one JSON object: a text in it has half of a character, or an escape that ` +
			`JSON does not know; write the character itself, and a backslash as \\`},
	{name: "half of a character in Python", tool: `act({'k': 'a\ud83d'})`,
		wrong: `the arguments after the name of the tool: it is not one JSON object: a text in it has half of a ` +
			`character, or an escape that JSON does not know; write the character itself, and a backslash as \\; put ` +
			`them in args`},
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

var (
	oneText = json.RawMessage(`{"properties": {"k": {"type": "string"}}, "required": ["k"]}`)
	binding = &tools.Binding{Tool: &tools.Tool{InputSchema: oneText}}
)

// Whatever a reply says, the arguments are one object with everything that was given, or a text.
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
		var text string
		var only struct{ K *string }
		if args, err := got.For(oneText, binding.Named(got.Args), textField); err == nil && got.Args[0] == '"' &&
			(json.Unmarshal(args, &only) != nil || only.K == nil) {
			t.Errorf("the text %s becomes %s", got.Args, args)
		}
		if json.Unmarshal(got.Args, &text) == nil {
			return
		}
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

func textField(name string) signature.Field {
	f, _ := programQuestion.Spec().Field("code")
	f.Name = name
	return f
}

package replies_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
)

const (
	unclosed = "the code fence is not closed, so the program may be cut off; write it whole"
	noCode   = "the reply has no program; put it under [[ ## code ## ]]"
	two      = "there is more than one fenced program under [[ ## code ## ]]; put it into one code fence and nothing beside it. A program that has fences in its texts needs a longer fence around it"
)

var programs = []struct{ name, reply, code, reasoning, wrong string }{
	{name: "as asked for", reply: "[[ ## reasoning ## ]]\nwhy\n[[ ## code ## ]]\n```js\na()\n```" + end, code: "a()", reasoning: "why"},
	{name: "no fence", reply: "[[ ## code ## ]]\na()\nb()" + end, code: "a()\nb()"},
	{name: "no end", reply: "[[ ## code ## ]]\n```js\na()\n```", code: "a()"},
	{name: "neither", reply: "[[ ## code ## ]]\na()", wrong: "nothing says where the program ends; put it into a code fence, and the end marker behind it"},
	{name: "fence not closed", reply: "[[ ## code ## ]]\n```js\na()", wrong: unclosed},
	{name: "fence not closed, but ended", reply: "[[ ## code ## ]]\n```js\na()" + end, code: "a()"},
	{name: "end in the fence", reply: "[[ ## code ## ]]\n```js\na()" + end + "\n```", code: "a()"},
	{name: "end in a longer fence", reply: "[[ ## code ## ]]\n````js\na()" + end + "\n````\n", code: "a()"},
	{name: "two under the marker", reply: "[[ ## code ## ]]\n```js\na()\n```\n```js\nb()\n```" + end, wrong: two},
	{name: "prose beside the fence", reply: "[[ ## code ## ]]\n```js\na()\n```\nor b()" + end, wrong: two},
	{name: "prose before the fence", reply: "[[ ## code ## ]]\nHere:\n```js\na()\n```" + end, code: "a()"},
	{name: "code before the fence", reply: "[[ ## code ## ]]\nb():\n```js\na()\n```" + end, wrong: two},
	{name: "JSON, loosely", reply: "{code: 'a()', // as asked\n}", code: "a()"},
	{name: "JSON, cut off", reply: `{"code": "a()"`, wrong: noCode},
	{name: "JSON, fenced, with a fence", reply: "```json\n{\"code\": \"```js\\na()\\n```\"}\n```", code: "a()"},
	{name: "fence of tildes", reply: "[[ ## code ## ]]\n~~~js\na()\n~~~" + end, code: "a()"},
	{name: "markers in another case", reply: "[[ ## CODE ## ]]\n```node\na()\n```" + end, code: "a()"},
	{name: "fence as text, in a longer one", reply: "[[ ## code ## ]]\n````js\na(`\n```js\nb()\n```\n`)\n````" + end, code: "a(`\n```js\nb()\n```\n`)"},
	{name: "fence as text, in an equal one", reply: "[[ ## code ## ]]\n```js\na(`\n```\nb()\n```\n`)\n```" + end, wrong: two},
	{name: "fence as text, in none", reply: "[[ ## code ## ]]\na(`\n```\nb()\n```\n`)" + end, wrong: two},
	{name: "marker as text", reply: "[[ ## code ## ]]\n```js\na('[[ ## code ## ]]')\n```" + end, code: "a('[[ ## code ## ]]')"},
	{name: "end marker as a line of a text", reply: "[[ ## code ## ]]\n```js\na(`\n[[ ## completed ## ]]\n`); b()\n```" + end, wrong: "[[ ## completed ## ]] stands twice; write a text that contains it as a JSON string"},
	{name: "end marker as a line of a text, twice", reply: "[[ ## code ## ]]\na()\n//`" + end + "\n`" + end, wrong: "[[ ## completed ## ]] stands twice; write a text that contains it as a JSON string"},
	{name: "another marker as a line of a text", reply: "[[ ## code ## ]]\n```js\na(`\n[[ ## x ## ]]\n`)\n```" + end, wrong: `there is no field "x"; leave the marker out, or write the text that contains it as a JSON string`},
	{name: "two markers", reply: "[[ ## code ## ]]\na()\n[[ ## code ## ]]\nb()" + end, wrong: `the field "code" is given twice, with different values; give it once`},
	{name: "the form", reply: "[[ ## code ## ]]\n{code}" + end, wrong: noCode},
	{name: "JSON string", reply: "[[ ## code ## ]]\n\"a()\\nb()\"" + end, code: "a()\nb()"},
	{name: "empty", reply: "[[ ## code ## ]]\n```js\n\n```" + end, wrong: "the program is empty"},
	{name: "only a fence", reply: "```\na()\n```", code: "a()"},
	{name: "prose and a fence", reply: "So:\n```JavaScript\na()\n```\nDone.", code: "a()", reasoning: "So:"},
	{name: "reasoning marked, code not", reply: "[[ ## reasoning ## ]]\nwhy\n```js\na()\n```", wrong: "there is nothing under [[ ## code ## ]]; put the program there"},
	{name: "another language marked", reply: "[[ ## code ## ]]\n```python\na()\n```\n[[ ## completed ## ]]", wrong: "the program is said to be python; write JavaScript"},
	{name: "a fence that may be an example", reply: "Such as:\n```\na()\n```", wrong: "it is not certain that the text in the code fence is a program to run; put it under [[ ## code ## ]]"},
	{name: "another language beside", reply: "Given\n```json\n{\"a\": 1}\n```\nI run\n```js\na()\n```", code: "a()", reasoning: "Given"},
	{name: "another language", reply: "```python\na()\n```", wrong: "the reply has a code fence of python, but no program in JavaScript; put it under [[ ## code ## ]]"},
	{name: "two fences", reply: "```js\na()\n```\nor\n```\nb()\n```", wrong: "the reply has several programs; put the one to run under [[ ## code ## ]]"},
	{name: "second fence open", reply: "```js\na()\n```\nor\n```\nb()", wrong: unclosed},
	{name: "JSON", reply: `{"code": "a()", "reasoning": "why"}`, code: "a()", reasoning: "why"},
	{name: "JSON with two programs", reply: `{"code": "a()", "code": "b()"}`, wrong: noCode},
	{name: "JSON within a program", reply: "```js\na({\"code\": \"b()\"})\n```", code: `a({"code": "b()"})`},
	{name: "an answer as JSON", reply: `{"total": 3}`, wrong: noCode},
	{name: "think tag as text", reply: "[[ ## code ## ]]\n```js\na('</think>')\n```" + end, code: "a('</think>')"},
	{name: "CRLF", reply: "[[ ## code ## ]]\r\n```js\r\na()\r\nb()\r\n```\r\n[[ ## completed ## ]]", code: "a()\nb()"},
	{name: "second thoughts", reply: "[[ ## code ## ]]\na()" + end + "\nWait, b() should come first.", wrong: replies.ErrRethought.Error()},
	{name: "second thoughts behind a fence", reply: "```js\na()\n```\nOops, that is wrong.", wrong: replies.ErrRethought.Error()},
	{name: "another program behind", reply: "[[ ## code ## ]]\na()" + end + "\n```js\nb()\n```", wrong: replies.ErrRethought.Error()},
	{name: "remark behind", reply: "[[ ## code ## ]]\na()" + end + "\nThis waits for a and prints it.", code: "a()"},
	{name: "null", reply: "[[ ## code ## ]]\nnull" + end, wrong: "the program has a placeholder or comments, and nothing else; write it out"},
	{name: "nothing", reply: "\n", wrong: "the reply is empty"},
	{name: "prose", reply: "I cannot.", wrong: noCode},
}

func TestReadProgram(t *testing.T) {
	t.Parallel()
	for _, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := replies.ReadProgram(c.reply, false, replies.Markers)
			wrong := ""
			if err != nil {
				p, wrong = replies.Program{}, err.Error()
			}
			if p.Code != c.code || p.Reasoning != c.reasoning || wrong != c.wrong {
				t.Errorf("got  %q %q %s\nwant %q %q %s", p.Code, p.Reasoning, wrong, c.code, c.reasoning, c.wrong)
			}
		})
	}
}

func TestReadProgramTruncated(t *testing.T) {
	t.Parallel()
	for _, c := range programs {
		p, err := replies.ReadProgram(c.reply, true, replies.Markers)
		if err == nil && !strings.Contains(c.reply, "completed") {
			t.Errorf("%s: %q would run, but may not be whole", c.name, p.Code)
		}
	}
}

// FuzzReadProgram holds that what runs is what was written: under the marker in
// a fence that is long enough, any program comes through or is refused; and of
// any reply at all, nothing runs that does not stand in it as it is.
func FuzzReadProgram(f *testing.F) {
	for _, c := range programs {
		f.Add(c.reply)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fence := "```"
		for strings.Contains(text, fence) {
			fence += "`"
		}
		reply := "[[ ## code ## ]]\n" + fence + "js\n" + text + "\n" + fence + end
		normal := strings.TrimSuffix(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd")+"\n", "\r\n", "\n"), "\n")
		if p, err := replies.ReadProgram(reply, false, replies.Markers); err == nil && p.Code != normal {
			t.Fatalf("%q was read as %q", text, p.Code)
		}
		p, err := replies.ReadProgram(text, false, replies.Markers)
		if err != nil || strings.Contains(normal, p.Code) {
			return
		}
		if !strings.ContainsAny(text, `"{`) { // else it was JSON, or spans an end marker
			t.Fatalf("of %q would run %q", text, p.Code)
		}
	})
}

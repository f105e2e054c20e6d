package replies_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/sandbox"
)

const (
	unclosed = "the code fence is not closed, so the program may be cut off; write it whole. If the program has fences " +
		"in its strings, put a longer fence around it"
	none    = "the reply has no program; write it in one ```js block"
	several = "the reply has several programs; join them or choose one, and write it in one ```js block"
	empty   = "the program is empty; write it in one ```js block"
	end     = "\n[[ ## completed ## ]]"
)

var programs = []struct{ name, reply, reasoning, code, wrong string }{
	{name: "the requested form", reply: "I add up.\n\n```js\na()\n```", reasoning: "I add up.", code: "a()"},
	{name: "alone", reply: "```js\na()\nb()\n```", code: "a()\nb()"},
	{name: "TypeScript", reply: "```typescript\na()\n```", code: "a()"},
	{name: "no language", reply: "So:\n```\na()\n```", reasoning: "So:", code: "a()"},
	{name: "text after it", reply: "So:\n```JavaScript\na()\n```\nThis prints 3.", reasoning: "So:", code: "a()"},
	{name: "tildes", reply: "~~~js\na()\n~~~", code: "a()"},
	{name: "another language next to it", reply: "Given\n```json\n{\"a\": 1}\n```\nI run\n```js\na()\n```",
		reasoning: "Given\n```json\n{\"a\": 1}\n```\nI run", code: "a()"},
	{name: "its output in a block", reply: "```js\na()\n```\nOutput:\n```\n1 2 3\n```", code: "a()"},
	{name: "the same twice", reply: "```js\na()\n```\nAgain:\n```js\na()\n```", code: "a()"},
	{name: "two", reply: "```js\na()\n```\nor\n```js\nb()\n```", wrong: several},
	{name: "two without a language", reply: "```\na()\n```\nor\n```\nb()\n```", wrong: several},
	{name: "one with and one without a language", reply: "```js\na()\n```\nor\n```\nb()\n```", wrong: several},
	{name: "cut off", reply: "```js\na()", wrong: unclosed},
	{name: "the second cut off", reply: "```js\na()\n```\nor\n```\nb()", wrong: unclosed},
	{name: "another language", reply: "```python\na()\n```",
		wrong: "the reply has a code fence of python, but no program in JavaScript; write it in one ```js block"},
	{name: "no fence", reply: "const x = await a();\nsubmit({x});", code: "const x = await a();\nsubmit({x});"},
	{name: "a return", reply: "return a()", code: "return a()"},
	{name: "an expression without a call", reply: "a + b", wrong: none},
	{name: "prose", reply: "I cannot.", wrong: none},
	{name: "an answer as JSON", reply: `{"total": 3}`, wrong: none},
	{name: "a longer fence", reply: "````js\na(`\n```js\nb()\n```\n`)\n````", code: "a(`\n```js\nb()\n```\n`)"},
	// The sandbox's check refuses this program.
	{name: "an equal fence", reply: "```js\na(`\n```\nb()\n```\n`)\n```", code: "a(`"},
	{name: "empty", reply: "```js\n\n```", wrong: empty},
	{name: "the placeholder", reply: "{reasoning}\n\n```js\n{code}\n```", wrong: empty},
	{name: "the placeholder, then a program", reply: "{reasoning}\n\n```js\n{code}\n```\n\n```js\na()\n```",
		reasoning: "{reasoning}\n\n```js\n{code}\n```", code: "a()"},
	{name: "nothing", reply: "\n", wrong: "the reply is empty"},
	{name: "thoughts", reply: "<think>\n```js\nb()\n```\n</think>\nSo:\n```js\na()\n```", reasoning: "So:", code: "a()"},
	{name: "CRLF", reply: "So:\r\n```js\r\na()\r\nb()\r\n```\r\n", reasoning: "So:", code: "a()\nb()"},
	{name: "markers", reply: "[[ ## reasoning ## ]]\nwhy\n[[ ## code ## ]]\n```js\na()\n```" + end, reasoning: "why",
		code: "a()"},
	{name: "markers in a fence", reply: "````\n[[ ## reasoning ## ]]\nwhy\n[[ ## code ## ]]\n```js\na()\n```" + end + "\n````",
		reasoning: "why", code: "a()"},
	{name: "quoted markers and program", reply: "````js\n/*\n[[ ## code ## ]]\n```js\nb()\n```\n*/\na()\n````",
		code: "/*\n[[ ## code ## ]]\n```js\nb()\n```\n*/\na()"},
	{name: "an error in the prose", reply: "It failed: {\"code\": \"not_found\"}.\n```js\na()\n```",
		reasoning: "It failed: {\"code\": \"not_found\"}.", code: "a()"},
	{name: "markers in a fence, code without one", reply: "```\n[[ ## code ## ]]\na()" + end + "\n```", wrong: none},
	{name: "end marker in the fence", reply: "[[ ## code ## ]]\n```js\na()" + end + "\n```", code: "a()"},
	{name: "marker as text", reply: "```js\na(`\n[[ ## code ## ]]\n`)\n```", code: "a(`\n[[ ## code ## ]]\n`)"},
	{name: "JSON with two programs", reply: `{"code": "a()", "code": "b()"}`, wrong: none},
	{name: "JSON next to a program", reply: "{\"code\": \"a()\"}\n```js\nb()\n```", wrong: several},
	{name: "JSON in a program", reply: "```js\na({\"code\": \"b()\"})\n```", code: `a({"code": "b()"})`},
}

// readProgram reads a program as modules do: the sandbox's check decides about a reply without a fence.
func readProgram(t testing.TB, box *sandbox.Sandbox, reply string, truncated bool) (replies.ProgramReply, error) {
	t.Helper()
	p, err := replies.ReadProgram(reply, truncated)
	if err == nil || p.Code == "" {
		return p, err
	}
	result, failed := box.Check(t.Context(), sandbox.Program{Source: p.Code})
	if failed != nil {
		t.Fatal(failed)
	}
	if result.Acts {
		err = nil
	}
	return p, err
}

func newSandbox(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

func TestReadProgram(t *testing.T) {
	t.Parallel()
	box := newSandbox(t)
	for _, c := range programs {
		p, err := readProgram(t, box, c.reply, false)
		wrong := ""
		if err != nil {
			p, wrong = replies.ProgramReply{}, err.Error()
		}
		if p.Code != c.code || p.Reasoning != c.reasoning || wrong != c.wrong {
			t.Errorf("%s: got  %q %q %s\nwant %q %q %s", c.name, p.Code, p.Reasoning, wrong, c.code, c.reasoning, c.wrong)
		}
	}
}

// TestReadProgramTruncated checks that no part of a program runs if the reply was cut off anywhere
// in it.
func TestReadProgramTruncated(t *testing.T) {
	t.Parallel()
	for _, c := range programs {
		for n := range len(c.reply) + 1 {
			p, err := replies.ReadProgram(c.reply[:n], true)
			if err == nil && p.Code != c.code {
				t.Errorf("%s: %q would run, a part of %q", c.name, p.Code, c.reply[:n])
			}
		}
	}
}

// FuzzReadProgram checks that a program is read as it was written, and that nothing runs that is
// not part of the reply.
func FuzzReadProgram(f *testing.F) {
	for _, c := range programs {
		f.Add(c.reply)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
		written := replies.Fenced("js", text)
		if p, err := replies.ReadProgram(written, false); err == nil && !strings.Contains(written, p.Code) {
			t.Fatalf("%q was read as %q", written, p.Code)
		}
		p, err := replies.ReadProgram(text, false)
		if err == nil && !strings.Contains(text, p.Code) && !strings.Contains(text, "{") { // otherwise it was JSON
			t.Fatalf("a part of %q would run: %q", text, p.Code)
		}
	})
}

package prompt

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/internal/replies"
	"github.com/writ-go/writ/signature"
)

type ask struct {
	Text string `json:"text" jsonschema:"description=what the customer wrote"`
}

type found struct {
	Due   string   `json:"due" jsonschema:"format=date"`
	Names []string `json:"names"`
	Note  string   `json:"note,omitempty"`
}

const fieldsOfFound = `Find what is due.

Inputs:
- text: string /* what the customer wrote */
Outputs:
- due: string /* date */
- names: string[]
- note?: string

`

// The system prompts that TestForms expects.
var (
	wantedMarkers = unfolded(`
Reply in exactly this form, with each value under its marker:

[[ ## due ## ]]
{due}

[[ ## names ## ]]
{names}

[[ ## note ## ]]
{note}

[[ ## completed ## ]]

Write text as it is, and any other value as JSON: 12.5, true, ["a", "b"], {"key": "value"}. Write text that is empty,
  or that has a line like these markers, as a JSON string. A code fence around a value is not part of it. An output
  with ? is optional: if it has no value, leave out its marker. Write a date as 2026-01-31.

A dozen is twelve.
`)
	wantedObject = unfolded(`
Reply with one JSON object whose keys are these outputs. Write nothing else: no comments, no code fence. An output
  with ? is optional: if it has no value, leave it out. Write a date as 2026-01-31.
`)
	wantedNative = strings.Replace(wantedObject, "leave it out", "make it null", 1)
)

// TestForms checks what each form asks for, including optional outputs.
func TestForms(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[ask, found]("Find what is due.")).Spec()
	program := replies.ProgramSpec(spec)
	for _, c := range []struct{ name, got, want string }{
		{"markers", Markers{}.System(spec, "A dozen is twelve."), fieldsOfFound + wantedMarkers},
		{"object", Object{}.System(spec, ""), fieldsOfFound + wantedObject},
		{"native", Native{}.System(spec, ""), fieldsOfFound + wantedNative},
		{"program", Program{}.System(program, ""),
			"Find what is due.\n\nWork in steps. In each reply, write a sentence or two on what to do next and why, " +
				"then the next complete JavaScript program in one ```js block. Write nothing after the block, and never make " +
				"up results.\n"},
		{"calling", Calling(spec, "Work in steps."),
			"Find what is due.\n\nInputs:\n- text: string /* what the customer wrote */\n\nWork in steps.\n"},
		{"reminder of markers", Markers{}.Question(spec, nil),
			"Reply with [[ ## due ## ]], [[ ## names ## ]], [[ ## note ## ]] (optional), and at the end [[ ## completed ## ]]."},
		{"reminder of object", Object{}.Question(spec, nil),
			"Reply with one JSON object and nothing else. Its keys: due, names, note (optional)."},
		{"reminder of program", Program{}.Question(program, nil),
			"Reply with a sentence or two, then one ```js block, and nothing after it."},
	} {
		if c.got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, c.got, c.want)
		}
	}
}

// TestCopiesOfForms checks that a copy of the form that a prompt shows is not accepted as a reply.
func TestCopiesOfForms(t *testing.T) {
	t.Parallel()
	spec := signature.Must(signature.New[ask, found]("")).Spec()
	for name, c := range map[string]struct {
		form  replies.Format
		reply string
	}{
		"markers": {replies.Markers,
			"[[ ## due ## ]]\n{due}\n\n[[ ## names ## ]]\n{names}\n\n[[ ## note ## ]]\n{note}\n\n[[ ## completed ## ]]"},
		"whole prompt": {replies.Markers, Markers{}.System(spec, "")},
		"list":         {replies.Object, list(spec.Outputs())},
	} {
		if values, err := replies.Read(spec, c.reply, false, c.form); err == nil {
			t.Errorf("%s: a copy was read as %v", name, values)
		}
	}
	for _, code := range []string{"{code}", "```js\n{code}\n```"} {
		if p, err := replies.ReadProgram(code, false); err == nil {
			t.Errorf("a copy was read as the program %q", p.Code)
		}
	}
}

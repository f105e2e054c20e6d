package replies

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Whole replies as models write them, of security, support, payments and moderation, where
// the words of refusals are those of the task.
func TestProgramsBesideProse(t *testing.T) {
	t.Parallel()
	for kind, runs := range map[string]bool{"meant": true, "needless": false, "unmeant": false} {
		archive, err := txtar.ParseFile("testdata/programs/" + kind + ".txtar")
		if err != nil || len(archive.Files) == 0 {
			t.Fatal(kind, err)
		}
		for _, f := range archive.Files {
			if p, err := ReadProgram(string(f.Data), false, Markers); (err == nil) != runs {
				t.Errorf("%s/%s: got %+v, %v", kind, f.Name, p, err)
			}
		}
	}
}

// A reasoning weighs what stands beside a program elsewhere: what is meant there is meant
// as a reasoning, too.
func TestProgramsWithReasoning(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/programs/meant.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		before, behind := besideFence(string(f.Data))
		for _, said := range []string{before, behind} {
			if text := strings.Trim(said, "`\n"); withdrawn(text) {
				t.Errorf("%s: %s", f.Name, text)
			}
		}
	}
}

// Nobody explains a program at such length, and what is said there is not looked through:
// it is asked for alone. A reasoning may be long, and withdraws it at an end.
func TestLongTalk(t *testing.T) {
	t.Parallel()
	const program = "```js\nsend()\n```"
	for n, runs := range map[int]bool{1000: true, 6000: false} {
		said := strings.Repeat("The orders.\n", n)
		for _, reply := range []string{said + program, program + "\n" + said} {
			if _, err := ReadProgram(reply, false, Markers); (err == nil) != runs {
				t.Errorf("%d: %v", n, err)
			}
		}
		reasoned := "[[ ## reasoning ## ]]\n" + said + "LAST\n\n[[ ## code ## ]]\n" + program + "\n\n[[ ## completed ## ]]"
		if _, err := ReadProgram(reasoned, false, Markers); err != nil {
			t.Errorf("%d: %v", n, err)
		}
		if _, err := ReadProgram(strings.Replace(reasoned, "LAST", "I won't run this.", 1), false, Markers); err == nil {
			t.Errorf("%d: is run", n)
		}
	}
}

// Programs that a reply refuses, quotes or asks about are not run; those that it
// explains are.
func TestDisownedPrograms(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"The page says to run:\nCODE\nThat looks like an injection, so I will not do that.",
		"The document contains an instruction to run this, which I refuse:\nCODE",
		"I was asked by the tool result to run this:\nCODE\nI won't.",
		"The tool's output contained the following code, which I ignore:\n\nCODE",
		"The result quoted this program:\n\nCODE",
		"Here is what the web page told me to execute:\n\nCODE",
		"The failed program was:\n\nCODE\n\nI cannot mend it without more information.",
		"An example of what must not be done:\nCODE",
		"I'd suggest, once you approve:\nCODE",
		"Let me know if I may run this:\nCODE",
		"I’m not going to run it.\nCODE",
		"CODE\nShould I run it?",
		"Before I run the following, please confirm the recipient.\nCODE",
		"The text holds it.\n\n[[ ## code ## ]]\nCODE\n[[ ## completed ## ]]\n\nThat is what the attacker wants.",
		"[[ ## code ## ]]\nThe page says to run:\nCODE\n[[ ## completed ## ]]",
		"[[ ## reasoning ## ]]\nI cannot run this without your permission.\n\n[[ ## code ## ]]\nCODE\n\n[[ ## completed ## ]]",
		"The page says, and I refuse:\n<code>\nsend()\n</code>",
	} {
		if p, err := ReadProgram(strings.ReplaceAll(reply, "CODE", "```js\nsend()\n```"), false, Markers); err == nil {
			t.Errorf("%s: got %s", reply, p.Code)
		}
	}
	for _, reply := range []string{
		"I look the order up. If it is late, I don't refund it yet.\nCODE",
		"The file contains 3 orders, so I refund the first:\nCODE",
		"The user wants me to send this mail:\nCODE",
		"The result says that it is late. I should not refund it before I know why. Let me look:\nCODE",
		"To confirm the address I read the file first, and then send.\nCODE",
		"Let me read the file's text to find this value.\nCODE",
		"The tool returned an error, so this program handles it:\nCODE",
		"CODE\nThis sends it and does not change anything else.",
		"CODE\nThe result will tell which to refund.",
		"[[ ## reasoning ## ]]\nThe page asks me to send another, which I refuse.\n\n[[ ## code ## ]]\nCODE\n\n[[ ## completed ## ]]",
		"[[ ## reasoning ## ]]\nI cannot run this without the id, so I search for it first.\n\n[[ ## code ## ]]\nCODE\n\n[[ ## completed ## ]]",
		"[[ ## reasoning ## ]]\nWe don't want to run this as root, so the user is set.\n\n[[ ## code ## ]]\nCODE\n\n[[ ## completed ## ]]",
		"[[ ## reasoning ## ]]\nThis call cannot be made until there is a token: the program first logs in.\n\n[[ ## code ## ]]\nCODE\n\n[[ ## completed ## ]]",
	} {
		if p, err := ReadProgram(strings.ReplaceAll(reply, "CODE", "```js\nsend()\n```"), false, Markers); err != nil || p.Code != "send()" {
			t.Errorf("%s: got %+v, %v", reply, p, err)
		}
	}
}

package codemode

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent/codemode/serve"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// saveProgram writes a program for a set of tools to a folder.
func saveProgram(t *testing.T, folder, name, sig, code string, set *tools.Set) {
	t.Helper()
	s, err := signature.Parse(sig, "Mails people.")
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	var text bytes.Buffer
	if err := module.NewProgram(s, module.Script{Code: code}, box, set, nil).Script.Write(&text); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, name+".js"), text.String())
}

// savedOffice has saved programs that call send, list or nothing.
func savedOffice(t *testing.T, o setup) *office {
	t.Helper()
	dir := t.TempDir()
	set := newOffice(t, setup{}).options.Tools
	saveProgram(t, dir, "mail_all", "to: list[str] -> sent: int",
		`for (const name of to) await send({to: name}); submit({sent: to.length})`, set)
	saveProgram(t, dir, "mail_and_fail", "to: str -> sent: int", `await send({to}); throw new Error("no")`, set)
	saveProgram(t, dir, "count", "-> letters: int", `submit({letters: (await list({})).length})`, set)
	saveProgram(t, dir, "forever", "-> letters: int", `for (;;) await sleep(10)`, set)
	o.Programs = dir
	return newOffice(t, o)
}

// Programs find and call saved programs. A retried program does not repeat them, and their errors say what they did.
func TestSavedPrograms(t *testing.T) {
	t.Parallel()
	f := savedOffice(t, setup{})
	session := f.connect("ada")
	e := code(t, session, "", `const hits = await tools.search("mail all people");
const done = await programs.mail_all({to: ["ann", "bob"]}); throw new Error(hits[0].name + done.sent)`)
	if len(e.Diagnostics) != 1 || !strings.Contains(e.Diagnostics[0].Message, "programs.mail_all2") {
		t.Fatalf("got %+v", e)
	}
	e = code(t, session, e.Run,
		`(await programs.mail_all({to: ["ann", "bob"]})).sent + (await programs.count({})).letters`)
	if string(e.Result) != "4" {
		t.Errorf("got %+v", e)
	}
	f.wantSent("ann bob")
	e = code(t, session, "", `await programs.mail_and_fail({to: "eve"})`)
	if len(e.Diagnostics) != 1 || !strings.Contains(e.Diagnostics[0].Message, `send({"to":"eve"}) ok`) {
		t.Errorf("got %+v", e)
	}
	code(t, session, e.Run, `await programs.mail_and_fail({to: "eve"})`)
	f.wantSent("ann bob eve")
	if text := describedExecute(t, session); !strings.Contains(text, "mail_all(args: {to: string[]})") {
		t.Errorf("the description is\n%s", text)
	}
}

// A client can call only the saved programs whose tools it may use.
func TestSavedProgramsOfPrincipals(t *testing.T) {
	t.Parallel()
	f := savedOffice(t, setup{})
	for patterns, want := range map[string]string{
		"list programs.*":          "programs.count programs.forever",
		"list send":                "",
		"send programs.mail_and_*": "programs.mail_and_fail",
	} {
		view, release, err := f.catalog.use(serve.Principal{Name: "eve", Tools: strings.Fields(patterns)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range view.programs.Bindings() {
			if b.Object == "programs" {
				got = append(got, b.Path())
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q", patterns, got)
		}
		release()
	}
}

// All saved programs that a program calls end with its time.
func TestSavedProgramsEnd(t *testing.T) {
	t.Parallel()
	f := savedOffice(t, setup{})
	session := f.connect("ada")
	e := executeCode(t, session, map[string]any{"timeout": 0.5, "code": `
let messages = [];
for (let i = 0; i < 3; i++) try { await programs.forever({}) } catch (e) { messages.push(e.message) }
messages`})
	if n := strings.Count(string(e.Result), "used up its time"); n != 2 {
		t.Errorf("%d programs were not run: %+v", n, e)
	}
}

// A folder that does not exist is an error, and a program without its tools is a warning.
func TestSavedProgramsMissing(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{filepath.Join(t.TempDir(), "no"), os.Args[0]} {
		if s, err := New(&Options{Programs: folder}); err == nil || !strings.Contains(err.Error(), "programs: ") {
			t.Errorf("%s: got %v, %v", folder, s, err)
		}
	}
	f := savedOffice(t, setup{})
	if err := f.SetTools(numbers(t, "send")); err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(f.catalog.current().warnings, "\n")
	for _, want := range []string{
		"mail_all.js is left out: module: the tool send has changed", "the tool list, which the",
	} {
		if !strings.Contains(warnings, want) {
			t.Errorf("the warnings are\n%s", warnings)
		}
	}
}

package module_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// A script survives its file, and its program still runs.
func TestScriptFile(t *testing.T) {
	t.Parallel()
	set := (&office{}).tools(t)
	sig := adding.WithInstructions("Add up.\n\nEven \u2028 if it is\tmuch. */")
	demo, err := module.NewDemo(sig, orders{Limit: 3}, sum{Total: 6})
	if err != nil {
		t.Fatal(err)
	}
	made := module.NewProgram(sig, module.Script{
		Code: "// Two lines:\nsubmit({total: await weigh({limit})});", From: "a test\nof ours", Examples: []module.Demo{demo},
	}, inProcess(t), set, nil).Script
	var file strings.Builder
	if err := made.Write(&file); err != nil {
		t.Fatal(err)
	}
	const want = `// @program 1, for a module of github.com/writ-go/writ. The program runs only while its signature and the
// schemas of its tools are what these lines say. Delete them to make it a new program.
// @signature limit: int(ge=1) -> total: int
// @instructions Add up.
// @instructions Even   if it is	much. */
// @tool b55415d0 weigh(args: {limit: number /* integer */}): number
// @from a test of ours
// @example {"inputs":{"limit":3},"outputs":{"total":6}}

// Two lines:
submit({total: await weigh({limit})});
`
	if file.String() != want {
		t.Errorf("got\n%s\nwant\n%s", file.String(), want)
	}
	for name, text := range map[string]string{"unix": want, "windows": strings.ReplaceAll(want, "\n", "\r\n")} {
		read, err := module.ReadScript(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		p := module.NewProgram(sig, read, inProcess(t), set, nil)
		if pred, err := p.Run(t.Context(), anything); err != nil || pred.Output.Total != 2 {
			t.Errorf("%s: got %v, %v", name, pred, err)
		}
		var again strings.Builder
		if err := read.Write(&again); err != nil || name == "unix" && again.String() != want {
			t.Errorf("%s: written again, it is\n%s", name, again.String())
		}
	}
	read, err := module.ReadScript(strings.NewReader("// A comment\nsubmit({total: 1})\n// @tool is no entry here"))
	if err != nil || read.Signature != "" || !strings.HasPrefix(read.Code, "// A comment") {
		t.Errorf("a new program: %+v, %v", read, err)
	}
}

// A file that cannot be read is reported with its line.
func TestScriptErrors(t *testing.T) {
	t.Parallel()
	const title = "// @program 1, title\n"
	for text, want := range map[string]string{
		"// @program 2, title\n":                 `line 1: @program: the file has version "2", but this version of Writ reads `,
		title + "// @signature a ->\n":           "line 2: @signature: ",
		title + "//\n// @tool 1234\n":            "line 3: @tool: the declaration of the tool is missing",
		title + "// @example {\n":                "line 2: @example: ",
		title + "// @recipe x\n":                 "line 2: @recipe: unknown entry",
		title + "// @from here\n\nsubmit()":      "the file has no line // @signature",
		title + "// @tool 1 do as I say()\n":     `line 2: @tool: "do as I say" is not a tool name`,
		"// License: MIT\n" + title + "submit()": "line 2: the lines that begin with // @ must follow a first line // @program",
		"\n//\t@signature a -> b\nsubmit()":      "line 2: the lines that begin with // @ must follow a first line // @program",
		strings.Repeat("//\n", 2<<20):            "module: read the script: the file is larger than 4 MB",
	} {
		_, err := module.ReadScript(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v", text[:min(len(text), 50)], err)
		}
	}
}

// What cannot be read is not written.
func TestScriptWriteErrors(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]module.Script{
		"the Script has no Signature; write the field Script of a Program, which has one": {Code: "1"},
		"line 3: @signature: ":     {Signature: "a ->"},
		"line 4: @tool: ":          {Signature: "a -> b", Tools: []string{"hash t"}},
		"the file is larger than ": {Signature: "a -> b", Code: strings.Repeat(" ", 4<<20)},
	} {
		var file strings.Builder
		err := s.Write(&file)
		if err == nil || !strings.HasPrefix(err.Error(), "module: write the script: "+want) || file.Len() > 0 {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A script with many lines is read in a moment; if the time grew with their square, it would take a minute.
func TestScriptManyLines(t *testing.T) {
	t.Parallel()
	title := "// @program 1, title\n// @signature a -> b\n"
	const line, lines = "0123456789abcdef", 100_000
	s, err := module.ReadScript(strings.NewReader(title + strings.Repeat("// @instructions "+line+"\n", lines)))
	if err != nil || len(s.Instructions) != lines*(len(line)+1)-1 {
		t.Errorf("%d bytes, %v", len(s.Instructions), err)
	}
}

// Texts for people are not part of what a program depends on; everything else is.
func TestScriptSchemas(t *testing.T) {
	t.Parallel()
	hash := func(input, output string) string {
		tool := &tools.Tool{Name: "t", InputSchema: json.RawMessage(input), OutputSchema: json.RawMessage(output),
			Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }}
		p := module.NewProgram(adding, module.Script{Code: `await t({})`}, inProcess(t), toolSet(t, tool), nil)
		if len(p.Script.Tools) != 1 {
			t.Fatalf("the tools are %v", p.Script.Tools)
		}
		schemas, _, _ := strings.Cut(p.Script.Tools[0], " ")
		return schemas
	}
	const input = `{"type":"object","properties":{"description":{"type":"string"},"b":{"type":"integer"}}}`
	const output = `{"type":"string"}`
	was := hash(input, output)
	for changed, same := range map[[2]string]bool{
		{`{"properties":{"b":{"title":"B","type":"integer"},"description":{"type":"string","description":"what"}},
			"description":"all", "type":"object"}`, output}: true,
		{input, `{"type":"string","examples":["x"]}`}:                                           true,
		{`{"type":"object","properties":{"b":{"type":"integer"}}}`, output}:                     false,
		{strings.Replace(input, "integer", "number", 1), output}:                                false,
		{strings.Replace(input, `"type":"integer"`, `"type":"integer","maximum":3`, 1), output}: false,
		{input, `{"type":"number"}`}:                                                            false,
		{strings.Replace(input, `"type":"integer"`, `"enum":[{"description":1}]`, 1), output}:   false,
	} {
		if got := hash(changed[0], changed[1]) == was; got != same {
			t.Errorf("%s → %s: the same is %v", changed[0], changed[1], got)
		}
	}
}

// The tools of a program are those whose names it has, in any notation.
func TestScriptTools(t *testing.T) {
	t.Parallel()
	answer := func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	set := toolSet(t, &tools.Tool{Name: "weigh", Handler: answer}, &tools.Tool{Name: "größe", Handler: answer},
		&tools.Tool{Namespace: "fs", Name: "read/file", Handler: answer})
	for code, want := range map[string]string{
		`await weigh({})`: "weigh", `weighs; $weigh; weighß`: "", `größe()`: "größe", `// weigh`: "weigh",
		`fs.read_file({})`: "fs.read_file", `fs['read/file']({})`: "fs.read_file", `read_file({})`: "",
	} {
		var got []string
		for _, tool := range module.NewProgram(adding, module.Script{Code: code}, inProcess(t), set, nil).Script.Tools {
			_, declaration, _ := strings.Cut(tool, " ")
			path, _, _ := strings.Cut(declaration, "(")
			got = append(got, path)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q", code, got)
		}
	}
}

// Answers are the same if they are the same in Go.
func TestProgramVerifyForms(t *testing.T) {
	t.Parallel()
	type form struct {
		Price float64 `json:"price"`
		Note  *string `json:"note"`
	}
	sig := signature.Must(signature.New[orders, form]("Look it up."))
	var demo module.Demo
	if err := json.Unmarshal([]byte(`{"inputs":{"limit":1},"outputs":{"price":12.50,"note":null}}`), &demo); err != nil {
		t.Fatal(err)
	}
	for code, same := range map[string]bool{
		`submit({price: 12.5})`: true, `submit({price: 12.5, note: null})`: true,
		`submit({price: 12.51})`: false, `submit({price: 12.5, note: ''})`: false,
	} {
		script := module.Script{Code: code, Examples: []module.Demo{demo}}
		if err := module.NewProgram(sig, script, inProcess(t), nil, nil).Verify(t.Context()); (err == nil) != same {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

// The examples of a script are its tests.
func TestProgramVerify(t *testing.T) {
	t.Parallel()
	demo := func(limit, total int) module.Demo {
		d, err := module.NewDemo(adding, orders{Limit: limit}, sum{Total: total})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	const odd = 1<<53 + 1 // not a float
	script := module.Script{Code: `if (limit > 7) throw 'much';
submit({total: limit < 7 ? await weigh({limit}) : 2 ** 53})`}
	act := module.NewCodeAct(adding, llmtest.New(), inProcess(t), (&office{}).tools(t), nil)
	for want, examples := range map[string][]module.Demo{
		"": {demo(1, 2), demo(3, 6)},
		"module: verify: the Script has no Examples":                                     nil,
		"module: verify example 2: the answer is {\"total\":4} instead of {\"total\":5}": {demo(1, 2), demo(2, 5)},
		"module: verify example 1: the answer is {\"total\":9007199254740992} instead of {\"total\":9007199254740993}": {
			demo(7, odd),
		},
		"module: verify example 1: no answer after 1 step: the compiled program failed and has no fallback: " +
			"uncaught much": {demo(8, 2)},
	} {
		script.Examples = examples
		p := act.Program(script)
		if err := p.Verify(t.Context()); fmt.Sprint(err) != cmp.Or(want, "<nil>") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	sent := 0
	send := tools.Func("send", "", func(context.Context, orders) (int, error) { sent++; return sent, nil }, nil)
	mailing := module.NewProgram(adding, module.Script{
		Code: "submit({total: await send({limit})})", Examples: []module.Demo{demo(1, 1)},
	}, inProcess(t), toolSet(t, send), nil)
	err := mailing.Verify(t.Context())
	if want := "send was not called, since Verify must not have effects; answer the call"; err == nil ||
		!strings.Contains(err.Error(), want) || sent > 0 {
		t.Errorf("got %v, want %s; %d were sent", err, want, sent)
	}
	script.Signature, script.Examples = "limit: int -> total: str", []module.Demo{demo(1, 2), demo(3, 6)}
	err = act.Program(script).Verify(t.Context())
	if err == nil || strings.Count(err.Error(), "the signature has changed") != 1 {
		t.Errorf("after a change: %v", err)
	}
}

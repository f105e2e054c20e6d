package conversationtest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

// attempt is a section of an archive in testdata/evidence: the programs that solve a task over the service of the
// archive, separated by lines with "// ----", after comments of the form "// key: value":
//
//	task:    the question
//	answer:  the correct answer, as JSON
//	mistake: what is wrong with the programs; only in the sections wrong/…
//	fact:    a part of the fact with which their answer must be questioned
//	partial: true if the programs read lists in part on purpose
//
// The sections right/… were written by somebody who did not know the rules of evidence. A model that is questioned
// submits the same answer again.
type attempt struct {
	name, task, answer, mistake, fact string
	partial                           bool
	programs                          []string
}

func readAttempt(f txtar.File) attempt {
	a := attempt{name: f.Name}
	for line := range strings.Lines(string(f.Data)) {
		comment, ok := strings.CutPrefix(line, "// ")
		key, value, isPair := strings.Cut(comment, ": ")
		if !ok || !isPair {
			break
		}
		value = strings.TrimSpace(value)
		switch key {
		case "task":
			a.task = value
		case "answer":
			a.answer = value
		case "mistake":
			a.mistake = value
		case "fact":
			a.fact = value
		case "partial":
			a.partial = value == "true"
		}
	}
	a.programs = strings.Split(string(f.Data), "// ----\n")
	return a
}

// toolsOf loads the tools of a service, which is written in JavaScript.
func toolsOf(t *testing.T, source string) *tools.Set {
	t.Helper()
	vm := goja.New()
	value, err := vm.RunString(source)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // of vm
	all := value.ToObject(vm).Get("tools").ToObject(vm)
	parse, _ := goja.AssertFunction(vm.Get("JSON").ToObject(vm).Get("parse"))
	var list []tools.Source
	for _, name := range all.Keys() {
		tool := all.Get(name).ToObject(vm)
		run, ok := goja.AssertFunction(tool.Get("run"))
		if !ok {
			t.Fatalf("%s has no function run", name)
		}
		made := &tools.Tool{
			Namespace: value.ToObject(vm).Get("name").String(), Name: name, Description: tool.Get("description").String(),
			InputSchema: schemaOf(t, tool.Get("input")), OutputSchema: schemaOf(t, tool.Get("output")),
			Handler: func(_ context.Context, args json.RawMessage) (json.RawMessage, error) {
				mu.Lock()
				defer mu.Unlock()
				value, err := parse(goja.Undefined(), vm.ToValue(string(args)))
				if err == nil {
					value, err = run(tool, value)
				}
				if err != nil {
					message, _ := strings.CutPrefix(err.(*goja.Exception).Value().String(), "Error: ")
					return nil, &tools.ToolError{Kind: tools.KindFailed, Message: message}
				}
				return json.Marshal(value)
			},
		}
		switch reads := tool.Get("readOnly"); {
		case reads != nil && reads.ToBoolean():
			made.Hints.Class = tools.Read
		case reads != nil && !goja.IsNull(reads) && !goja.IsUndefined(reads):
			made.Hints.Class = tools.Effect
		}
		list = append(list, made)
	}
	set, err := tools.NewSet(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func schemaOf(t *testing.T, v goja.Value) json.RawMessage {
	t.Helper()
	if v == nil || goja.IsNull(v) || goja.IsUndefined(v) {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// judged is what became of an attempt.
type judged struct {
	attempt
	service  string
	question string // with which the answer was sent back, or because of which the program was held; "" if there was none
}

// run runs the programs of an attempt.
func (a attempt) run(t *testing.T, source string, box *sandbox.Sandbox) (question string) {
	t.Helper()
	var answer map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.answer), &answer); err != nil {
		t.Fatal(err)
	}
	var fields []string
	for name := range answer {
		fields = append(fields, name+": any")
	}
	slices.Sort(fields)
	sig, err := signature.Parse("question -> "+strings.Join(fields, ", "), "")
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		program := a.programs[min(r.N, len(a.programs))-1]
		if a.mistake == "" && strings.Contains(r.Last(), "submit it again") {
			program = "submit(" + a.answer + ")"
		}
		return llmtest.Reply{Text: "```js\n" + program + "\n```"}, nil
	})
	task, err := json.Marshal(a.task)
	if err != nil {
		t.Fatal(err)
	}
	pred, err := module.NewCodeAct(sig, model, box, toolsOf(t, source), &module.Options{MaxIters: len(a.programs)}).
		Run(t.Context(), signature.Values{{Name: "question", JSON: task}})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range pred.Trajectory.Steps {
		asked := strings.Contains(step.Observation, "it may be wrong") || strings.HasPrefix(step.Observation, "The program was stopped")
		if asked && question == "" {
			question = step.Observation
		} else if !asked && i >= len(a.programs)-1 && step.Observation != "" && question == "" {
			t.Errorf("the program failed:\n%s", step.Observation)
		}
	}
	got, err := json.Marshal(pred.Output)
	if err != nil {
		t.Fatal(err)
	}
	if right := sameValue(t, got, []byte(a.answer)); right != (a.mistake == "") {
		t.Errorf("the answer is %s; correct is %s", got, a.answer)
	}
	return question
}

// sameValue compares JSON values.
func sameValue(t *testing.T, a, b []byte) bool {
	t.Helper()
	var texts [2]string
	for i, raw := range [][]byte{a, b} {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		sorted, _ := json.Marshal(v)
		texts[i] = string(sorted)
	}
	return texts[0] == texts[1]
}

// allEvidence runs every attempt of testdata/evidence.
func allEvidence(t *testing.T, box *sandbox.Sandbox) (list []judged) {
	t.Helper()
	files, err := filepath.Glob(testdata + "evidence/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no archives")
	}
	var mu sync.Mutex
	t.Run("evidence", func(t *testing.T) {
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source, name := string(archive.Files[0].Data), strings.TrimSuffix(filepath.Base(file), ".txtar")
			for _, f := range archive.Files[1:] {
				t.Run(name+"/"+f.Name, func(t *testing.T) {
					t.Parallel()
					j := judged{readAttempt(f), name, ""}
					j.question = j.run(t, source, box)
					if !strings.Contains(j.question, j.fact) || j.mistake != "" && j.fact == "" {
						t.Errorf("the fact is missing: %q; got\n%s", j.fact, j.question)
					}
					mu.Lock()
					defer mu.Unlock()
					list = append(list, j)
				})
			}
		}
	})
	slices.SortFunc(list, func(a, b judged) int { return strings.Compare(a.service+a.name, b.service+b.name) })
	return list
}

// evidenceTable describes which attempts were questioned.
func evidenceTable(list []judged) string {
	var wrong, right, partial, questioned strings.Builder
	counts := map[string]int{}
	for _, j := range list {
		name := j.service + "/" + strings.TrimPrefix(strings.TrimPrefix(j.name, "right/"), "wrong/")
		kind := map[bool]string{true: "right", false: "wrong"}[j.mistake == ""]
		if j.partial {
			kind = "partial"
		}
		counts[kind]++
		if j.question == "" {
			continue
		}
		counts[kind+" questioned"]++
		switch kind {
		case "wrong":
			fmt.Fprintf(&wrong, "| %s | %s | %s |\n", name, j.mistake, strings.ReplaceAll(j.fact, "|", `\|`))
		case "right":
			fmt.Fprintf(&right, "| %s | %s |\n", name, j.task)
		case "partial":
			fmt.Fprintf(&partial, "| %s | %s |\n", name, j.task)
		}
	}
	fmt.Fprintf(&questioned, `
## Evidence

This test runs programs over nine small services (`+"`module/testdata/evidence`"+`). Their answers have the right form,
but some answers are wrong. The test counts how often the facts of a run question an answer. A model that is questioned
submits the same answer again. The wrong programs were written with the rules in mind. The right programs were written
by somebody who knew neither the rules nor the prompt. In two of them, a part that the prompt forbids was changed (for
await, and an effect that is repeated). At first, 20 of the 80 right programs were questioned. The rules were then
corrected with these programs, so the figures below say less about other programs.

In a trial, somebody who knew neither the rules nor these programs wrote replies in the manner of a small, hasty model,
for 20 of the tasks. 9 first answers were wrong. 6 of the wrong answers were questioned, and all 6 were corrected with
the next reply. 3 wrong answers were accepted in silence: the length of an object was read (this is noticed now), a
filter in the wrong case matched nothing, and an answer had another form than the task meant. 1 right answer was
questioned. The replies were imitated: no small model was run.

- wrong programs: %d of %d questioned with the right fact
- right programs: %d of %d questioned
- right programs that read lists in part on purpose: %d of %d questioned
`, counts["wrong questioned"], counts["wrong"], counts["right questioned"], counts["right"],
		counts["partial questioned"], counts["partial"])
	if questions := right.String() + partial.String(); questions != "" {
		questioned.WriteString("\nThese right programs were questioned:\n\n| program | task |\n|---|---|\n" + questions)
	}
	return questioned.String() + "\nThese wrong programs were questioned:\n\n| program | what the model does | fact |\n|---|---|---|\n" + wrong.String()
}

package sandbox_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// TestLanguage runs the programs in testdata/language, which are typical of models, in
// process and isolated. The check refuses only those in refused.txtar; those in
// failing.txtar fail. The values of the others were computed by Node.
func TestLanguage(t *testing.T) {
	t.Parallel()
	boxes := openTiers(t, sandbox.Limits{})
	shops := map[string]*tools.Set{"inprocess": shopTools(t), "isolated": shopTools(t)}
	for _, a := range archivesIn(t, "testdata/language") {
		if *update {
			updateWording(t, a, boxes["inprocess"], shops["inprocess"])
		}
		programs := readLanguage(t, a)
		t.Run(a.name(), func(t *testing.T) {
			t.Parallel()
			for _, p := range programs {
				t.Run(p.name, func(t *testing.T) {
					t.Parallel()
					p.test(t, boxes, shops)
				})
			}
		})
	}
}

// languageProgram is one program of an archive: NAME.js, optionally NAME.inputs, and
// NAME.value, the expected JSON or the word undefined.
//
// If goja deviates, NAME.goja is its value, and the comment of the archive explains why.
// NAME.refused contains the findings of a refused program, NAME.failure the failure, with
// that of V8 in NAME.v8 for comparison, and NAME.warnings the warnings.
type languageProgram struct {
	name, source, value, goja, refused, failure, warnings string

	inputs map[string]any
}

func readLanguage(t *testing.T, archive *archive) []*languageProgram {
	t.Helper()
	var list []*languageProgram
	byName := map[string]*languageProgram{}
	for _, f := range archive.Files {
		ext := filepath.Ext(f.Name)
		name := strings.TrimSuffix(f.Name, ext)
		p := byName[name]
		if p == nil {
			p = &languageProgram{name: name}
			byName[name] = p
			list = append(list, p)
		}
		text := strings.TrimSuffix(string(f.Data), "\n")
		switch ext {
		case ".js":
			p.source = text
		case ".value":
			p.value = text
		case ".goja":
			p.goja = text
		case ".refused":
			p.refused = text
		case ".failure":
			p.failure = text
		case ".warnings":
			p.warnings = text
		case ".v8":
		case ".inputs":
			p.inputs = readInputs(t, f.Data)
		default:
			t.Fatalf("%s: %s has an unknown extension", archive.file, f.Name)
		}
	}
	for _, p := range list {
		if p.source == "" || p.value+p.refused+p.failure+p.warnings == "" {
			t.Fatalf("%s: %s has no program or no value", archive.file, p.name)
		}
		if p.value != "" && p.refused != "" {
			t.Fatalf("%s: %s has both a value and findings", archive.file, p.name)
		}
	}
	return list
}

func readInputs(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	inputs := map[string]any{}
	for name, value := range raw {
		inputs[name] = value
	}
	return inputs
}

func (p *languageProgram) test(t *testing.T, boxes map[string]*sandbox.Sandbox, shops map[string]*tools.Set) {
	for tier, box := range boxes {
		if tier == "isolated" && !sampled(p.name, 4) || !sampled(p.name, 1) {
			continue
		}
		program := sandbox.Program{
			Source: p.source, Inputs: p.inputs, Tools: shops[tier],
			Submit: p.refused == "" && strings.Contains(p.source, "submit("),
		}
		if refused := refusalOf(t, box, program); refused != p.refused {
			t.Errorf("%s: refused: got\n%s\nwant\n%s", tier, refused, p.refused)
		}
		out, err := box.Run(t.Context(), program)
		switch {
		case err != nil:
			t.Fatal(err)
		case p.refused != "":
			if out.Failure == nil || out.Failure.Ran() {
				t.Errorf("%s: it was not refused: %v", tier, out.Failure)
			}
		case out.Failure != nil || p.failure != "":
			if failure := failureOf(out); failure != p.failure {
				t.Errorf("%s: got\n%s\nwant\n%s", tier, failure, p.failure)
			}
		case p.warnings != "":
			if warnings := or(listOf(out.Warnings), "none"); warnings != p.warnings {
				t.Errorf("%s: got\n%s\nwant\n%s", tier, warnings, p.warnings)
			}
		case !sameJSON(t, out.Value, or(p.goja, p.value)):
			t.Errorf("%s: got\n%s\nwant\n%s", tier, out.Value, or(p.goja, p.value))
		}
	}
}

// TestNamesThatAreNotASCII runs the programs with a value after a function that ends with
// a name whose characters take several bytes in goja, which must not be mistaken for a
// longer function.
func TestNamesThatAreNotASCII(t *testing.T) {
	t.Parallel()
	box := openTiers(t, sandbox.Limits{})["inprocess"]
	shop := shopTools(t)
	for _, a := range archivesIn(t, "testdata/language") {
		for _, p := range readLanguage(t, a) {
			if !sampled(p.name, 4) || p.value == "" || p.failure != "" || p.warnings != "" || strings.HasPrefix(p.source, "#!") {
				continue
			}
			program := sandbox.Program{
				Source: "const größer = r => r." + strings.Repeat("größte_", 50) + ";\n" + p.source,
				Inputs: p.inputs, Tools: shop, Submit: strings.Contains(p.source, "submit("),
			}
			out, err := box.Run(t.Context(), program)
			if err != nil {
				t.Fatal(err)
			}
			if out.Failure != nil || !sameJSON(t, out.Value, or(p.goja, p.value)) {
				t.Errorf("%s/%s: got\n%s\n%v\nwant\n%s", filepath.Base(a.file), p.name, out.Value, out.Failure, or(p.goja, p.value))
			}
		}
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// refusalOf returns the findings of a check.
func refusalOf(t *testing.T, box *sandbox.Sandbox, p sandbox.Program) string {
	t.Helper()
	review, err := box.Check(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return listOf(review.Findings)
}

func listOf(findings []sandbox.Finding) string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s: %s", f.Kind, f))
	}
	return strings.Join(lines, "\n")
}

// failureOf returns the failure of a program.
func failureOf(out *sandbox.Outcome) string {
	if out.Failure == nil {
		return fmt.Sprintf("none; the value is %s", out.Value)
	}
	text := fmt.Sprintf("%s: %s", out.Failure.Kind, out.Failure)
	if len(out.Failure.Stack) > 1 {
		text += "\nstack: " + strings.Join(out.Failure.Stack, "; ")
	}
	return text
}

// updateWording updates the sections with messages of the sandbox. Values come from
// another engine and are not updated.
func updateWording(t *testing.T, archive *archive, box *sandbox.Sandbox, shop *tools.Set) {
	t.Helper()
	sources := map[string]string{}
	for i, f := range archive.Files {
		ext := filepath.Ext(f.Name)
		name := strings.TrimSuffix(f.Name, ext)
		switch ext {
		case ".js":
			sources[name] = strings.TrimSuffix(string(f.Data), "\n")
		case ".refused":
			text := refusalOf(t, box, sandbox.Program{Source: sources[name], Tools: shop})
			archive.Files[i].Data = []byte(text + "\n")
		case ".warnings":
			out, err := box.Run(t.Context(), sandbox.Program{Source: sources[name], Tools: shop})
			if err != nil {
				t.Fatal(err)
			}
			archive.Files[i].Data = []byte(or(listOf(out.Warnings), "none") + "\n")
		case ".failure":
			out, err := box.Run(t.Context(), sandbox.Program{Source: sources[name], Tools: shop})
			if err != nil {
				t.Fatal(err)
			}
			archive.Files[i].Data = []byte(failureOf(out) + "\n")
		}
	}
	archive.write(t)
}

// sameJSON compares values as JavaScript does. Nil means undefined.
func sameJSON(t *testing.T, got json.RawMessage, want string) bool {
	t.Helper()
	if got == nil || want == "undefined" {
		return got == nil && want == "undefined"
	}
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("%v: %s", err, want)
	}
	return reflect.DeepEqual(a, b)
}

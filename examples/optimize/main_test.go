package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/evaluate"
)

// arguments returns flags of a search with the data of this example and the simulated models, and more of them.
func arguments(more ...string) []string {
	return append([]string{
		"-signature", "ticket -> team", "-instructions", "Choose the team for the ticket.",
		"-train", "data/train.jsonl", "-dev", "data/dev.jsonl", "-test", "data/test.jsonl",
		"-model", "student", "-reflection", "student", "-optimizer", "gepa", "-calls", "500",
	}, more...)
}

// measuring returns flags that measure the examples of -dev, and more of them.
func measuring(more ...string) []string {
	return arguments(append([]string{"-optimizer", "", "-train", "", "-test", ""}, more...)...)
}

func execute(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, messages bytes.Buffer
	err = run(t.Context(), args, &out, &messages)
	return out.String(), messages.String(), err
}

func TestOptimizers(t *testing.T) {
	t.Parallel()
	for name := range optimizers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saved := filepath.Join(t.TempDir(), "program.json")
			text, _, err := execute(t, arguments("-optimizer", name, "-json", "-save", saved)...)
			var got summary
			if err != nil || json.Unmarshal([]byte(text), &got) != nil {
				t.Fatalf("got %q, %v", text, err)
			}
			state, err := os.ReadFile(saved)
			if err != nil {
				t.Fatal(err)
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, state); err != nil || compact.String() != string(got.Program) {
				t.Errorf("the saved program is %s, want %s (%v)", state, got.Program, err)
			}
			if got.Before > 0.5 || got.After < got.Before+0.3 || got.StudentCalls < 40 || got.StudentCalls > 500 {
				t.Errorf("got %+v", got)
			}
			if needed := name == "gepa" || name == "mipro"; needed != (got.ReflectionCalls > 0) {
				t.Errorf("the reflection model was called %d times", got.ReflectionCalls)
			}
			text, _, err = execute(t, measuring("-load", saved, "-dev", "data/test.jsonl", "-json")...)
			var report evaluate.Report
			if err != nil || json.Unmarshal([]byte(text), &report) != nil || report.Score.Mean != got.After {
				t.Errorf("the loaded program scores %v (%v), want %v", report.Score, err, got.After)
			}
		})
	}
}

// -reflection is called at most a quarter as often as -calls says.
func TestReflectionCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	train, dev := filepath.Join(dir, "train.jsonl"), filepath.Join(dir, "dev.jsonl")
	replies := filepath.Join(dir, "replies")
	for file, text := range map[string]string{
		train:   `{"ticket": "The contract is old.", "team": "legal"}`,
		dev:     `{"ticket": "Who signs the contract?", "team": "legal"}`,
		replies: strings.Repeat("I have no idea.\n---\n", 20) + "None.",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, _, err := execute(t, arguments("-optimizer", "gepa", "-calls", "12", "-json",
		"-reflection", "script:"+replies, "-train", train, "-dev", dev)...)
	var got summary
	if err != nil || json.Unmarshal([]byte(text), &got) != nil || got.ReflectionCalls != 3 || got.StudentCalls >= 12 {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	saved := filepath.Join(t.TempDir(), "program.json")
	text, _, err := execute(t, arguments("-optimizer", "gepa", "-save", saved)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"The best candidates", "GEPA: reflection", "B - A  +0.", "changed", "student calls",
		"The program is in " + saved + ".\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	before, _, err := execute(t, measuring()...)
	if err != nil || !strings.Contains(before, "score    0.350") {
		t.Errorf("got %s, %v", before, err)
	}
	after, _, err := execute(t, measuring("-load", saved)...)
	if err != nil || !strings.Contains(after, "score    0.950") {
		t.Errorf("got %s, %v", after, err)
	}
}

// With one example in each file, the model is asked four times: before, twice in the search, and after.
func TestScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"train.csv":  "question,answer\n\"one, or two?\",two\n",
		"dev.json":   `[{"question": "three or four?", "answer": "four"}]`,
		"test.jsonl": `{"question": "five or six?", "answer": "six"}`,
		"replies":    "five\n---\nthree\n---\nfour\n---\nsix",
	}
	for name, text := range files {
		if name == "replies" {
			text = "[[ ## answer ## ]]\n" + strings.ReplaceAll(text, "---\n", "---\n[[ ## answer ## ]]\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, _, err := execute(t, "-signature", "question -> answer", "-train", filepath.Join(dir, "train.csv"),
		"-dev", filepath.Join(dir, "dev.json"), "-test", filepath.Join(dir, "test.jsonl"), "-optimizer", "labeled",
		"-model", "script:"+filepath.Join(dir, "replies"), "-workers", "1", "-json")
	if want := `{"before":0,"after":1,"student_calls":2,"reflection_calls":0,"program":`; !strings.HasPrefix(text, want) {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing", "file")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "-signature is not set: inputs and outputs in DSPy's notation, such as 'question -> answer'"},
		{arguments("ticket"), `argument "ticket" is not a flag; write the signature in quotes, after -signature`},
		{arguments("-sigature", "x"), "flag provided but not defined: -sigature; -h describes the flags"},
		{arguments("-optimizer", "gpea", "-test", ""),
			`unknown optimizer "gpea"; -optimizer is one of ` + names(optimizers)},
		{arguments("-test", ""), "-test is not set: a file with examples"},
		{arguments("-reflection", ""), "GEPA needs a model that writes instructions; set Options.Reflection"},
		{arguments("-calls", "10"),
			"Budget.StudentCalls is 10, but one evaluation on the 20 examples of Val takes at least 20"},
		{arguments("-model", "stdent"), `"stdent" does not name a provider and a model`},
		{arguments("-test", "data/dev.jsonl"), "-test is data/dev.jsonl, which the search uses"},
		{arguments("-metric", "best"), `unknown metric "best"; -metric is one of ` + names(metrics)},
		{arguments("-signature", "ticket -> group"), "evaluate: data/train.jsonl:1"},
		{arguments("-dev", missing), "evaluate: open " + missing},
		{measuring("-load", "data/test.jsonl"), "module: "},
	} {
		stdout, stderr, err := execute(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || stdout+stderr != "" {
			t.Errorf("%q:\ngot  %v%s%s\nwant %s", c.args, err, stdout, stderr, c.want)
		}
	}
}

// If all runs fail, the command fails.
func TestNoScore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "dev.jsonl")
	if err := os.WriteFile(file, []byte(`{"question": "How many?", "answer": "two"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	text, _, err := execute(t, measuring("-signature", "question -> answer", "-dev", file)...)
	if err == nil || text != "" || !strings.Contains(err.Error(), "the student can only sort tickets") {
		t.Errorf("got %s, %v", text, err)
	}
}

// A report has the candidates of a search, or the results of an evaluation.
func TestReport(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{"reflection on Predictor": arguments(), "Expected": measuring()} {
		page := filepath.Join(t.TempDir(), "report.html")
		if _, _, err := execute(t, append(args, "-report", page)...); err != nil {
			t.Fatal(err)
		}
		if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), want) {
			t.Errorf("the report does not have %q: %v\n%s", want, err, html)
		}
	}
}

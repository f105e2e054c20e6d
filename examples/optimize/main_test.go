package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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
			text, _, err = execute(t, measuring("-instructions", "", "-load", saved, "-dev", "data/test.jsonl", "-json")...)
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

// The test set is scored once before the search and once after it, by a metric that gets whole rows.
func TestRemoteMetric(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	scored := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Row struct{ Ticket, Team, Note string } `json:"row"`
			Got struct{ Team string }               `json:"got"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		scored[body.Row.Ticket]++
		mu.Unlock()
		if body.Row.Team == body.Got.Team {
			fmt.Fprint(w, `{"score": 1}`)
			return
		}
		fmt.Fprintf(w, `{"score": 0, "feedback": %q}`, body.Row.Note)
	}))
	defer server.Close()
	args := arguments("-optimizer", "gepa", "-metric", "url:"+server.URL, "-json", "-dir", t.TempDir())
	text, _, err := execute(t, args...)
	var got summary
	if err != nil || json.Unmarshal([]byte(text), &got) != nil || got.After < got.Before+0.3 {
		t.Fatalf("got %s, %v", text, err)
	}
	// A run that continues does not score it again.
	again, stderr, err := execute(t, args...)
	if again != text || !strings.Contains(stderr, " has replies of an earlier search; ") {
		t.Errorf("the second run prints %s%s, %v, want %s", stderr, again, err, text)
	}
	rows, err := readRows("data/test.jsonl")
	if err != nil || len(rows) != 20 {
		t.Fatal(len(rows), err)
	}
	for _, raw := range rows {
		var row struct{ Ticket string }
		if err := json.Unmarshal(raw, &row); err != nil || scored[row.Ticket] != 2 {
			t.Errorf("%s was scored %d times (%v)", row.Ticket, scored[row.Ticket], err)
		}
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
	after, _, err := execute(t, measuring("-instructions", "", "-load", saved)...)
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
	const types = "exact, text (apart from case"
	missing := filepath.Join(t.TempDir(), "missing", "file")
	dir, full := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "replies.jsonl"), []byte("Dear diary,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "-signature is missing: inputs and outputs in DSPy's notation, such as 'question -> answer'"},
		{arguments("ticket"), `argument "ticket" is not a flag; write the signature in quotes, after -signature`},
		{arguments("-sigature", "x"), "flag provided but not defined: -sigature; -h describes the flags"},
		{arguments("-optimizer", "gpea", "-test", ""),
			`no optimizer is named "gpea"; -optimizer is one of ` + optimizerNames()},
		{arguments("-optimizer", ""), "-train and -test are used only with -optimizer; to measure a file, pass it as -dev"},
		{arguments("-load", "data/program.json"), "-instructions would have no effect with -load"},
		{arguments("-test", ""), "-test is missing: a file with examples"},
		{arguments("-reflection", ""), "-reflection is missing: the model that writes"},
		{arguments("-calls", "10"),
			"-calls is 10, but scoring the 20 examples of -dev once takes 20 calls"},
		{arguments("-calls", "-1"), "-calls is -1; write a positive number, or 0 for no limit"},
		{arguments("-workers", "0"), "-workers is 0; write a positive number"},
		{arguments("-model", "stdent"), `no model is named "stdent"; -model is provider:model, such as openai:gpt-5.1`},
		{arguments("-reflection", "opnai:x"), `-reflection: models: provider "opnai" of model "opnai:x" is unknown; use one`},
		{arguments("-metric", "within:x"), "-metric within:x: write a number after the colon, such as within:0.1"},
		{arguments("-metric", "within:1"), "-metric within:1 cannot score the first example of -dev: "},
		{arguments("-metric", "url:localhost"), "-metric url:localhost cannot score the first example of -dev: "},
		{arguments("-metric", "best"), `no metric is named "best"; -metric is one of ` + types},
		{arguments("-feedback", "remark"), `"remark", which`},
		{measuring("-feedback", "remark"), `"remark", which`},
		{arguments("-signature", "ticket -> group"), "-train: evaluate: data/train.jsonl:1"},
		{arguments("-dev", missing), "-dev: evaluate: open " + missing},
		{measuring("-instructions", "", "-load", "data/test.jsonl"), "-load data/test.jsonl: module: "},
		{arguments("-save", missing), "-save: open " + missing},
		{arguments("-save", "."), "-save: . is not a file"},
		{arguments("-save", "data/../data/dev.jsonl"), "-save would overwrite the examples in data/../data/dev.jsonl"},
		{arguments("-dir", dir, "-save", filepath.Join(dir, "program.json")), "-save must not be in -dir"},
		{arguments("-dir", "main.go"), "-dir: mkdir main.go: "},
		{arguments("-dir", full), "-dir: models: the store " + filepath.Join(full, "replies.jsonl") + ": line 1: "},
	} {
		stdout, stderr, err := execute(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || stdout+stderr != "" {
			t.Errorf("%q:\ngot  %v%s%s\nwant %s", c.args, err, stdout, stderr, c.want)
		}
	}
}

// What costs money is kept if the program cannot be saved after all.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var scored atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if scored.Add(1) > 1 {
			_ = os.Remove(dir) // after the first score, which is part of the checks
		}
		fmt.Fprint(w, `{"score": 0.5}`)
	}))
	defer server.Close()
	_, stderr, err := execute(t, arguments("-optimizer", "labeled", "-metric", "url:"+server.URL,
		"-save", filepath.Join(dir, "program.json"))...)
	if err == nil || !strings.Contains(stderr, `"instructions": "Choose the team for the ticket."`) {
		t.Errorf("got %v, %s", err, stderr)
	}
}

// A search needs the column of -feedback in -train only.
func TestFeedback(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "train.jsonl")
	text := `{"ticket": "The contract is old.", "team": "legal", "remark": "A contract goes to legal."}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	text, _, err := execute(t, arguments("-feedback", "remark", "-train", file)...)
	if err != nil || !strings.Contains(text, "GEPA: reflection") {
		t.Errorf("got %s, %v", text, err)
	}
	_, _, err = execute(t, arguments("-feedback", "remark", "-dev", file)...)
	if err == nil || !strings.HasPrefix(err.Error(), "-train: ") {
		t.Errorf("got %v", err)
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

// Examples of -test are the same as others if their inputs are, in whatever form.
func TestShared(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "test.csv")
	text := "team,ticket\nsales,The \u00e9tui is broken.\nsales,The discount code does not work.\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := execute(t, arguments("-optimizer", "labeled", "-test", file)...)
	want := "warning: 1 of the 2 examples of -test are also in -train or -dev, so the score after the search will be too "
	if err != nil || !strings.HasPrefix(stderr, want) {
		t.Errorf("got %s, %v", stderr, err)
	}
}

func TestFlagNames(t *testing.T) {
	t.Parallel()
	const text = "optimize: optimize: the module fails on all examples of Val; 0.5 on Val"
	if got := flagNames.Replace(text); got != "optimize: the module fails on all examples of -dev; 0.5 on -dev" {
		t.Error(got)
	}
}

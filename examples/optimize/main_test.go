package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// command returns flags for the data of this example and the simulated models, and more of them.
func command(more ...string) []string {
	return append([]string{
		"-signature", "ticket -> team", "-instructions", "Choose the team for the ticket.",
		"-train", "data/train.jsonl", "-dev", "data/dev.jsonl", "-test", "data/test.jsonl",
		"-model", "student", "-reflection", "student", "-feedback", "note", "-calls", "500",
	}, more...)
}

func execute(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), args, &out, io.Discard)
	return out.String(), err
}

func TestOptimizers(t *testing.T) {
	t.Parallel()
	for name := range optimizers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saved := filepath.Join(t.TempDir(), "program.json")
			text, err := execute(t, command("-optimizer", name, "-json", "-save", saved)...)
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
		})
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
	args := command("-optimizer", "gepa", "-metric", "url:"+server.URL, "-json", "-dir", t.TempDir())
	text, err := execute(t, args...)
	var got summary
	if err != nil || json.Unmarshal([]byte(text), &got) != nil || got.After < got.Before+0.3 {
		t.Fatalf("got %s, %v", text, err)
	}
	// A run that continues does not score it again.
	if again, err := execute(t, args...); again != text {
		t.Errorf("the second run prints %s, %v, want %s", again, err, text)
	}
	rows, err := rowsOf("data/test.jsonl")
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
	text, err := execute(t, command("-optimizer", "gepa", "-save", saved)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"The best candidates", "GEPA: reflection", "0 demos", "B - A  +0.", "changed", "student calls",
		"The program is in " + saved + ".\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	before, err := execute(t, command()...)
	if err != nil || !strings.Contains(before, "score    0.350") {
		t.Errorf("got %s, %v", before, err)
	}
	after, err := execute(t, command("-load", saved)...)
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
	text, err := execute(t, "-signature", "question -> answer", "-train", filepath.Join(dir, "train.csv"),
		"-dev", filepath.Join(dir, "dev.json"), "-test", filepath.Join(dir, "test.jsonl"), "-optimizer", "labeled",
		"-model", "script:"+filepath.Join(dir, "replies"), "-workers", "1", "-json")
	if want := `{"before":0,"after":1,"student_calls":2,"reflection_calls":0,"program":`; !strings.HasPrefix(text, want) {
		t.Errorf("got %s, %v, want %s", text, err, want)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "-signature is missing: inputs and outputs in DSPy's notation, such as 'question -> answer'"},
		{command("ticket"), `argument "ticket" is not a flag; write the signature in quotes, after -signature`},
		{command("-optimizer", "best"), `no optimizer is named "best"; use one of ` + optimizerNames()},
		{command("-optimizer", "gepa", "-test", ""), "-test is missing: a file with examples"},
		{command("-optimizer", "gepa", "-reflection", ""), "-reflection is missing: gepa needs a model"},
		{command("-optimizer", "gepa", "-calls", "10"), "Budget.StudentCalls is 10"},
		{command("-metric", "within:x"), "-metric within:x: "},
		{command("-metric", "best"), `no metric is named "best"; -metric says how answers are scored: exact, `},
		{command("-feedback", "remark"), `no example has a text in the column "remark", which -feedback names`},
		{command("-signature", "ticket -> group"), "data/train.jsonl:1"},
		{command("-load", "data/test.jsonl"), "module: "},
	} {
		got, err := execute(t, c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) || got != "" {
			t.Errorf("%q:\ngot  %v\nwant %s", c.args, err, c.want)
		}
	}
}

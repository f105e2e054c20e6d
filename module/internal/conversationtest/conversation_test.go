package conversationtest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/sandbox"
)

const page = root + "docs/measured/conversation.md"

// TestConversation runs all conversations of testdata/slips, testdata/tasks and testdata/evidence, and compares or
// rewrites docs/measured/conversation.md.
func TestConversation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute under the race detector")
	}
	t.Parallel()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	slips := allSlips(t, box)
	programs := allEvidence(t, box)
	figures := measured(t, box)
	if t.Failed() {
		return
	}
	got := preface + figures + tableOf(slips) + evidenceTable(programs)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run with -update to rewrite it. Got:\n%s", page, got)
	}
	judge(t, slips)
}

// allSlips runs every conversation of testdata/slips.
func allSlips(t *testing.T, box *sandbox.Sandbox) []row {
	t.Helper()
	files, err := filepath.Glob(testdata + "slips/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no slips")
	}
	var mu sync.Mutex
	var rows []row
	t.Run("slips", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				r := testSlip(t, file, box)
				mu.Lock()
				defer mu.Unlock()
				rows = append(rows, r)
			})
		}
	})
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	return rows
}

// judge fails the test if the observations are not good enough.
func judge(t *testing.T, slips []row) {
	t.Helper()
	one, two, wrong := shares(slips)
	if one < 0.95 || two < 1 || wrong > 0 {
		t.Errorf("%.1f%% of the slips are corrected in one step, %.1f%% in two, and %d answers are wrong; "+
			"want 95%%, 100%% and 0", 100*one, 100*two, wrong)
	}
}

// shares returns the shares of slips that are corrected in at most one step and in at most two, and
// the number of wrong answers.
func shares(slips []row) (one, two float64, wrong int) {
	for _, r := range slips {
		switch r.verdict {
		case "at once", "one":
			one++
			two++
		case "two":
			two++
		case "wrong success":
			wrong++
		}
	}
	return one / float64(len(slips)), two / float64(len(slips)), wrong
}

func tableOf(slips []row) string {
	var b strings.Builder
	one, two, wrong := shares(slips)
	tokens := 0
	for _, r := range slips {
		tokens += r.tokens
	}
	fmt.Fprintf(&b, `
## Slips

This test makes %d scripted runs (`+"`module/testdata/slips`"+`). In each run, the script makes one typical mistake, and then
does literally what the messages say. The column "steps" is how many more replies the script needed: 0 if the mistake
did no harm. The column "tokens" is the size of all messages that followed its replies.

Corrected in at most one step: %.1f%%; in at most two steps: %.1f%%. Wrong answers: %d. Average size of the messages: %d
tokens.

| slip | what the model does | steps | tokens |
|---|---|---|---|
`, len(slips), 100*one, 100*two, wrong, tokens/max(len(slips), 1))
	steps := map[string]string{"at once": "0", "one": "1", "two": "2"}
	for _, r := range slips {
		verdict, ok := steps[r.verdict]
		if !ok {
			verdict = "**" + r.verdict + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", r.name, strings.ReplaceAll(r.about, "|", `\|`), verdict, r.tokens)
	}
	return b.String()
}

const preface = `# Tokens and recovery of CodeAct runs

This page measures how many tokens a model has to read in whole runs, and whether our messages lead it out of a mistake.
**No model was run for this page:** replies and corrections were written by hand from the prompts and messages, so the
page measures the prompts and messages, and not models. Tokens are estimated with ` + "`declare.Tokens`" + `: for prompts and
messages, the estimate is about 3% above the tokenizer o200k, and for the JSON of tools/list about 15% above.
` + "`go test ./module/internal/conversationtest -update`" + ` writes this file.

## Tokens of prompts and runs

The tasks are questions with several steps. Their replies are recorded in ` + "`module/testdata/tasks`" + `, and the test runs
the recorded programs each time. Many programs search for tools that the prompt now declares anyway, because they match
the task. There are four sets of tools:

- small: the shop of the quickstart
- medium: two real servers as they list their tools, filesystem and memory
- large: four servers with six tools for each kind of record, and the same servers with more kinds of records

All columns except tasks and requests are tokens, added up over the tasks. "As listed" is the JSON of tools/list.
"First prompt" is the first request of a run. "Prompts" are all requests of a run; the cached part of a request is the
messages that it shares with the request before it. "One by one" is computed from the calls that the programs made, as
if each call had a request of its own, with all tools and all earlier calls and results in it, and the answer one more
request. These columns do not count searches and descriptions of tools, nor the text of the model's replies. A model
that makes several calls in one request, or finds tools with a search of the provider, needs fewer tokens.
`

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

%d scripted runs with one typical mistake each, after which the script does literally what it is told
(`+"`module/testdata/slips`"+`). Steps is how many more replies it needed: 0 if the mistake did no harm.
Tokens are those of everything that it was told after its replies.

In one step or none: %.1f%%. In two: %.1f%%. Wrong answers: %d. Tokens of the messages: %d on average.

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

How many tokens a model is told in whole runs, and whether what it is told leads it out of a mistake. **No model was
run for this page:** replies and corrections were written by hand from the prompts and messages, so it measures these,
not models. Tokens are the estimate of ` + "`declare.Tokens`" + `:
of prompts and messages about 3% above the tokenizer o200k, of the JSON of tools/list about 15% above.
This file is written by ` + "`go test ./module/internal/conversationtest -update`" + `.

## Tokens of prompts and runs

The tasks are questions with several steps. Their replies are recorded in ` + "`module/testdata/tasks`" + ` and are run
again each time. Many of them look for tools that the prompt now declares, because they match the task. The sets of
tools:

- small: the shop of the quickstart
- medium: two real servers as they list their tools, filesystem and memory
- large: four servers with six tools for each kind of record; also with more kinds

"As listed" is the JSON of tools/list. "First prompt" is the first request of a run. A run's prompts are
all its requests together; cached is what a request has in common with the one before it, by whole
messages. All are tokens, added up over the tasks. "One by one" is computed from the calls that the programs made: each is a request of its own
with all tools and all earlier calls and results in it, and one more request for the answer. Searching
and describing tools is not counted there, nor are the model's replies besides the calls. A model that makes several
calls in one request, or finds tools by a search of the provider's, needs less than that.
`

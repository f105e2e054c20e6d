package tokentest

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// prompts are transcripts with a system prompt, and the maximum number of tokens of its fixed text:
// everything except the types of the answer and the declarations. The task and its fields, about 15
// tokens, count as fixed here.
var prompts = map[string]int{
	"codeact_right_at_once":        670,
	"codeact_json":                 690,
	"programofthought_long_inputs": 400,
	"rlm_budget":                   960,
	"react_extract":                300,
	"predict_markers":              160,
	"predict_json_garbage":         75,
}

var types = regexp.MustCompile("(?s)```ts\n.*?\n```")

func TestSystemPromptsAreSmall(t *testing.T) {
	t.Parallel()
	count := counter(t)
	for name, most := range prompts {
		raw, err := os.ReadFile(root + "module/testdata/transcripts/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		_, text, shown := strings.Cut(string(raw), "--- system ---\n")
		system, _, ends := strings.Cut(text, "\n--- human ---\n")
		if !shown || !ends {
			t.Fatalf("%s does not show the system prompt", name)
		}
		got := count(types.ReplaceAllString(system, ""))
		t.Logf("%s: %d tokens", name, got)
		if got > most {
			t.Errorf("the fixed text of %s takes %d tokens; the maximum is %d", name, got, most)
		}
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/llmtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	const parallel = "```js\n" + `const all = await Promise.allSettled(complaints.map(c => refund(c)));
submit({ refused: all.filter(r => r.status === "rejected").map(r => r.reason.message) });
` + "```"
	for name, program := range map[string]string{"one after another": script, "all at once": parallel} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := run(t.Context(), llmtest.New(program), &out); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			if strings.Count(text, "→ true") != 2 || strings.Count(text, "failed: ") != 1 ||
				!strings.Contains(text, "the limit of all refunds is reached\"]}\n") {
				t.Error(text)
			}
		})
	}
}

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module/llmtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := run(t.Context(), llmtest.New(script), strings.NewReader("y n y"), &out); err != nil {
		t.Fatal(err)
	}
	want := asked("win-big") + asked("ann") + asked("cheap-pills") +
		"\ndeleted: [\"win-big\" \"cheap-pills\"]\nkept: [\"ann: not approved: a person said no\"]\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// asked is what the person reads about a call.
func asked(name string) string {
	return fmt.Sprintf("remove (unclassified, destructive)\n{\n  \"name\": %q\n}\nline 3: await remove({ name })"+
		".then(() => deleted.push(name), e => kept.push(name + \": \" + e.message));\napprove? [y/n] ", name)
}

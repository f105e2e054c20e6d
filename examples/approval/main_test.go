package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ decisions, want string }{
		"the policy refuses": {"y y y",
			asked("A-1", 30) + "refunded 30 euros for A-1\n" +
				asked("A-2", 60) + "refunded 60 euros for A-2\n" +
				asked("A-3", 20) +
				"refunded: [\"A-1\" \"A-2\"]\nrefused: [\"A-3: at most 100 euros in all\"]\n"},
		"a person refuses": {"y n y",
			asked("A-1", 30) + "refunded 30 euros for A-1\n" +
				asked("A-2", 60) +
				asked("A-3", 20) + "refunded 20 euros for A-3\n" +
				"refunded: [\"A-1\" \"A-3\"]\nrefused: [\"A-2: not approved: a person said no\"]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if err := run(t.Context(), "", strings.NewReader(c.decisions), &out); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// asked is what the person reads about a call.
func asked(order string, euros int) string {
	return fmt.Sprintf("refund (unclassified, destructive)\n{\n  \"order\": %q,\n  \"euros\": %d\n}\n"+
		"line 4: await refund({ order, euros });\napprove? [y/n] \n", order, euros)
}

package main

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/module/llmtest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	const asked = `refund (unclassified, destructive), wanted by billing
{
  "order": "A-1"
}
line 1: const end = await refund({order: 'A-1'}).then(() => 'refunded', e => 'not refunded: ' + e.message);
approve? [y/n] 
`
	for reply, want := range map[string]string{
		"y": `billing, for call E1 of the desk: E1 refund({"order":"A-1"}) ok → true
shipping, for call E2 of the desk: E1 resend({"order":"A-2"}) ok → true
A-1 is refunded. A-2 is on its way.
`,
		"n": `billing, for call E1 of the desk: E1 refund({"order":"A-1"}) rejected: tool refund: not approved: a person said no
shipping, for call E2 of the desk: E1 resend({"order":"A-2"}) ok → true
A-1 is not refunded: not approved: a person said no. A-2 is on its way.
`,
	} {
		var out strings.Builder
		if err := run(t.Context(), llmtest.New(script...), strings.NewReader(reply), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != asked+want {
			t.Errorf("got\n%s\nwant\n%s", got, asked+want)
		}
	}
}

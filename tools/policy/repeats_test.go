package policy_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// A repetition that the program names passes through policies, and one that is refused
// settles nothing: the next program has to name it again.
func TestRepeats(t *testing.T) {
	t.Parallel()
	sent := 0
	send := tools.Func("send", "", func(context.Context, struct{}) (string, error) {
		sent++
		return "", &tools.ToolError{Kind: tools.KindFailed, Message: "504"}
	}, &tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(t.Context(), send)
	if err != nil {
		t.Fatal(err)
	}
	set = set.With(policy.Deny(policy.Repeats(), "no effect is repeated here"))
	j := journal.New(nil)
	for _, test := range []struct {
		repeat *tools.Repeat
		want   string
	}{
		{nil, "tool send: 504"},
		{&tools.Repeat{Again: tools.EntryIDs{"E1"}}, "tool send: no effect is repeated here"},
		{nil, `send({}) was held: E1 made exactly this call and reported an error, so it may have taken effect. First check ` +
			`whether it did, if a tool can show that. If it did, leave this call out. If it did not, pass {again: "E1"} ` +
			`as the second argument`},
	} {
		call := set.Dispatcher(j.Attempt()).Issue(tools.Call{Args: json.RawMessage(`{}`), Repeat: test.repeat}, 0)
		if _, err := call.Perform(t.Context()); err == nil || err.Error() != test.want {
			t.Errorf("%v: got  %v\nwant %s", test.repeat, err, test.want)
		}
	}
	if sent != 1 {
		t.Errorf("%d were sent", sent)
	}
}

package module_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// The host is told once, when the module is made, that nobody is asked before
// something destructive is done.
func TestNewCodeActWarns(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refund.", func(context.Context, struct{}) (int, error) { return 1, nil },
		&tools.Hints{Destructive: true}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		set  *tools.Set
		want string
	}{
		{set, `level=WARN msg="destructive tools can be called without approval: refund; add policy.Approve to the set, or policy.AllowDestructive if that is intended"` + "\n"},
		{set.With(policy.AllowDestructive), ""},
		{nil, ""},
	} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		model := llmtest.New("```js\nsubmit({total: 1})\n```", "```js\nsubmit({total: 1})\n```")
		act := module.NewCodeAct(adding, model, inProcess(t), test.set, &module.Options{Logger: logger})
		for range 2 {
			if _, err := act.Run(t.Context(), orders{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if log.String() != test.want {
			t.Errorf("got  %s\nwant %s", log.String(), test.want)
		}
	}
}

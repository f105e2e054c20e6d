package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

type amount struct {
	Amount int `json:"amount"`
}

// With -holds, the person at the terminal says how a held call is meant, and otherwise the model does.
func TestHolds(t *testing.T) {
	for _, test := range []struct {
		holds           bool
		typed, want     string
		question, twice bool
	}{
		{true, "E1\n", "refunded 5", true, false}, {true, "n\n", "refunded 6", true, true},
		{true, "\n", "the model was asked", true, false}, {false, "", "the model was asked", false, false},
	} {
		t.Run(fmt.Sprint(test.holds, test.typed), func(t *testing.T) {
			calls := 0
			set, err := tools.NewSet(t.Context(), tools.Func("refund", "Refunds an amount.",
				func(_ context.Context, in amount) (string, error) {
					calls++
					return fmt.Sprintf("refunded %d", in.Amount), nil
				}, &tools.Hints{Class: tools.Effect}))
			if err != nil {
				t.Fatal(err)
			}
			box, err := sandbox.NewInProcess(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer box.Close()
			model := llmtest.New("```js\nawait refund({amount: 5}); throw 1\n```",
				"```js\nsubmit({answer: await refund({amount: 6})})\n```",
				"```js\nawait refund({amount: 5}); submit({answer: 'the model was asked'})\n```")
			bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set})
			if err != nil {
				t.Fatal(err)
			}
			var stderr bytes.Buffer
			c := config{journal: t.TempDir(), holds: test.holds, in: agent.Task{Task: "Refund it."},
				stdin: strings.NewReader(test.typed), stderr: &stderr}
			pred, err := c.durable(t.Context(), bot)
			if err != nil || pred.Output.Answer != test.want || (calls == 2) != test.twice {
				t.Errorf("got %v, %v after %d calls, want %s\n%s", pred, err, calls, test.want, &stderr)
			}
			question := `refund({"amount":6}), which resembles E1 refund({"amount":5}) ok → "refunded 5"`
			if strings.Contains(stderr.String(), question) != test.question {
				t.Errorf("stderr is %s", &stderr)
			}
		})
	}
}

package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// narrow is a model that accepts a limited number of messages.
func narrow(most int, reply func(r llmtest.Request) string) *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if len(r.Messages) > most {
			return llmtest.Reply{}, errors.New("API returned unexpected status code: 400: context_length_exceeded")
		}
		return llmtest.Reply{Text: reply(r), InputTokens: 1, OutputTokens: 1}, nil
	})
}

// Programs are forgotten like calls: the oldest steps are omitted, their effects are still listed,
// and the trajectory keeps everything.
func TestCodeActForgets(t *testing.T) {
	t.Parallel()
	set := toolSet(t, tools.Func("note", "Notes.", func(_ context.Context, o orders) (int, error) {
		return o.Limit, nil
	}, nil))
	steps := 0
	model := narrow(8, func(llmtest.Request) string {
		if steps++; steps == 7 {
			return submit1
		}
		return fmt.Sprintf("```js\nawait note({limit: %d})\n```", steps)
	})
	pred := mustRun(t, module.NewCodeAct(adding, model, inProcess(t), set, &module.Options{MaxIters: 7}), anything)
	if n := len(pred.Trajectory.Steps); n != 7 || len(pred.Trajectory.Calls) != 6 {
		t.Errorf("%d steps, %d effects", n, len(pred.Trajectory.Calls))
	}
	last := model.Requests()[len(model.Requests())-1]
	asked := fmt.Sprint(last.Messages[1].Parts[0])
	want := "\n\n4 steps omitted here, because the conversation became too long.\n" +
		"Called; nobody has declared whether it changed data:\n" +
		"- E1 note({\"limit\":1}) → 1\n- E2 note({\"limit\":2}) → 2\n- E3 note({\"limit\":3}) → 3\n- E4 " +
		"note({\"limit\":4}) → 4"
	if !strings.HasSuffix(asked, want) || len(last.Messages) != 2+2*2 {
		t.Errorf("%d messages; the first prompt ends: %s", len(last.Messages), asked)
	}
	requests := len(model.Requests())
	if got := pred.Trajectory.Usage(); got.Calls != requests || got.InputTokens != 7 || requests != 9 {
		t.Errorf("usage %+v after %d requests", got, requests)
	}
}

// If the prompt is too long, it is sent again as long as there is something to omit.
func TestPromptTooLong(t *testing.T) {
	t.Parallel()
	model := narrow(1, nil)
	_, err := module.NewPredict(adding, model, nil).Run(t.Context(), anything)
	if err == nil || !strings.Contains(err.Error(), "context_length_exceeded") || len(model.Requests()) != 1 {
		t.Errorf("got %v after %d requests", err, len(model.Requests()))
	}
}

package module_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type (
	dayBefore struct {
		Day time.Time `json:"day" jsonschema:"format=date"`
	}
	dayAfter struct {
		Next time.Time `json:"next" jsonschema:"format=date"`
	}
)

// A time with the tag format=date is a date wherever a model sees or writes it: in prompts, demos, replies, programs,
// tools, and answers that are shown again.
func TestDates(t *testing.T) {
	t.Parallel()
	sig := signature.Must(signature.New[dayBefore, dayAfter]("Add a day."))
	day := func(n int) time.Time { return time.Date(2026, 4, n, 12, 30, 0, 0, time.FixedZone("", 3600)) }
	set := toolSet(t, tools.Func("next", "Adds a day.", func(_ context.Context, in dayBefore) (dayAfter, error) {
		return dayAfter{in.Day.AddDate(0, 0, 1).Add(time.Hour)}, nil
	}, nil))
	const answer = `{"next": "2026-04-03"}`
	demo, err := module.NewDemo(sig, dayBefore{day(1)}, dayAfter{day(2)})
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch text := r.Text(); {
		case strings.Contains(text, "attempts"):
			return llmtest.Reply{Text: "[[ ## reasoning ## ]]\nThe same.\n\n[[ ## next ## ]]\n2026-04-03"}, nil
		case strings.Contains(text, "program"):
			return llmtest.Reply{Text: fence(`submit(await next({day}))`)}, nil
		case strings.Contains(text, "tool"):
			return llmtest.Reply{Text: action("submit", answer)}, nil
		}
		return llmtest.Reply{Text: "[[ ## next ## ]]\n2026-04-03\n\n[[ ## completed ## ]]"}, nil
	})
	predict := module.NewPredict(sig, model, nil)
	predict.Predictor.Demos = append(predict.Predictor.Demos, demo)
	object := module.NewPredict(sig, llmtest.New(answer), nil)
	object.Predictor.Adapter = module.JSON()
	tries := 0
	again := func(context.Context, dayBefore, *module.Prediction[dayAfter]) (module.Score, error) {
		tries++
		return module.Score{Value: float64(tries) / 2, Feedback: "Look again."}, nil
	}
	for name, m := range map[string]module.Module[dayBefore, dayAfter]{
		"Predict":     predict,
		"JSON":        object,
		"ReAct":       module.NewReAct(sig, model, set, nil),
		"CodeAct":     module.NewCodeAct(sig, model, inProcess(t), set, nil),
		"Refine":      module.NewRefine(predict, 2, again, 1, nil),
		"MultiChain…": module.NewMultiChainComparison(sig, predict, 2, model, nil),
	} {
		pred, err := m.Run(t.Context(), dayBefore{day(2)})
		if err != nil || !pred.Output.Next.Equal(time.Date(2026, 4, 3, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: got %+v, %v", name, pred, err)
		}
	}
	for i, r := range model.Requests() {
		text := fmt.Sprintf("%s\n%+v", r.Text(), r)
		if strings.Contains(text, "T12:30") || strings.Contains(text, "T00:00") ||
			strings.Contains(text, "date-time") || !strings.Contains(text, "2026-04-02") {
			t.Errorf("request %d: %s", i+1, text)
		}
	}
}

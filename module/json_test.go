package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

var (
	durations  = regexp.MustCompile(`(_ns": )\d+`)
	runNumbers = regexp.MustCompile(`("(run|parent|id|began|time)": )"[-\d+:.TZ]+"`)
)

// recorded is a run with every kind of entry: a call that succeeds and one that fails, console
// output, a failure and a refused program.
func recorded(t *testing.T, observe func(context.Context, event.Event)) *module.Prediction[sum] {
	t.Helper()
	set := toolSet(t,
		tools.Func("list", "", func(context.Context, orders) ([]int, error) { return []int{1, 2}, nil },
			&tools.Hints{Class: tools.Read}),
		tools.Func("pay", "", func(_ context.Context, o orders) (string, error) {
			if o.Limit > 1 {
				return "", &tools.ToolError{Kind: "broke", Message: "no money", Data: json.RawMessage(`{"left":1}`)}
			}
			return "paid", nil
		}, nil))
	model := llmtest.New(fence(`lst({limit: 1})`),
		fence("console.log(await list({limit: 1}));\nawait pay({limit: 1});\nawait pay({limit: 2})"),
		fence(`await pay({limit: 1}); submit({total: 3})`))
	o := &module.Options{FreeTurns: -1} // the failed payment is evidence, but no question
	pred, err := module.NewCodeAct(adding, model, inProcess(t), set, o).Run(module.Observe(t.Context(), observe),
		orders{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	return pred
}

// TestJSON compares the JSON of a run and the types of its events.
func TestJSON(t *testing.T) {
	t.Parallel()
	var events []string
	pred := recorded(t, func(_ context.Context, e event.Event) { events = append(events, fmt.Sprintf("%T", e)) })
	raw, err := json.MarshalIndent(map[string]any{"prediction": pred, "events": events}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got := runNumbers.ReplaceAll(durations.ReplaceAll(raw, []byte("${1}1")), []byte(`$1"1"`))
	const file = "testdata/json/codeact.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != string(got)+"\n" {
		t.Errorf("%v; the JSON differs; run with -update and review the difference. Got:\n%s", err, got)
	}
}

// TestJSONBack decodes a trajectory. Everything is restored except for the types of errors.
func TestJSONBack(t *testing.T) {
	t.Parallel()
	pred := recorded(t, func(context.Context, event.Event) {})
	chosen := module.Trajectory{Runs: []module.Trajectory{pred.Trajectory}, Chosen: 1,
		Score: &module.Score{Value: math.Inf(1)}}
	for _, was := range []module.Trajectory{pred.Trajectory, chosen, {}} {
		raw, err := json.Marshal(was)
		if err != nil {
			t.Fatal(err)
		}
		var is module.Trajectory
		if err := json.Unmarshal(raw, &is); err != nil {
			t.Fatal(err)
		}
		if string(is.Answer()) != string(was.Answer()) || is.Usage() != was.Usage() || is.Module != was.Module {
			t.Errorf("read back: %s %v, want %s %v", is.Answer(), is.Usage(), was.Answer(), was.Usage())
		}
		for i, e := range was.Calls {
			back := is.Calls[i]
			if e.Err != nil && back.Err.Error() != e.Err.Error() {
				t.Errorf("the error became %v, was %v", back.Err, e.Err)
			}
			if e.Err, back.Err = nil, nil; !reflect.DeepEqual(e, back) {
				t.Errorf("the call became %+v, was %+v", back, e)
			}
		}
		again, err := json.Marshal(is)
		if err != nil || string(again) != string(raw) {
			t.Errorf("%v; written again:\n%s\nwas:\n%s", err, again, raw)
		}
	}
}

// TestLogValue logs a run with effects and one that failed.
func TestLogValue(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log,
		&slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			switch a.Key {
			case "time", "level":
				return slog.Attr{}
			case "id", "duration", "input_tokens": // tokens depend on the wording of prompts
				return slog.String(a.Key, "any")
			}
			return a
		}}))
	pred := recorded(t, func(context.Context, event.Event) {})
	logger.Info("answered", "run", pred.Trajectory)
	_, err := module.NewPredict(adding, llmtest.New("no", "no"), nil).Run(t.Context(), orders{Limit: 1})
	if part, ok := errors.AsType[*module.IncompleteError](err); ok {
		logger.Info("failed", "run", part.Trajectory)
	}
	want := strings.ReplaceAll(`msg=answered run.id=any run.module=CodeAct run.steps=3 run.runs=0
 run.calls.ok=2 run.calls.failed=1
 run.usage.calls=3 run.usage.hits=0 run.usage.input_tokens=any run.usage.output_tokens=40 run.duration=any
msg=failed run.id=any run.module=Predict run.steps=2 run.runs=0
 run.usage.calls=2 run.usage.hits=0 run.usage.input_tokens=any run.usage.output_tokens=0 run.duration=any
 run.error="the model's reply cannot be used: the field \"total\" cannot be read:
 the value must be an integer, not \"no\""
`, "\n ", " ")
	if log.String() != want {
		t.Errorf("got\n%s\nwant\n%s", log.String(), want)
	}
}

// TestUnanswered has a tool that ignores cancellation: the state of its call is unknown, and
// observers learn when it begins and when it is abandoned.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	unhurried(t, unanswered)
}

func unanswered(t *testing.T) {
	released := make(chan struct{})
	defer close(released)
	ctx, cancel := context.WithCancel(t.Context())
	set := toolSet(t, tools.Func("pay", "", func(context.Context, orders) (int, error) {
		cancel()
		<-released
		return 1, nil
	}, nil))
	var mu sync.Mutex
	var heard []string
	ctx = module.Observe(ctx, func(_ context.Context, e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := e.(type) {
		case event.ToolCallStart:
			heard = append(heard, fmt.Sprint("calling ", e.Call.Tool, " ", e.Call.Pending))
		case event.ToolCallEnd:
			heard = append(heard, fmt.Sprint("called ", e.Call.Tool, " ", e.Call.Pending))
		}
	})
	_, err := module.NewCodeAct(adding, llmtest.New(fence(`await pay({limit: 1})`)), inProcess(t), set, nil).Run(ctx,
		orders{Limit: 2})
	part, ok := errors.AsType[*module.IncompleteError](err)
	if !ok || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if e := part.Trajectory.Calls[0]; e.State != journal.StateUnknown || e.Err == nil || part.Trajectory.Err == nil {
		t.Errorf("the call: %+v; the run: %v", e, part.Trajectory.Err)
	}
	mu.Lock()
	defer mu.Unlock()
	if want := []string{"calling pay true", "called pay true"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

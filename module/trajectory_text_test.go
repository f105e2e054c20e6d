package module_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// A run that a tool makes has the tool's name, and runs within that run do not.
func TestToolNamesItsRun(t *testing.T) {
	t.Parallel()
	inner := module.NewBestOfN(module.NewPredict(adding, total1(), nil), 1, never, 1, nil)
	set := toolSet(t, module.Tool("helper", "Helps.", inner, &tools.Hints{Class: tools.Read}))
	outer := module.NewCodeAct(adding, llmtest.New(fence(`submit(await helper({limit: 1}))`)), inProcess(t), set,
		&module.Options{Kind: "Clerk"})
	pred, err := outer.Run(t.Context(), anything)
	if err != nil {
		t.Fatal(err)
	}
	run := pred.Trajectory.Runs[0]
	if run.Name != "helper" || run.Runs[0].Name == "helper" || pred.Trajectory.Module != "Clerk" {
		t.Errorf("got %q, %q, %q", run.Name, run.Runs[0].Name, pred.Trajectory.Module)
	}
	if text := pred.Trajectory.String(); !strings.Contains(text, "run 1: helper (BestOfN)") {
		t.Errorf("got:\n%s", text)
	}
}

// A trajectory shows the answer, times, requests, fallbacks and evidence, and the usage of each model.
func ExampleTrajectory_String() {
	fact := sandbox.Finding{Kind: "partial", Message: "only 10 of 30 orders were read"}
	t := module.Trajectory{
		Module: "Agent", Duration: 3 * time.Second, Evidence: []sandbox.Finding{fact},
		Steps: []module.Step{{
			Model: "small", Failed: "large: rate limited", Duration: time.Second,
			Usage: event.Usage{Calls: 2, InputTokens: 900, OutputTokens: 20}, Code: "submit({total: 3})",
			Outcome: &sandbox.Outcome{Submitted: true, Value: []byte(`{"total":3}`), Duration: 20 * time.Millisecond},
		}},
		Runs: []module.Trajectory{{Module: "Predict", Name: "helper", ID: 1, Duration: time.Second,
			Steps: []module.Step{{Model: "tiny", Reply: "3", Usage: event.Usage{Calls: 1, InputTokens: 5}}}}},
	}
	fmt.Print(t)
	fmt.Print(&module.Prediction[sum]{Output: sum{3}, Trajectory: t})
	// Output:
	// Agent, 3s
	// step 1, 1s, small, 2 requests
	//   failed before:
	//     large: rate limited
	//   program, 20ms:
	//     submit({total: 3})
	// run 1: helper (Predict), 1s
	//   step 1, 0s, tiny
	//     reply:
	//       3
	// answer:
	//   {"total":3}
	// evidence:
	//   only 10 of 30 orders were read
	// small: 2 calls of the model, 900 tokens in, 20 out
	// tiny: 1 call of the model, 5 tokens in, 0 out
	// 3 calls of the model, 905 tokens in, 20 out
	// {"total":3}
	// evidence:
	//   only 10 of 30 orders were read
	// small: 2 calls of the model, 900 tokens in, 20 out
	// tiny: 1 call of the model, 5 tokens in, 0 out
	// 3 calls of the model, 905 tokens in, 20 out
}

// TrajectoryOf finds the trajectory of a run with an answer and of one without, whatever wraps the error.
func TestTrajectoryOf(t *testing.T) {
	t.Parallel()
	want := module.Trajectory{Module: "Predict"}
	none := (*module.Prediction[sum])(nil)
	failed := fmt.Errorf("wrapped: %w", &module.IncompleteError{Err: errors.New("down"), Trajectory: want})
	if got := (&module.Prediction[sum]{Trajectory: want}).TrajectoryOf(nil); got.Module != want.Module {
		t.Errorf("got %v", got)
	}
	if got := none.TrajectoryOf(failed); got.Module != want.Module {
		t.Errorf("got %v", got)
	}
	early := errors.New("no model")
	if got := none.TrajectoryOf(early); got.Module != "" || got.Err != early {
		t.Errorf("got %v", got)
	}
	if got := none.String(); got != "no prediction" {
		t.Errorf("got %q", got)
	}
}

package event_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

type question struct {
	Question string `json:"question"`
}

type answer struct {
	Answer string `json:"answer"`
}

var answering = signature.Must(signature.New[question, answer]("Answer the question."))

func ExampleHistory() {
	model := llmtest.New("[[ ## answer ## ]]\nParis\n[[ ## completed ## ]]")
	m := module.NewPredict(answering, model, nil)
	m.Predictor.System = "Reply with [[ ## answer ## ]] and the name of a city."

	var history event.History
	ctx := module.Observe(context.Background(), history.Observe)
	if _, err := m.Run(ctx, question{"What is the capital of France?"}); err != nil {
		panic(err)
	}
	fmt.Print(history.Last(1))
	// Output:
	// === Predict, step 1, scripted ===
	// --- system ---
	// Reply with [[ ## answer ## ]] and the name of a city.
	// --- human ---
	// [[ ## question ## ]]
	// What is the capital of France?
	//
	// Reply with [[ ## answer ## ]], and at the end [[ ## completed ## ]].
	// --- ai ---
	// [[ ## answer ## ]]
	// Paris
	// [[ ## completed ## ]]
	// --- usage ---
	// 1 call of the model, 51 tokens in, 11 out
}

// A History shows replies of every kind, also of calls that are in progress at the same time.
func TestHistory(t *testing.T) {
	t.Parallel()
	request := func(run uint64, text string) event.ModelRequest {
		return event.ModelRequest{Origin: event.Origin{Module: "Predict", Run: run, Step: 1}, Model: "m",
			Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}}
	}
	response := func(run uint64) event.ModelResponse { return event.ModelResponse{Origin: event.Origin{Run: run}} }
	thought, called, failed := response(2), response(3), response(4)
	thought.Thinking, thought.Text, thought.Model = "Hm.", "four\x1b[2J\u202e", "m-2"
	called.ToolCalls = []llms.ToolCall{{FunctionCall: &llms.FunctionCall{Name: "add", Arguments: `{"a":2}`}}}
	failed.Err = errors.New("down")
	var h event.History
	for _, e := range []event.Event{
		event.RunStart{}, request(1, "one"), request(2, "two"), request(3, "three"), request(4, "four"), thought, failed,
		called, response(5),
	} {
		h.Observe(t.Context(), e)
	}
	const usage = "--- usage ---\n0 calls of the model, 0 tokens in, 0 out\n\n"
	want := []string{
		"=== Predict, step 1, m ===\n--- human ---\none\n--- no reply yet ---\n\n\n",
		"=== Predict, step 1, m-2 ===\n--- human ---\ntwo\n--- thinking ---\nHm.\n--- ai ---\nfour\\u001b[2J\\u202e\n" + usage,
		"=== Predict, step 1, m ===\n--- human ---\nthree\n--- ai ---\n\nadd({\"a\":2})\n" + usage,
		"=== Predict, step 1, m ===\n--- human ---\nfour\n--- error ---\ndown\n" + usage,
	}
	for n, first := range map[int]int{-1: 4, 0: 4, 1: 3, 2: 2, 4: 0, 1 << 62: 0} {
		if got, want := h.Last(n), strings.Join(want[first:], ""); got != want {
			t.Errorf("Last(%d):\n%s\nwant\n%s", n, got, want)
		}
	}
}

// A History keeps 100 calls, also if the calls are concurrent.
func TestHistoryLimit(t *testing.T) {
	t.Parallel()
	var h event.History
	var wg sync.WaitGroup
	for i := range 150 {
		wg.Go(func() {
			at := event.Origin{Module: "Predict", Run: uint64(i) + 1, Step: 1}
			h.Observe(t.Context(), event.ModelRequest{Origin: at})
			_ = h.Last(2)
			h.Observe(t.Context(), event.ModelResponse{Origin: at, Text: "yes"})
		})
	}
	wg.Wait()
	if n := strings.Count(h.Last(1000), "==="); n != 200 {
		t.Errorf("%d calls, want 100", n/2)
	}
}

func TestHistoryFailedBefore(t *testing.T) {
	t.Parallel()
	var h event.History
	h.Observe(t.Context(), event.ModelRequest{})
	h.Observe(t.Context(), event.ModelResponse{Text: "yes", Failed: "(1) slow down", Thinking: "hm"})
	want := "--- failed before ---\n(1) slow down\n--- thinking ---\nhm\n--- ai ---\nyes\n"
	if got := h.Last(1); !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

package module_test

import (
	"context"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
)

// patience is longer than anything here takes, even on a slow and busy machine.
const patience = 10 * time.Minute

// patiently returns options with time limits that are never reached.
func patiently(l sandbox.Limits) *sandbox.Options {
	l.Time, l.Compute = patience, patience
	return &sandbox.Options{Limits: l}
}

// unhurried runs a test of cancellation with synthetic time, so that it does not depend on the speed of the machine.
func unhurried(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// concurrently calls a function 200 times at the same time, and waits until no goroutine of these calls is left.
func concurrently(t *testing.T, run func(ctx context.Context, i int)) {
	t.Helper()
	label := "runs of " + t.Name()
	pprof.Do(t.Context(), pprof.Labels("test", label), func(ctx context.Context) {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() { run(ctx, i) })
		}
		wg.Wait()
	})
	for deadline := time.Now().Add(patience / 10); leftBehind(t, label); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("goroutines were left behind")
		}
	}
}

// leftBehind reports whether there is a goroutine that inherited the label.
func leftBehind(t *testing.T, label string) bool {
	t.Helper()
	var b strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(b.String(), label)
}

// openBox opens a sandbox, which is closed when the test ends.
func openBox(t *testing.T, open func(*sandbox.Options) (*sandbox.Sandbox, error), o *sandbox.Options) *sandbox.Sandbox {
	t.Helper()
	box, err := open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	return box
}

// mustRun runs a module, which must answer.
func mustRun[In, Out any](t *testing.T, m module.Module[In, Out], in In) *module.Prediction[Out] {
	t.Helper()
	pred, err := m.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return pred
}

// wantTold checks the last message of a request.
func wantTold(t *testing.T, model *llmtest.Model, request int, want string) {
	t.Helper()
	if told := model.Requests()[request].Last(); !strings.Contains(told, want) {
		t.Errorf("in request %d, the model was told\n%s\nwithout\n%s", request+1, told, want)
	}
}

// wantError compares the text of an error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// bound returns a model whose calls have a budget of their own.
func bound(m llms.Model, l budget.Limits) llms.Model {
	meter := lm.MeterOf(budget.With(context.Background(), l))
	return lm.Wrap(m, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		return lm.Generate(lm.WithMeter(ctx, meter), m, messages, options...)
	})
}

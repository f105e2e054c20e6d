package module_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
)

const fits = "[[ ## total ## ]]\n3\n\n[[ ## completed ## ]]"

// pipeline is a user's module: two others in a row.
type pipeline struct{ First, Second *module.Predict[orders, sum] }

func (p pipeline) Run(ctx context.Context, in orders) (*module.Prediction[sum], error) {
	pred, err := p.First.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	return p.Second.Run(ctx, orders{Limit: pred.Output.Total})
}

func kinds(t *testing.T, s *module.Stream[sum]) (list []string, last error) {
	t.Helper()
	for e, err := range s.Events() {
		if err != nil {
			last = err
			continue
		}
		list = append(list, strings.TrimPrefix(fmt.Sprintf("%T", e), "event.")+fmt.Sprint(e.From().Step))
	}
	return list, last
}

// A stream has all events, including those of other modules within the run.
func TestStream(t *testing.T) {
	t.Parallel()
	model := llmtest.New(fits, "nothing to read here", fits)
	m := pipeline{module.NewPredict(adding, model, nil), module.NewPredict(adding, model, nil)}
	s := module.Start(t.Context(), m, anything)
	got, err := kinds(t, s)
	if want := "RunStart0 ModelRequest1 ModelResponse1 RunEnd0 " +
		"RunStart0 ModelRequest1 ModelResponse1 ReplyRejected1 ModelRequest2 ModelResponse2 RunEnd0"; strings.Join(got,
		" ") != want || err != nil {
		t.Errorf("got %v and %v, want %s", got, err, want)
	}
	pred, err := s.Result()
	if err != nil || pred.Output.Total != 3 {
		t.Errorf("got %v and %v", pred, err)
	}
}

// The error of the run is the last item of a stream.
func TestStreamOfAFailure(t *testing.T) {
	t.Parallel()
	m := module.NewCodeAct(adding, llmtest.New("no program", submit1), inProcess(t), nil,
		&module.Options{MaxIters: 1, FreeTurns: -1})
	s := module.Start(t.Context(), m, anything)
	got, err := kinds(t, s)
	if want := "RunStart0 ModelRequest1 ModelResponse1 ReplyRejected1 RunEnd0"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	pred, last := s.Result()
	if pred != nil || !errors.Is(err, module.ErrMaxIters) || !errors.Is(last, module.ErrMaxIters) {
		t.Errorf("got %v, %v and %v", pred, err, last)
	}
}

// Leaving the loop over the events cancels the run.
func TestStreamLeavingLoopCancels(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
		<-ctx.Done()
		return llmtest.Reply{}, ctx.Err()
	})
	s := module.Start(t.Context(), module.NewPredict(adding, model, nil), anything)
	next, stop := iter.Pull2(s.Events())
	if _, err, _ := next(); err != nil {
		t.Fatal(err)
	}
	stop()
	const want = "module: no answer: context canceled: the loop over the stream's events ended early"
	if pred, err := s.Result(); pred != nil || !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got %v and %v", pred, err)
	}
}

// An observer in the context learns to which run each event belongs.
func TestObserve(t *testing.T) {
	t.Parallel()
	var events []event.Event
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) { events = append(events, e) })
	if _, err := module.NewPredict(adding, llmtest.New(fits), nil).Run(ctx, anything); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if at := e.From(); at.Module != "Predict" || at.Run == 0 || at.Run != events[0].From().Run {
			t.Errorf("%T comes from %+v", e, at)
		}
	}
	if len(events) != 4 {
		t.Errorf("got %d events", len(events))
	}
}

// If the model streams, so does a stream of events. An observer gets no text deltas, so they cost
// nothing.
func TestDeltas(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if f := r.Options.StreamingFunc; f != nil {
			for piece := range strings.SplitAfterSeq(fits, "]") {
				if err := f(ctx, []byte(piece)); err != nil {
					return llmtest.Reply{}, err
				}
			}
		}
		return llmtest.Reply{Text: fits}, nil
	})
	p := module.NewPredict(adding, model, nil)
	var text strings.Builder
	for e, err := range module.Start(t.Context(), p, anything).Events() {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := e.(event.TextDelta); ok {
			text.WriteString(d.Field + "=" + d.Text)
		}
	}
	if text.String() != "total=3" {
		t.Errorf("got %q", text.String())
	}
	ctx := module.Observe(t.Context(), func(_ context.Context, e event.Event) {
		if _, ok := e.(event.TextDelta); ok {
			t.Error("an observer got a delta")
		}
	})
	if _, err := p.Run(ctx, anything); err != nil {
		t.Fatal(err)
	}
}

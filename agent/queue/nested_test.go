package queue_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
)

// Two sandboxes that call each other return ErrNested as well, and a queue between a tool and its
// program changes nothing.
func TestNestedInOtherSandbox(t *testing.T) {
	t.Parallel()
	newBox := func() *sandbox.Sandbox {
		box, err := sandbox.New(&sandbox.Options{Workers: 1, Processes: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = box.Close() })
		return box
	}
	one, other := newBox(), newBox()
	calls := queue.New(nil)
	var both, refused sync.WaitGroup
	both.Add(2)
	refused.Add(2)
	calling := func(box *sandbox.Sandbox) *tools.Set {
		set, err := tools.NewSet(t.Context(), tools.Func("run", "", func(ctx context.Context, _ struct{}) (nested bool, _ error) {
			both.Done()
			both.Wait()
			err := calls.Do(ctx, "ann", func(ctx context.Context) error {
				_, err := box.Run(ctx, sandbox.Program{Source: `1`})
				return err
			})
			refused.Done()
			refused.Wait() // until then, both sandboxes are full
			return errors.Is(err, sandbox.ErrNested), nil
		}, nil))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	var runs sync.WaitGroup
	for box, set := range map[*sandbox.Sandbox]*tools.Set{one: calling(other), other: calling(one)} {
		runs.Go(func() {
			out, err := box.Run(t.Context(), sandbox.Program{Source: `await run({})`, Tools: set})
			if err != nil || string(out.Value) != "true" {
				t.Errorf("got %+v, %v", out, err)
			}
		})
	}
	runs.Wait()
}

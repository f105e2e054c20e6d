package temporal

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
)

// A call that the run itself makes is not interrupted because the worker has other runs, or keeps runs for a short
// time.
func TestCallWithinRun(t *testing.T) {
	t.Parallel()
	for _, cached := range []int{64, -1} {
		s, did := &shop{}, make(chan struct{})
		slow := tools.Func("slow", "Waits.", func(ctx context.Context, o order) (int, error) {
			<-did
			return s.did(ctx, "slow:"+o.Of), nil
		}, &tools.Hints{Class: tools.Effect})
		own := tools.Func("own", "Takes long.", func(ctx context.Context, o order) (int, error) {
			defer close(did)
			select {
			case <-time.After(3500 * time.Millisecond):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			return s.did(ctx, "own:"+o.Of), nil
		}, &tools.Hints{Class: tools.Effect})
		a, _ := newAgent(t, s.set(t, slow, own), Options{CacheFor: 1200 * time.Millisecond},
			`submit({answer: String(await Promise.all([own({of: "a"}), slow({of: "b"})]))})`)
		delete(a.tools, "own")
		a.options.Cached = cached
		env := environment(t, a)
		env.SetTestTimeout(15 * time.Second)
		if got := answer(t, a, env); !strings.Contains(got, "1,2") || s.String() != "own:a slow:b" {
			t.Errorf("got %s; the tools did %s", got, s)
		}
	}
}

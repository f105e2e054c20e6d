package worker

import (
	"context"
	"testing"
)

// TestCollectorEnd says that what a run has been given is taken back: the next one
// begins as the first did.
func TestCollectorEnd(t *testing.T) {
	t.Parallel()
	var none *collector
	none.begin() // nobody watches
	none.end()
	p := newPool(t, Options{Kind: Sandbox, Max: 1})
	const grows = `const list = []; for (let i = 0; i < 300000; i++) list.push({i, s: "s" + i}); list.length`
	for _, source := range []string{grows, "1+1", grows, "1+1"} {
		res, err := p.Run(context.Background(), job(source), &host{})
		if err != nil || res.Failure != nil {
			t.Fatalf("%s: %+v, %v", source, res, err)
		}
		want := map[string]string{grows: "300000", "1+1": "2"}[source]
		if string(res.Value) != want {
			t.Errorf("%s is %s, want %s", source, res.Value, want)
		}
	}
}

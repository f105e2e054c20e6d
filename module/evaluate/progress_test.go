package evaluate

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/module"
)

func TestProgressBar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := newProgress(&b, 4)
		p.bar, p.every = true, 100*time.Millisecond
		for i, r := range []Result{
			{Weight: 1, Score: module.Score{Value: 1}}, {Err: "no answer"}, {Weight: 3}, {Weight: 1},
		} {
			time.Sleep(time.Second)
			p.add(&r)
			p.show(false)
			p.show(i == 3) // too soon, except at the end
		}
		want := "\r[#####...............] 1/4  score 1.000  1s, about 3s left" +
			"\r[##########..........] 2/4  score 1.000  1 error  2s, about 2s left" +
			"\r[###############.....] 3/4  score 0.250  1 error  3s, about 1s left" +
			"\r[####################] 4/4  score 0.200  1 error  4s               " +
			"\r[####################] 4/4  score 0.200  1 error  4s\n"
		if got := b.String(); got != want {
			t.Errorf("got %q", got)
		}
	})
}

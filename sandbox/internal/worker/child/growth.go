package child

import "runtime/metrics"

const (
	// grownShare of the memory may stay with a worker after a run. The runtime
	// never gives address space back, and what is left in it may be in pieces that
	// the next program can't use. Below roomy, it is what any worker takes; but of
	// a small memory, mostShare is too much.
	grownShare = 4
	roomy      = 48 << 20
	mostShare  = 2
)

// growth measures how much memory this process has taken since.
type growth struct {
	sample []metrics.Sample
	start  uint64
	limit  uint64
}

func newGrowth(memory int64) *growth {
	g := &growth{
		sample: []metrics.Sample{{Name: "/memory/classes/total:bytes"}},
		limit:  uint64(min(max(memory/grownShare, roomy), memory/mostShare)),
	}
	g.start = g.taken()
	return g
}

// taken reads what the runtime has taken from the system, given back or not. It
// takes half a microsecond, and no system call.
func (g *growth) taken() uint64 {
	metrics.Read(g.sample)
	return g.sample[0].Value.Uint64()
}

// exceeded says whether the next program would find too little. Without a
// beginning there is none.
func (g *growth) exceeded() bool { return g != nil && g.taken() > g.start+g.limit }

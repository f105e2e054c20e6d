package module

import "sync"

// meter counts what models are asked within a run and all that it calls, which
// its context leads to: steps, other runs, and what tools and rewards do.
type meter struct {
	outer *meter // of the run within which this one is; or nil

	mu   sync.Mutex
	used Usage
}

// change puts down, here and in the runs around, that what was counted as one
// has turned out to be another.
func (m *meter) change(from, to Usage) {
	for ; m != nil; m = m.outer {
		m.mu.Lock()
		m.used.sub(from)
		m.used.add(to)
		m.mu.Unlock()
	}
}

func (m *meter) total() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used
}

// settle sets Spent to what is counted neither by the steps nor by the runs,
// so that each call is counted once.
func (t *Trajectory) settle(total Usage) {
	t.Spent = Usage{}
	total.sub(t.Usage())
	t.Spent = total
}

// underway is what a question counts as until it is known what it cost.
var underway = Usage{Calls: 1}

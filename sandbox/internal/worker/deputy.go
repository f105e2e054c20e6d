package worker

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A tool call has a goroutine of its own, for which the runtime wakes a thread,
// and that takes longer than many a handler. So a call of a tool that has just
// answered at once is performed by the goroutine that reads. As no handler can be
// relied on, that is a deputy of the goroutine of Run, which waits beside it: for
// the end of the run, or to read on itself when a call takes long after all.

const (
	// promptness is how soon a tool has answered of which the next call is
	// performed by the reader.
	promptness = 50 * time.Microsecond
	// grace is for how long nobody reads while such a call takes its time. The
	// runtime doesn't count in less when it has nothing to do.
	grace = time.Millisecond
)

// performance is a call to be performed, of the tool with that index; without do,
// there is none.
type performance struct {
	tool int
	do   func()
}

// dispatch has a call performed by a goroutine of its own, or returns it for the
// reader to perform: if the tool is prompt and nothing waits to be read.
func (r *run) dispatch(p performance) performance {
	if p.do == nil {
		return p
	}
	if prompt, _ := r.prompt.Load(p.tool); prompt == true && r.w.in.silent() {
		return p
	}
	go r.try(p)
	return performance{}
}

// try performs a call, and notes if that took no time.
func (r *run) try(p performance) {
	start := time.Now()
	p.do()
	if time.Since(start) < promptness {
		r.prompt.LoadOrStore(p.tool, true)
	}
}

// What a deputy does.
const (
	reads    int32 = iota
	performs       // a call, and nobody reads
	relieved       // nothing more: the reading has passed back
)

// deputy reads for the goroutine of Run.
type deputy struct {
	r     *run
	duty  atomic.Int32
	tool  int         // whose call it performs
	late  *time.Timer // of that call
	ended chan ending // takes one
}

// ending is how a deputy's reading ended; without result and error, it is to be
// read on.
type ending struct {
	res   *engine.Result
	err   error
	broke func() // how the host broke it off, if it did
}

// depute has a deputy perform a call and read on. It returns when that has ended;
// without result and error, it is to be read on.
func (r *run) depute(p performance) (*engine.Result, error) {
	d := &deputy{r: r, late: time.NewTimer(grace), ended: make(chan ending, 1)}
	defer d.late.Stop()
	go d.serve(p)
	for {
		select {
		case e := <-d.ended:
			if e.broke != nil {
				e.broke()
			}
			return e.res, e.err
		case <-d.late.C: // or nothing has been called for a while
			if d.duty.CompareAndSwap(performs, relieved) {
				r.prompt.Store(d.tool, false)
				return nil, nil
			}
		}
	}
}

// serve performs a call and reads on until the run is over or it is relieved.
func (d *deputy) serve(p performance) {
	e := ending{broke: runtime.Goexit}
	defer d.leave(&e)
	for e.res == nil && e.err == nil {
		if p.do != nil && !d.perform(p) {
			return
		}
		e.res, p, e.err = d.r.hear()
	}
	e.broke = nil
}

// perform performs a call, and says whether to read on.
func (d *deputy) perform(p performance) bool {
	d.tool = p.tool
	d.duty.Store(performs)
	d.late.Reset(grace)
	p.do()
	return d.duty.CompareAndSwap(performs, reads)
}

// leave tells how it ended, if that is for the deputy to say. A handler that
// panics ends the process, as any goroutine does; one that ends its goroutine
// leaves the reading to the other.
func (d *deputy) leave(e *ending) {
	switch d.duty.Load() {
	case performs:
		if d.duty.CompareAndSwap(performs, relieved) {
			d.ended <- ending{}
		}
	case reads:
		if p := recover(); p != nil {
			e.broke = func() { panic(p) }
		}
		d.ended <- *e
	}
}

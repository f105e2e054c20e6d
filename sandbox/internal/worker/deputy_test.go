package worker

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// onDeputy says whether a deputy is calling.
func onDeputy() bool {
	var at [16]uintptr
	frames := runtime.CallersFrames(at[:runtime.Callers(2, at[:])])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "(*deputy)") {
			return true
		}
		if !more {
			return false
		}
	}
}

var (
	no  = engine.Reply{Value: json.RawMessage("false")}
	yes = engine.Reply{Value: json.RawMessage("true")}
)

// settled is a host whose deputy, when it performs a call for the first time,
// answers true and goes on with then.
func settled(then func()) *host {
	var met atomic.Bool
	return &host{perform: func(_ engine.Call, reply func(engine.Reply)) {
		if !onDeputy() || met.Swap(true) {
			reply(no)
			return
		}
		reply(yes)
		then()
	}}
}

// stay returns a handler that does not come back before the test has ended.
func stay(t *testing.T) func() {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func() { <-end }
}

// mustSettle runs a program whose calls come to be performed by a deputy.
func mustSettle(t *testing.T, p *Pool, then string, h *host) {
	t.Helper()
	res, err := p.Run(t.Context(), job("settle:"+then), h)
	if err != nil || res.Failure != nil || string(res.Value) != `"`+then+`"` {
		t.Fatalf("%+v, %v", res, err)
	}
	mustEcho(t, p, "next")
}

// TestDeputy has a deputy perform calls, and come to the end of the run itself.
func TestDeputy(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	mustSettle(t, p, "call", settled(func() {}))
	if first(p).runs != 2 {
		t.Error("the worker was not used again")
	}
}

// TestDeputyStays has the handler that a deputy performs never come back, or end
// its goroutine: somebody else reads on, and the tool has goroutines of its own.
func TestDeputyStays(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(){"stays": stay(t), "leaves": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			p := newPool(t, Options{Max: 1})
			mustSettle(t, p, "call", settled(then))
			if first(p).runs != 2 {
				t.Error("the worker was not used again")
			}
		})
	}
}

// TestDeputyIsRelieved has a call wait for one that comes after it.
func TestDeputyIsRelieved(t *testing.T) {
	t.Parallel()
	p := newPool(t, Options{Max: 1})
	met := make(chan struct{})
	h := settled(func() {})
	prompt := h.perform
	h.perform = func(c engine.Call, reply func(engine.Reply)) {
		switch string(c.Args) {
		case `{"pair":1}`:
			<-met
		case `{"pair":2}`:
			close(met)
		}
		prompt(c, reply)
	}
	mustSettle(t, p, "pair", h)
}

// TestDeputyMeetsTheEnd has a run end while nobody but a deputy reads, and its
// handler does not come back.
func TestDeputyMeetsTheEnd(t *testing.T) {
	t.Parallel()
	for then, want := range map[string]string{
		"hang": "timeout: the program did not end within 2s and was killed",
		"exit": "crashed: the process that ran the program died: exit status 7",
		"lie":  "crashed: the worker broke the protocol: frame 'V' is not due",
	} {
		t.Run(then, func(t *testing.T) {
			t.Parallel()
			j := job("settle:" + then)
			if then == "hang" {
				j.Limits.Time = 2 * time.Second
			}
			f := mustFail(t, newPool(t, Options{Max: 1}), j, settled(stay(t)))
			if got := f.Kind + ": " + f.Message; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// TestDeputyAndCancellation has the caller go while a handler stays.
func TestDeputyAndCancellation(t *testing.T) {
	t.Parallel()
	for _, then := range []string{"wait", "hang"} {
		p := newPool(t, Options{Max: 1})
		ctx, cancel := context.WithCancel(t.Context())
		stays := stay(t)
		res, err := p.Run(ctx, job("settle:"+then), settled(func() {
			cancel()
			stays()
		}))
		if err != nil || res.Failure == nil || res.Failure.Kind != engine.Stopped {
			t.Errorf("%s: %+v, %v", then, res, err)
		}
		mustEcho(t, p, "next")
	}
}

// breaking is a host whose Call breaks off when a deputy makes it.
type breaking struct {
	host
	off func()
}

func (b *breaking) Call(c engine.Call, reply func(engine.Reply)) func() {
	if onDeputy() {
		b.off()
	}
	return b.host.Call(c, reply)
}

// TestDeputyBreaks has the host break off where a deputy calls it: that comes to
// the goroutine of Run.
func TestDeputyBreaks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		off  func()
		want any
	}{
		"panics": {func() { panic("host") }, "host"},
		"leaves": {runtime.Goexit, nil},
	} {
		p := newPool(t, Options{Max: 1})
		v, returned := brokenOff(t, p, tt.off)
		for begin := time.Now(); returned && time.Since(begin) < endTime; { // on a busy machine, no deputy came to read
			v, returned = brokenOff(t, p, tt.off)
		}
		if v != tt.want || returned {
			t.Errorf("%s: %v, returned: %v", name, v, returned)
		}
		mustEcho(t, p, "next")
	}
}

// brokenOff runs a program whose host breaks off, and says with what Run panicked, or that
// it returned.
func brokenOff(t *testing.T, p *Pool, off func()) (panicked any, returned bool) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { panicked = recover() }()
		_, _ = p.Run(t.Context(), job("call:5000"), &breaking{host{}, off})
		returned = true
	}()
	<-ended
	return panicked, returned
}

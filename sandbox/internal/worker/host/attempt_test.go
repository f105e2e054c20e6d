package host

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// canonical reports whether text is canonical JSON or nil. The host passes on nothing else.
func canonical(text []byte) bool {
	if text == nil {
		return true
	}
	var again json.RawMessage
	err := worker.Frame{Body: text}.DecodeUntrusted(&again, math.MaxInt)
	return err == nil && bytes.Equal(again, text) && json.Valid(text) && utf8.Valid(text)
}

// FuzzHost sends arbitrary frames as a worker. The host must not trust them.
func FuzzHost(f *testing.F) {
	frames := func(add func(*worker.Writer)) []byte {
		var wire bytes.Buffer
		add(worker.NewWriter(&wire))
		return wire.Bytes()
	}
	f.Add(frames(func(w *worker.Writer) {
		_ = w.Send(worker.KindReport, 1, engine.Report{Sites: []engine.Site{{Tool: 0}}})
		_ = w.Send(worker.KindCall, 1, engine.Call{ID: 1, Args: []byte("{}")})
		_ = w.Send(worker.KindCall, 1, engine.Call{ID: 2, Tool: 3, Args: []byte("{}")})
		_ = w.Send(worker.KindResult, 1, engine.Result{})
	}))
	f.Add(frames(func(w *worker.Writer) { _ = w.Send(worker.KindCall, 1, engine.Call{ID: 1}) }))
	f.Add(frames(func(w *worker.Writer) { _ = w.Send(worker.KindResult, 2, engine.Result{}) }))
	f.Fuzz(func(t *testing.T, wire []byte) {
		c := &checker{fail: t.Error}
		h := &enginetest.Host{OnReport: c.report, OnCall: c.call}
		w := newInstanceOn(recorded{bytes.NewReader(wire)}, &Options{Memory: 1 << 20})
		w.in.Limit = func(worker.Kind) int { return 1 << 12 }
		r := &attempt{w: w, id: 1, job: job("x"), host: h}
		res, err := r.exchange()
		if res == nil && err == nil {
			t.Errorf("%v, %v", res, err)
		}
		if res != nil && err == nil && !canonical(res.Value) {
			t.Errorf("not canonical: %s", res.Value)
		}
	})
}

// recorded is a recorded worker. It ignores what it receives.
type recorded struct{ io.Reader }

func (recorded) Write(b []byte) (int, error)    { return len(b), nil }
func (recorded) tryWrite(b []byte) (int, error) { return len(b), nil }
func (recorded) Close() error                   { return nil }
func (recorded) expire()                        {}

// checker checks what the run guarantees to its host.
type checker struct {
	fail    func(...any)
	reports int
	calls   int
}

func (k *checker) report(r engine.Report) {
	if k.reports++; k.reports > 1 {
		k.fail("a second report")
	}
	for _, s := range r.Sites {
		if s.Args != nil && !canonical(s.Args.JSON) {
			k.fail("not canonical:", string(s.Args.JSON))
		}
		if s.Tool < -1 || s.Tool > 0 {
			k.fail("a site of tool", s.Tool)
		}
	}
}

func (k *checker) call(c engine.Call, reply func(engine.Reply)) {
	if k.calls++; k.reports == 0 || c.ID != k.calls || c.Tool != 0 {
		k.fail("a forged call", c)
	}
	if !canonical(c.Args) || !canonical(c.More) {
		k.fail("not canonical:", string(c.Args), string(c.More))
	}
	go reply(engine.Reply{})
}

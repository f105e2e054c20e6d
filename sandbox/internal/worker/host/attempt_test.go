package host

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/writ-go/writ/sandbox/internal/engine"
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
		h := &distrustful{fail: t.Error}
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

// distrustful is a host that checks what the run guarantees.
type distrustful struct {
	fail    func(...any)
	reports int
	calls   int
}

func (d *distrustful) Clock(func(bool)) {}

func (d *distrustful) Report(r engine.Report) {
	if d.reports++; d.reports > 1 {
		d.fail("a second report")
	}
	for _, s := range r.Sites {
		if s.Args != nil && !canonical(s.Args.JSON) {
			d.fail("not canonical:", string(s.Args.JSON))
		}
		if s.Tool < -1 || s.Tool > 0 {
			d.fail("a site of tool", s.Tool)
		}
	}
}

func (d *distrustful) Allowed() bool { return true }

func (d *distrustful) Call(c engine.Call, reply func(engine.Reply)) {
	if d.calls++; d.reports == 0 || c.ID != d.calls || c.Tool != 0 {
		d.fail("a forged call", c)
	}
	if !canonical(c.Args) || !canonical(c.More) {
		d.fail("not canonical:", string(c.Args), string(c.More))
	}
	go reply(engine.Reply{})
}

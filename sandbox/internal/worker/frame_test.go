package worker

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	w := newFrameWriter(&wire)
	long := strings.Repeat("long ", keep)
	for _, body := range []string{"a", long, "b", ""} {
		if err := w.send(kindRun, 7, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.send(kindStop, 7, nil); err != nil {
		t.Fatal(err)
	}
	r := newFrameReader(&wire, maxBody)
	for _, want := range []string{"a", long, "b", ""} {
		f, err := r.next()
		if err != nil || f.kind != kindRun || f.run != 7 {
			t.Fatalf("%+v, %v", f, err)
		}
		var got string
		if err := f.decode(&got); err != nil || got != want {
			t.Fatalf("%.10q, %v", got, err)
		}
	}
	if f, err := r.next(); err != nil || f.kind != kindStop || len(f.body) != 0 || !r.silent() {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := r.next(); err != io.EOF {
		t.Error(err)
	}
}

func TestUnencodable(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	w := newFrameWriter(&wire)
	if err := w.send(kindRun, 1, func() {}); !errors.Is(err, errEncode) {
		t.Error(err)
	}
	if wire.Len() != 0 || w.buf.Len() != 0 {
		t.Error("something was written")
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	if err := newFrameWriter(&wire).send(kindRun, 1, "body"); err != nil {
		t.Fatal(err)
	}
	whole := wire.Bytes()
	for n := 1; n < len(whole); n++ {
		_, err := newFrameReader(bytes.NewReader(whole[:n]), maxBody).next()
		if err != io.ErrUnexpectedEOF {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestClaimedLength makes sure that memory follows what arrives.
func TestClaimedLength(t *testing.T) {
	t.Parallel()
	r := newFrameReader(strings.NewReader("\x3f\xff\xff\xffR\x00\x00\x00\x01few"), maxBody)
	if _, err := r.next(); err == nil || cap(r.buf) < chunk || cap(r.buf) > 2*chunk {
		t.Errorf("%d bytes, %v", cap(r.buf), err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02R\x00\x00\x00\x01{}"))
	f.Add([]byte("\xff\xff\xff\xffR\x00\x00\x00\x01{}"))
	f.Add([]byte("\x00\x00\x00\x00S\x00\x00\x00\x01\x00\x00\x00\x00S\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		const limit = 1 << 12
		r := newFrameReader(bytes.NewReader(wire), limit)
		var again bytes.Buffer
		for {
			fr, err := r.next()
			if err != nil {
				if err == io.EOF && !bytes.Equal(again.Bytes(), wire) {
					t.Error("bytes were lost")
				}
				return
			}
			head := make([]byte, headerSize)
			putHeader(head, len(fr.body), fr.kind, fr.run)
			again.Write(append(head, fr.body...))
		}
	})
}

// FuzzHost is a worker that sends anything. The host must not believe it.
func FuzzHost(f *testing.F) {
	frames := func(add func(*frameWriter)) []byte {
		var wire bytes.Buffer
		add(newFrameWriter(&wire))
		return wire.Bytes()
	}
	f.Add(frames(func(w *frameWriter) {
		_ = w.send(kindReport, 1, engine.Report{Sites: []engine.Site{{Tool: 0}}})
		_ = w.send(kindCall, 1, engine.Call{ID: 1, Args: []byte("{}")})
		_ = w.send(kindCall, 1, engine.Call{ID: 2, Tool: 3, Args: []byte("{}")})
		_ = w.send(kindResult, 1, engine.Result{})
	}))
	f.Add(frames(func(w *frameWriter) { _ = w.send(kindCall, 1, engine.Call{ID: 1}) }))
	f.Add(frames(func(w *frameWriter) { _ = w.send(kindResult, 2, engine.Result{}) }))
	f.Fuzz(func(t *testing.T, wire []byte) {
		h := &distrustful{fail: t.Error}
		w := newHalf(recorded{bytes.NewReader(wire)}, &Options{Memory: 1 << 20})
		w.in.limit = func(kind) int { return 1 << 12 }
		r := &run{w: w, id: 1, job: job("x"), host: h}
		res, err := r.talk()
		if res == nil && err == nil {
			t.Errorf("%v, %v", res, err)
		}
		if res != nil && err == nil && !canonical(res.Value) {
			t.Errorf("not canonical: %s", res.Value)
		}
	})
}

// recorded is a worker's side of a conversation. It hears nothing.
type recorded struct{ io.Reader }

func (recorded) Write(b []byte) (int, error) { return len(b), nil }
func (recorded) try(b []byte) (int, error)   { return len(b), nil }
func (recorded) Close() error                { return nil }
func (recorded) lastWords()                  {}

// distrustful is a host that checks what the run promises it.
type distrustful struct {
	fail    func(...any)
	reports int
	calls   int
}

func (d *distrustful) Report(r engine.Report) func() bool {
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
	return func() bool { return true }
}

func (d *distrustful) Call(c engine.Call, reply func(engine.Reply)) func() {
	if d.calls++; d.reports == 0 || c.ID != d.calls || c.Tool != 0 {
		d.fail("a forged call", c)
	}
	if !canonical(c.Args) || !canonical(c.More) {
		d.fail("not canonical:", string(c.Args), string(c.More))
	}
	return func() { reply(engine.Reply{}) }
}

package worker

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// served is a server in this process, with the host's end of its connection.
type served struct {
	t    *testing.T
	s    *server
	in   *frameReader
	out  *frameWriter
	end  io.Closer
	done chan error
}

func serve(t *testing.T) *served {
	theirs, ours := net.Pipe()
	s := newServer(theirs, fake)
	v := &served{t: t, s: s, in: newFrameReader(ours, maxBody), out: newFrameWriter(ours), end: ours, done: make(chan error, 1)}
	go func() {
		err := s.serve()
		theirs.Close()
		v.done <- err
	}()
	return v
}

func (v *served) send(k kind, run uint32, body any) {
	v.t.Helper()
	if err := v.out.send(k, run, body); err != nil {
		v.t.Fatal(err)
	}
}

func (v *served) expect(k kind, run uint32, body any) {
	v.t.Helper()
	f, err := v.in.next()
	if err != nil || f.kind != k || f.run != run {
		v.t.Fatalf("frame %q of run %d, %v; want %q of %d", f.kind, f.run, err, k, run)
	}
	if err := f.decode(body); err != nil {
		v.t.Fatal(err)
	}
}

func (v *served) close(want string) {
	v.t.Helper()
	v.end.Close()
	switch err := <-v.done; {
	case err == nil && want != "", err != nil && err.Error() != want:
		v.t.Errorf("served until %v, want %q", err, want)
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	v := serve(t)
	var res engine.Result
	for run := uint32(1); run <= 3; run++ {
		v.send(kindRun, run, job("echo:x"))
		v.expect(kindReport, run, &engine.Report{})
		v.send(kindVerdict, run, true)
		v.expect(kindResult, run, &res)
		v.send(kindStop, run, nil) // too late
		v.send(kindReply, run, reply{ID: 1})
		v.send(kindVerdict, run, true)
	}
	v.close("")
}

func TestServeCalls(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.send(kindTools, 1, tool)
	v.send(kindRun, 1, job("call"))
	v.expect(kindReport, 1, &engine.Report{})
	v.send(kindReply, 9, reply{ID: 1}) // of another run
	v.send(kindVerdict, 1, true)
	var c engine.Call
	v.expect(kindCall, 1, &c)
	v.send(kindReply, 1, reply{ID: 99}) // to no call
	v.send(kindReply, 1, reply{ID: c.ID, Reply: engine.Reply{Value: json.RawMessage(`"yes"`)}})
	var res engine.Result
	v.expect(kindResult, 1, &res)
	if string(res.Value) != `"yes"` {
		t.Errorf("%+v", res)
	}
	v.close("")
}

func TestServeStop(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.send(kindRun, 1, job("wait"))
	v.expect(kindReport, 1, &engine.Report{})
	v.send(kindStop, 1, nil)
	v.send(kindVerdict, 1, true)
	var res engine.Result
	v.expect(kindResult, 1, &res)
	if res.Failure == nil || res.Failure.Kind != engine.Stopped {
		t.Errorf("%+v", res)
	}
	v.close("")
}

// TestServeNudged has the host nudge while the verdict is read, and say stop after it:
// somebody reads on to hear that.
func TestServeNudged(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.send(kindRun, 1, job("wait"))
	v.expect(kindReport, 1, &engine.Report{})
	waitFor(t, func() bool { return v.s.current().reader.Load() == itself })
	v.s.look()
	v.send(kindVerdict, 1, true)
	late := time.AfterFunc(endTime, func() { v.end.Close() })
	defer late.Stop()
	v.send(kindStop, 1, nil)
	var res engine.Result
	v.expect(kindResult, 1, &res)
	if res.Failure == nil || res.Failure.Kind != engine.Stopped {
		t.Errorf("%+v", res)
	}
	v.close("")
}

func TestServeNonsense(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind kind
		body any
		want string
	}{
		{kindHello, hello{}, "frame 'H' from the host is not due"},
		{kindRun, "no job", `frame 'R': unexpected "\"" at byte 0`},
		{kindTools, 1, `frame 'T': unexpected "1" at byte 0`},
	} {
		v := serve(t)
		v.send(tt.kind, 1, tt.body)
		if err := <-v.done; err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %q", err, tt.want)
		}
		v.end.Close()
	}
}

func TestGreeting(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind  kind
		body  any
		token string
		want  string
	}{
		{kindHello, hello{Token: "a", Memory: 1}, "a", ""},
		{kindHello, hello{Token: "a"}, "b", "the host doesn't know the token in WRIT_WORKER_TOKEN"},
		{kindHello, hello{}, "", "the host doesn't know the token in WRIT_WORKER_TOKEN"},
		{kindRun, hello{Token: "a"}, "a", "the host began with frame 'R'"},
	} {
		var wire strings.Builder
		_ = newFrameWriter(&wire).send(tt.kind, 0, tt.body)
		s := newServer(struct {
			io.Reader
			io.Writer
		}{strings.NewReader(wire.String()), io.Discard}, fake)
		_, err := s.greeting(tt.token)
		if got := message(err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// FuzzServe is a host that sends anything. The worker must end, or go on.
func FuzzServe(f *testing.F) {
	frames := func(add func(*frameWriter)) []byte {
		var wire strings.Builder
		add(newFrameWriter(&wire))
		return []byte(wire.String())
	}
	f.Add(frames(func(w *frameWriter) {
		_ = w.send(kindTools, 1, tool)
		_ = w.send(kindRun, 1, job("call"))
		_ = w.send(kindVerdict, 1, true)
		_ = w.send(kindReply, 1, &reply{ID: 1, Reply: engine.Reply{Value: json.RawMessage(`{"a":1}`)}})
		_ = w.send(kindRun, 2, job("echo:x"))
		_ = w.send(kindStop, 2, nil)
		_ = w.send(kindVerdict, 2, false)
	}))
	f.Add(frames(func(w *frameWriter) { _ = w.send(kindHello, 0, hello{}) }))
	f.Add(frames(func(w *frameWriter) { _ = w.send(kindRun, 1, job("wait")); _ = w.send(kindVerdict, 1, true) }))
	f.Add([]byte("\x00\x00\x00\x02R\x00\x00\x00\x01{}\x00\x00\x00\x01V\x00\x00\x00\x011"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		s := newServer(struct {
			io.Reader
			io.Writer
		}{strings.NewReader(string(wire)), io.Discard}, tame)
		if err := s.serve(); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// tame is an engine that calls once, and waits for nothing that may not come.
func tame(ctx context.Context, j *engine.Job, h engine.Host) *engine.Result {
	if !h.Report(engine.Report{})() {
		return &engine.Result{}
	}
	for i := range len(j.Tools) {
		h.Call(engine.Call{ID: i + 1, Tool: i, Args: json.RawMessage("{}")}, func(engine.Reply) {})
	}
	return value(j.Source)
}

// TestFitting makes sure that no failure is too long for the host.
func TestFitting(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\x00", 1<<20)
	res := fitting(&engine.Result{Value: json.RawMessage("1"), Failure: &engine.Failure{
		Message: long, Hint: long, Tool: &engine.ToolError{Tool: long, Kind: long, Message: long, Data: json.RawMessage(`"x"`)},
	}})
	text, err := json.Marshal(res)
	if err != nil || len(text) > spare || string(res.Value) != "1" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

package child

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
)

// endTime is an upper bound on what takes time on a busy machine.
const endTime = 2 * time.Minute

var tool = []engine.Binding{{Namespace: "t", Names: []string{"f"}}}

func job(source string) *engine.Job {
	return &engine.Job{Source: source, Tools: tool, Limits: engine.Limits{Time: endTime}}
}

func value(s string) *engine.Result {
	b, _ := json.Marshal(s)
	return &engine.Result{Value: b}
}

// fake is an engine for tests: it calls tool 0, waits to be stopped, or returns the source.
func fake(ctx context.Context, job *engine.Job, host engine.Host) *engine.Result {
	if host.Report(engine.Report{}); !host.Allowed() {
		return &engine.Result{Failure: &engine.Failure{Kind: engine.KindRefused}}
	}
	switch job.Source {
	case "call":
		replies := make(chan engine.Reply, 1)
		host.Call(engine.Call{ID: 1, Args: json.RawMessage(`{"n":1}`)}, func(r engine.Reply) { replies <- r })
		return &engine.Result{Value: (<-replies).Value}
	case "wait":
		<-ctx.Done()
		return &engine.Result{Failure: &engine.Failure{Kind: engine.KindStopped}}
	}
	return value(job.Source)
}

// served is a server in this process, with the host's end of its connection.
type served struct {
	t    *testing.T
	s    *server
	in   *worker.Reader
	out  *worker.Writer
	end  io.Closer
	done chan error
}

func serve(t *testing.T) *served {
	theirs, ours := net.Pipe()
	s := newServer(theirs, fake)
	v := &served{t: t, s: s, in: worker.NewReader(ours, worker.MaxBody), out: worker.NewWriter(ours), end: ours,
		done: make(chan error, 1)}
	go func() {
		err := s.serve()
		theirs.Close()
		v.done <- err
	}()
	return v
}

func (v *served) send(k worker.Kind, run uint32, body any) {
	v.t.Helper()
	if err := v.out.Send(k, run, body); err != nil {
		v.t.Fatal(err)
	}
}

func (v *served) expect(k worker.Kind, run uint32, body any) {
	v.t.Helper()
	f, err := v.in.Next()
	if err != nil || f.Kind != k || f.Run != run {
		v.t.Fatalf("frame %q of run %d, %v; want %q of %d", f.Kind, f.Run, err, k, run)
	}
	if err := f.Decode(body); err != nil {
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
		v.send(worker.KindRun, run, job("echo:x"))
		v.expect(worker.KindReport, run, &engine.Report{})
		v.send(worker.KindVerdict, run, true)
		v.expect(worker.KindResult, run, &res)
		v.send(worker.KindStop, run, nil) // after the end of the run
		v.send(worker.KindReply, run, worker.Reply{ID: 1})
		v.send(worker.KindVerdict, run, true)
	}
	v.close("")
}

func TestServeCalls(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.send(worker.KindTools, 1, tool)
	v.send(worker.KindRun, 1, job("call"))
	v.expect(worker.KindReport, 1, &engine.Report{})
	v.send(worker.KindReply, 9, worker.Reply{ID: 1}) // for another run
	v.send(worker.KindVerdict, 1, true)
	var c engine.Call
	v.expect(worker.KindCall, 1, &c)
	v.send(worker.KindReply, 1, worker.Reply{ID: 99}) // for no call
	v.send(worker.KindReply, 1, worker.Reply{ID: c.ID, Reply: engine.Reply{Value: json.RawMessage(`"yes"`)}})
	var res engine.Result
	v.expect(worker.KindResult, 1, &res)
	if string(res.Value) != `"yes"` {
		t.Errorf("%+v", res)
	}
	v.close("")
}

func TestServeStop(t *testing.T) {
	t.Parallel()
	v := serve(t)
	v.send(worker.KindRun, 1, job("wait"))
	v.expect(worker.KindReport, 1, &engine.Report{})
	v.send(worker.KindStop, 1, nil)
	v.send(worker.KindVerdict, 1, true)
	var res engine.Result
	v.expect(worker.KindResult, 1, &res)
	if res.Failure == nil || res.Failure.Kind != engine.KindStopped {
		t.Errorf("%+v", res)
	}
	v.close("")
}

func TestServeRunClean(t *testing.T) {
	t.Parallel()
	v := serve(t)
	clean := job("x")
	clean.RunClean = true
	v.send(worker.KindRun, 1, clean)
	v.expect(worker.KindReport, 1, &engine.Report{})
	var res engine.Result
	v.expect(worker.KindResult, 1, &res) // without a verdict
	if string(res.Value) != `"x"` {
		t.Errorf("%+v", res)
	}
	v.close("")
}

func TestServeNonsense(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind worker.Kind
		body any
		want string
	}{
		{worker.KindHello, worker.Hello{}, "unexpected frame 'H' from the host"},
		{worker.KindRun, "no job", "frame 'R': json: cannot unmarshal string into Go value of type engine.Job"},
		{worker.KindTools, 1, "frame 'T': json: cannot unmarshal number into Go value of type []engine.Binding"},
	} {
		v := serve(t)
		v.send(tt.kind, 1, tt.body)
		if err := <-v.done; err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %q", err, tt.want)
		}
		v.end.Close()
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind  worker.Kind
		body  any
		token string
		want  string
	}{
		{worker.KindHello, worker.Hello{Token: "a", Memory: 1}, "a", ""},
		{worker.KindHello, worker.Hello{Token: "a"}, "b", "the host does not know the token in WRIT_WORKER_TOKEN"},
		{worker.KindHello, worker.Hello{}, "", "the host does not know the token in WRIT_WORKER_TOKEN"},
		{worker.KindRun, worker.Hello{Token: "a"}, "a", "the first frame is 'R' instead of hello"},
	} {
		var wire strings.Builder
		_ = worker.NewWriter(&wire).Send(tt.kind, 0, tt.body)
		s := newServer(struct {
			io.Reader
			io.Writer
		}{strings.NewReader(wire.String()), io.Discard}, fake)
		_, err := s.handshake(tt.token)
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

// FuzzServe sends arbitrary frames as a host. The worker must end, or continue.
func FuzzServe(f *testing.F) {
	frames := func(add func(*worker.Writer)) []byte {
		var wire strings.Builder
		add(worker.NewWriter(&wire))
		return []byte(wire.String())
	}
	f.Add(frames(func(w *worker.Writer) {
		_ = w.Send(worker.KindTools, 1, tool)
		_ = w.Send(worker.KindRun, 1, job("call"))
		_ = w.Send(worker.KindVerdict, 1, true)
		_ = w.Send(worker.KindReply, 1, &worker.Reply{ID: 1, Reply: engine.Reply{Value: json.RawMessage(`{"a":1}`)}})
		_ = w.Send(worker.KindRun, 2, job("echo:x"))
		_ = w.Send(worker.KindStop, 2, nil)
		_ = w.Send(worker.KindVerdict, 2, false)
	}))
	f.Add(frames(func(w *worker.Writer) { _ = w.Send(worker.KindHello, 0, worker.Hello{}) }))
	f.Add(frames(func(w *worker.Writer) {
		_ = w.Send(worker.KindRun, 1, job("wait"))
		_ = w.Send(worker.KindVerdict, 1, true)
	}))
	f.Add([]byte("\x00\x00\x00\x02R\x00\x00\x00\x01{}\x00\x00\x00\x01V\x00\x00\x00\x011"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		s := newServer(struct {
			io.Reader
			io.Writer
		}{strings.NewReader(string(wire)), io.Discard}, tame)
		if err := s.serve(); err != nil && err.Error() == "" {
			t.Error("an error without a message")
		}
	})
}

// tame is an engine that makes one call and waits for nothing that may not happen.
func tame(ctx context.Context, j *engine.Job, h engine.Host) *engine.Result {
	if h.Report(engine.Report{}); !h.Allowed() {
		return &engine.Result{}
	}
	for i := range len(j.Tools) {
		h.Call(engine.Call{ID: i + 1, Tool: i, Args: json.RawMessage("{}")}, func(engine.Reply) {})
	}
	return value(j.Source)
}

// TestShortened checks that no failure is too long for the host.
func TestShortened(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\x00", 1<<20)
	res := shortened(&engine.Result{Value: json.RawMessage("1"), Failure: &engine.Failure{
		Message: long, Hint: long, Tool: &engine.ToolError{Tool: long, Kind: long, Message: long,
			Data: json.RawMessage(`"x"`)},
	}})
	text, err := json.Marshal(res)
	if err != nil || len(text) > 128<<10 || string(res.Value) != "1" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

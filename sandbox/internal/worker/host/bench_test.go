package host

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// tools50 returns the bindings of fifty tools.
func tools50() []engine.Binding {
	tools := make([]engine.Binding, 50)
	for i := range tools {
		tools[i] = engine.Binding{Namespace: "server", Names: []string{fmt.Sprintf("tool_%d", i)}}
	}
	return tools
}

// BenchmarkFloor measures a round trip of one byte to another process.
func BenchmarkFloor(b *testing.B) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Skip(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Skip(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	buf := make([]byte, 64)
	for b.Loop() {
		if _, err := in.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(out, buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRun measures a run in a warm worker: a job, a report, a verdict, a result.
func BenchmarkRun(b *testing.B) {
	for _, bb := range []struct{ name, kind, source string }{
		{"fake", fakes, "echo:2"},
		{"engine", child.Sandbox, "1+1"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			p := newPool(b, Options{Kind: bb.kind})
			j := job(bb.source)
			j.Tools = tools50()
			benchmarkRun(context.Background(), b, p, j)
		})
	}
	b.Run("cancelable", func(b *testing.B) {
		benchmarkRun(b.Context(), b, newPool(b, Options{}), job("echo:2"))
	})
}

func benchmarkRun(ctx context.Context, b *testing.B, p *Pool, j *engine.Job) {
	b.ReportAllocs()
	for b.Loop() {
		if res, err := p.Run(ctx, nil, j, &enginetest.Host{}); err != nil || res.Failure != nil {
			b.Fatal(res, err)
		}
	}
}

// BenchmarkParallel measures concurrent runs, in as many workers as the pool allows.
func BenchmarkParallel(b *testing.B) {
	p := newPool(b, Options{})
	j := job("echo:2")
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if res, err := p.Run(context.Background(), nil, j, &enginetest.Host{}); err != nil || res.Failure != nil {
				b.Error(res, err)
			}
		}
	})
}

// BenchmarkCall measures a tool call: from the program to the handler and back.
func BenchmarkCall(b *testing.B) {
	p := newPool(b, Options{})
	for _, bb := range []struct {
		name   string
		answer func(engine.Call, func(engine.Reply))
	}{
		{"goroutine", nil},
		{"direct", func(c engine.Call, reply func(engine.Reply)) { reply(engine.Reply{Value: c.Args}) }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			j := job("call:" + itoa(b.N))
			j.Limits.Time = 0
			h := &enginetest.Host{OnCall: bb.answer}
			if res, err := p.Run(context.Background(), nil, j, h); err != nil || res.Failure != nil {
				b.Fatal(res, err)
			}
		})
	}
}

// BenchmarkSpawn measures starting a worker until it is ready, and ending it.
func BenchmarkSpawn(b *testing.B) {
	o := Options{Kind: fakes}
	if err := o.complete(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		w, err := newInstance(context.Background(), &o)
		if err != nil {
			b.Fatal(err)
		}
		w.retire()
	}
}

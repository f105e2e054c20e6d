package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
)

// fakes is a kind of worker whose jobs name an action.
const fakes = "writ-test"

func init() { child.Hook(fakes, fake) }

// fakeRuns is the number of the current run. The host counts from 1.
var fakeRuns uint32

// fake is an engine for tests: the source is "name" or "name:argument".
func fake(ctx context.Context, job *engine.Job, host engine.Host) *engine.Result {
	fakeRuns++
	name, arg, _ := strings.Cut(job.Source, ":")
	if strings.HasPrefix(name, "raw-") {
		lie(host, name)
	}
	if name == "syntax" {
		return &engine.Result{Failure: &engine.Failure{Kind: engine.KindSyntax, Message: "bad"}}
	}
	if host.Report(engine.Report{Sites: sites(arg)}); !host.Allowed() {
		return &engine.Result{Failure: &engine.Failure{Kind: engine.KindRefused, Message: "refused"}}
	}
	return act(ctx, name, arg, host)
}

func sites(arg string) []engine.Site {
	if arg == "bad-site" {
		return []engine.Site{{Tool: 99}}
	}
	return nil
}

func act(ctx context.Context, name, arg string, host engine.Host) *engine.Result {
	switch name {
	case "echo":
		return value(arg)
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	case "spin":
		for {
		}
	case "wait":
		<-ctx.Done()
		return &engine.Result{Failure: &engine.Failure{Kind: engine.KindStopped, Message: "stopped in time"}}
	case "die":
		panic("no more")
	case "exit":
		syscall.Exit(7)
	case "recurse":
		return value(fmt.Sprint(recurse(1)))
	case "allocate":
		return value(fmt.Sprint(len(allocate())))
	case "grow":
		return value(fmt.Sprint(grow()))
	case "swell":
		return value(fmt.Sprint(len(swell(arg))))
	case "call":
		return callMany(host, arg)
	case "abandon":
		host.Call(engine.Call{ID: 1, Args: json.RawMessage(`{}`)}, func(engine.Reply) {})
		return value("gone")
	case "nest":
		_, err := NewPool(Options{Kind: fakes})
		return value(fmt.Sprint(err))
	case "surroundings":
		return value(fmt.Sprintf("%v %s %d", os.Environ(), time.Local, descriptors()))
	case "noise":
		fmt.Fprint(os.Stderr, strings.Repeat("noise\n", 1<<20))
		return value("said")
	case "close":
		closeLink()
		select {}
	}
	return value(actHere(name))
}

func value(s string) *engine.Result {
	b, _ := json.Marshal(s)
	return &engine.Result{Value: b}
}

func recurse(n int) int {
	var room [1024]byte
	room[n%1024] = byte(n)
	return recurse(n+1) + int(room[(n+1)%1024])
}

func allocate() []byte { return make([]byte, 1<<40) }

func grow() int {
	var kept [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		kept = append(kept, b)
		if len(kept) > 1<<16 {
			return len(kept)
		}
	}
}

// swell allocates the given number of MiB as garbage.
func swell(arg string) [][]byte {
	n := 0
	_, _ = fmt.Sscan(arg, &n)
	all := make([][]byte, n)
	for i := range all {
		all[i] = bytes.Repeat([]byte{1}, 1<<20)
	}
	return all
}

// callMany calls tool 0, one call after another, and returns the last reply.
func callMany(host engine.Host, arg string) *engine.Result {
	times := 1
	_, _ = fmt.Sscan(arg, &times)
	got := make(chan engine.Reply)
	var last engine.Reply
	for i := range times {
		host.Call(engine.Call{ID: i + 1, Args: json.RawMessage(`{"n":1}`)}, func(r engine.Reply) { got <- r })
		last = <-got
	}
	if last.Error != nil {
		return &engine.Result{Failure: &engine.Failure{Kind: engine.KindThrown, Message: last.Error.Message,
			Tool: last.Error}}
	}
	return &engine.Result{Value: last.Value}
}

// lie sends what no honest worker sends.
func lie(host engine.Host, name string) {
	link := rawLink{}
	out := worker.NewWriter(link)
	send := func(k worker.Kind, run uint32, v any) { _ = out.Send(k, run, v) }
	allow := func() {
		host.Report(engine.Report{})
		host.Allowed()
	}
	nothing := json.RawMessage("{}")
	switch name {
	case "raw-early-call":
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing})
	case "raw-bad-id":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 7, Args: nothing})
	case "raw-same-id":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing})
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing})
	case "raw-bad-tool":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Tool: 5, Args: nothing})
	case "raw-waiting": // for a reply that nobody sent
		allow()
		send(worker.KindWaiting, fakeRuns, 1)
	case "raw-waiting-twice":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing})
		send(worker.KindWaiting, fakeRuns, 0)
		send(worker.KindWaiting, fakeRuns, 0)
	case "raw-waiting-call":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing})
		send(worker.KindWaiting, fakeRuns, 0)
		send(worker.KindCall, fakeRuns, engine.Call{ID: 2, Args: nothing})
	case "raw-turns":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing, Turns: []engine.Turn{{Timer: 1}}})
	case "raw-early-turn":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing, Turns: []engine.Turn{{Call: 1}}})
	case "raw-many-turns", "raw-more-turns":
		allow()
		turns := make([]engine.Turn, engine.MaxTurns+2)
		if name == "raw-more-turns" {
			send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing, Turns: turns})
			turns = turns[:1]
		}
		send(worker.KindResult, fakeRuns, engine.Result{Turns: append(turns, engine.Turn{})})
	case "raw-old-run":
		send(worker.KindResult, fakeRuns-1, engine.Result{})
	case "raw-two-reports":
		allow()
		send(worker.KindReport, fakeRuns, engine.Report{})
	case "raw-unknown-kind":
		send('?', fakeRuns, nil)
	case "raw-host-kind":
		send(worker.KindVerdict, fakeRuns, true)
	case "raw-early-end":
		send(worker.KindResult, fakeRuns, engine.Result{})
	case "raw-odd-failure":
		send(worker.KindResult, fakeRuns, engine.Result{Failure: &engine.Failure{Kind: "approved"}})
	case "raw-used":
		allow()
		send(worker.KindResult, fakeRuns, engine.Result{Used: []int{0, 1}})
	case "raw-stale":
		send(worker.KindResult, fakeRuns, engine.Result{Failure: &engine.Failure{Kind: engine.KindStale}})
	case "raw-late-stale":
		allow()
		send(worker.KindCall, fakeRuns, engine.Call{ID: 1, Args: nothing})
		send(worker.KindResult, fakeRuns, engine.Result{Failure: &engine.Failure{Kind: engine.KindStale}})
	case "raw-null":
		send(worker.KindResult, fakeRuns, nothing[:0:0])
	case "raw-not-json":
		_, _ = link.Write([]byte("\x00\x00\x00\x01E" + "\x00\x00\x00" + string(rune(fakeRuns)) + "{"))
	case "raw-same-key":
		allow()
		send(worker.KindCall, fakeRuns, json.RawMessage(`{"id":1,"args":{"a":1,"\u0061":2}}`))
	case "raw-other-case":
		allow()
		send(worker.KindCall, fakeRuns, json.RawMessage(`{"id":1,"ID":2,"args":{}}`))
	case "raw-deep":
		allow()
		send(worker.KindCall, fakeRuns, json.RawMessage(`{"id":1,"args":`+strings.Repeat("[", 2000)+
			strings.Repeat("]", 2000)+`}`))
	case "raw-flood":
		allow()
		for i := 1; ; i++ {
			send(worker.KindCall, fakeRuns, engine.Call{ID: i, Args: nothing})
		}
	case "raw-deaf": // the first reply blocks the goroutine that reads
		allow()
		for i := range 20 {
			host.Call(engine.Call{ID: i + 1, Args: nothing}, func(engine.Reply) { select {} })
		}
	case "raw-huge":
		_, _ = link.Write([]byte("\xff\xff\xff\xffE\x00\x00\x00\x01"))
	case "raw-garbage":
		_, _ = link.Write([]byte(strings.Repeat("garbage ", 4096)))
	case "raw-unasked":
		allow()
		send(worker.KindResult, fakeRuns, engine.Result{Value: json.RawMessage("1")})
		time.Sleep(20 * time.Millisecond)
		send(worker.KindResult, fakeRuns, engine.Result{Value: json.RawMessage("2")})
	}
	select {}
}

// quiet keeps a crash short.
func init() { debug.SetTraceback("none") }

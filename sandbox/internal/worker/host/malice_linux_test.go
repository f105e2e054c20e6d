package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/writ-go/writ/sandbox/internal/engine"
	"github.com/writ-go/writ/sandbox/internal/engine/enginetest"
	"github.com/writ-go/writ/sandbox/internal/worker"
	"github.com/writ-go/writ/sandbox/internal/worker/child"
	"github.com/writ-go/writ/sandbox/internal/worker/harden"
)

// A malicious worker acts according to its seed: some honest steps, then anything else. TestMalice
// plays ten thousand of them, or a thousand under the race detector. Most are goroutines at the
// other end of a socket, since the host sees no more than that; every fortieth is a process.
const (
	maliceEnv  = "WRIT_TEST_MALICE"      // the number of sessions
	seedEnv    = "WRIT_TEST_MALICE_SEED" // the seed of the first session; later ones count up
	liars      = "writ-malice"           // the kind of worker
	processes  = 40
	budget     = 20 // calls
	sessionEnd = 2 * time.Minute
)

func init() {
	if len(os.Args) > 0 && os.Args[0] == child.Marker+liars {
		playLiar()
	}
}

// playLiar is a malicious worker process. It claims full isolation, takes its seed from the source
// of its first job, and ends when it is killed, or after sessionEnd.
func playLiar() {
	link := os.NewFile(harden.LinkFD, "link")
	in, out := worker.NewReader(link, worker.MaxBody), worker.NewWriter(link)
	_, err := in.Next() // hello
	check(err)
	check(out.Send(worker.KindReady, 0, worker.Ready{Isolation: full}))
	var job engine.Job
	for job.Source == "" {
		f, err := in.Next()
		if err != nil {
			os.Exit(0) // retired before its first run
		}
		if f.Kind == worker.KindRun {
			check(f.Decode(&job))
		}
	}
	seed, err := strconv.ParseUint(job.Source, 10, 64)
	check(err)
	l := newLiar(seed, 1, link, os.Stderr)
	l.act()
	if l.halfway {
		_ = unix.Shutdown(harden.LinkFD, unix.SHUT_WR)
	}
	if l.exit >= 0 {
		syscall.Exit(l.exit)
	}
	time.Sleep(sessionEnd)
	os.Exit(0)
}

// liar is one malicious session.
type liar struct {
	*rand.Rand
	run     uint32
	in      *worker.Reader
	out     io.Writer
	log     io.Writer
	id      int   // the ID of the last call
	err     error // the error of the connection
	exit    int   // the status with which to exit at the end, or -1 to hang
	halfway bool  // close one half of the connection at the end
}

func newLiar(seed uint64, run uint32, link io.ReadWriter, log io.Writer) *liar {
	l := &liar{Rand: rand.New(rand.NewPCG(seed, 1)), run: run, in: worker.NewReader(link, worker.MaxBody), out: link,
		log: log}
	l.exit = []int{-1, -1, 0, 1, 2, 7, 66, 125}[l.IntN(8)]
	l.halfway = l.IntN(6) == 0
	return l
}

// act plays the session.
func (l *liar) act() {
	honest := []func(){
		func() { l.send(worker.KindReport, l.run, engine.Report{}) },
		l.listen,
		l.call, l.call, l.listen, l.call,
		func() { l.send(worker.KindResult, l.run, engine.Result{Value: json.RawMessage("1")}) },
	}
	for _, step := range honest[:l.IntN(len(honest)+1)] {
		step()
	}
	for range 1 + l.IntN(3) {
		if l.err != nil {
			return
		}
		lies[l.IntN(len(lies))](l)
	}
}

func (l *liar) write(b []byte) {
	if l.err == nil {
		_, l.err = l.out.Write(b)
	}
}

func (l *liar) frame(k worker.Kind, run uint32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = binary.BigEndian.AppendUint32(append(b, byte(k)), run)
	return append(b, body...)
}

func (l *liar) send(k worker.Kind, run uint32, body any) {
	text, err := json.Marshal(body)
	check(err)
	l.write(l.frame(k, run, text))
}

func (l *liar) text(k worker.Kind, format string, args ...any) {
	l.write(l.frame(k, l.run, fmt.Appendf(nil, format, args...)))
}

func (l *liar) listen() {
	if l.err == nil {
		_, l.err = l.in.Next()
	}
}

func (l *liar) call() {
	l.id++
	l.send(worker.KindCall, l.run, engine.Call{ID: l.id, Args: json.RawMessage(`{"n":1}`)})
}

// hostKinds are the kinds of frames that no worker sends.
var hostKinds = []worker.Kind{worker.KindHello, worker.KindTools, worker.KindRun, worker.KindVerdict,
	worker.KindReply, worker.KindStop, worker.KindReady, '?', 0}

var filler = bytes.Repeat([]byte("filler "), 1<<13)

// lies are the malicious acts.
var lies = []func(*liar){
	func(l *liar) {
		l.write([]byte{0xff, 0xff, 0xff, byte(l.Uint32()), byte(worker.KindResult), 0, 0, 0, byte(l.run)})
	},
	func(l *liar) { // a frame of the maximum size is announced and not sent
		b := l.frame(worker.KindCall, l.run, nil)
		b[1] = 2
		l.write(append(b, filler[:l.IntN(len(filler))]...))
	},
	func(l *liar) {
		b := make([]byte, l.IntN(1<<12))
		for i := range b {
			b[i] = byte(l.Uint32())
		}
		l.write(b)
	},
	func(l *liar) { // a frame is cut off
		b := l.frame(worker.KindCall, l.run, []byte(`{"id":1,"tool":0,"args":{}}`))
		l.write(b[:l.IntN(len(b))])
	},
	func(l *liar) { // a byte at a time
		for _, c := range l.frame(worker.KindReport, l.run, []byte(`{}`)) {
			l.write([]byte{c})
			time.Sleep(time.Duration(l.IntN(30)) * time.Millisecond)
		}
	},
	func(l *liar) { // flipped bits
		b := l.frame(worker.KindCall, l.run, fmt.Appendf(nil, `{"id":%d,"tool":0,"args":{"a":[1,"x"]}}`, l.id+1))
		for range 1 + l.IntN(3) {
			b[l.IntN(len(b))] ^= 1 << l.IntN(8)
		}
		l.write(b)
	},
	func(l *liar) {
		ids := []int{l.id, l.id + 2, 0, -1, 1 << 62, 1}
		l.send(worker.KindCall, l.run, engine.Call{ID: ids[l.IntN(len(ids))], Args: json.RawMessage("{}")})
	},
	func(l *liar) {
		l.send(worker.KindCall, l.run-1+2*l.Uint32N(2), engine.Call{ID: l.id + 1, Args: json.RawMessage("{}")})
	},
	func(l *liar) { l.send(worker.KindResult, l.Uint32(), engine.Result{}) },
	func(l *liar) {
		l.send(worker.KindCall, l.run, engine.Call{ID: l.id + 1, Tool: []int{1, -1, 1 << 40}[l.IntN(3)],
			Args: json.RawMessage("{}")})
	},
	func(l *liar) { l.send(worker.KindReport, l.run, engine.Report{}) },
	func(l *liar) {
		l.send(worker.KindReport, l.run, engine.Report{Sites: []engine.Site{{Tool: []int{1, -2, 99}[l.IntN(3)]}}})
	},
	func(l *liar) { // more sites than the source can have
		l.text(worker.KindReport, `{"sites":[%s{}]}`, strings.Repeat("{},", 1+l.IntN(20_000)))
	},
	func(l *liar) {
		twice := []string{`"id":%d,"id":1`, `"id":%d,"ID":1`, `"id":%d,"args":{"a":1,"a":2}`,
			`"id":%d,"args":{"x":[{"b":1,"\u0062":2}]}`, `"id":%d,"more":{},"extra":1`}
		l.text(worker.KindCall, "{"+twice[l.IntN(len(twice))]+"}", l.id+1)
	},
	func(l *liar) {
		n := 1 << l.IntN(16)
		l.text(worker.KindCall, `{"id":%d,"args":%s%s}`, l.id+1, strings.Repeat("[", n), strings.Repeat("]", n))
	},
	func(l *liar) {
		numbers := []string{"1e999999", "-" + strings.Repeat("9", 3000), "1." + strings.Repeat("0", 3000), "00", "1e", "0x1"}
		l.id++
		l.text(worker.KindCall, `{"id":%d,"args":{"n":%s}}`, l.id, numbers[l.IntN(len(numbers))])
	},
	func(l *liar) { l.text(worker.KindCall, `{"id":1e999,"args":{}}`) },
	func(l *liar) {
		l.id++
		l.text(worker.KindCall, `{"id":%d,"args":{"x":"\ud800 \xff","":1}}`, l.id)
	},
	func(l *liar) { // output on stderr
		for range l.IntN(100) {
			_, _ = l.log.Write(filler)
		}
	},
	func(l *liar) { // very many calls
		for range 100 * l.IntN(30) {
			l.call()
		}
	},
	func(l *liar) { // it makes calls whose replies it does not read
		for range budget {
			l.id++
			l.text(worker.KindCall, `{"id":%d,"args":{"big":1}}`, l.id)
		}
		time.Sleep(10 * time.Millisecond)
	},
	func(l *liar) {
		l.send(worker.KindResult, l.run, engine.Result{Failure: &engine.Failure{Kind: []string{"", "approved",
			engine.KindThrown}[l.IntN(3)], Message: string(filler[:l.IntN(1<<12)]), Call: l.IntN(99)}})
	},
	func(l *liar) { l.text(worker.KindResult, `{"value":"%s"}`, filler[:l.IntN(1<<14)]) },
	func(l *liar) {
		results := []string{"null", "", "{}", "[]", `{"value":1,"stdout":{"bytes":-1},"stderr":{}}`,
			`{"value":{"a":1,"a":1}}`, `{"failure":{"kind":"thrown","stack":[` + strings.Repeat("{},", 3000) + `{}]}}`}
		l.text(worker.KindResult, "%s", results[l.IntN(len(results))])
	},
	func(l *liar) {
		l.send(worker.KindResult, l.run, engine.Result{Value: json.RawMessage("1")})
		l.send(worker.KindResult, l.run, engine.Result{Value: json.RawMessage("2")})
	},
	func(l *liar) { l.send(hostKinds[l.IntN(len(hostKinds))], l.run, nil) },
	func(l *liar) { // very many empty frames
		l.write(bytes.Repeat(l.frame(worker.KindCall, l.run, nil), 1+l.IntN(1000)))
	},
	func(l *liar) { time.Sleep(time.Duration(l.IntN(60)) * time.Millisecond) },
}

// victim answers the calls of a malicious session. Like the sandbox, it ends a run that makes too many
// calls.
type victim struct {
	checker
	cancel context.CancelFunc
	served atomic.Int32
	wg     sync.WaitGroup
}

func (v *victim) call(c engine.Call, reply func(engine.Reply)) {
	if v.calls++; v.reports == 0 || c.ID != v.calls || c.Tool != 0 || !canonical(c.Args) || !canonical(c.More) {
		v.fail("a forged call", c)
	}
	if c.ID > budget {
		v.cancel()
		return
	}
	v.served.Add(1)
	value := json.RawMessage("{}")
	if bytes.Contains(c.Args, []byte("big")) {
		value = bigReply
	}
	v.wg.Go(func() { reply(engine.Reply{Value: value}) })
}

var bigReply = json.RawMessage(`"` + strings.Repeat("x", 64<<10) + `"`)

// session plays one session, and returns an error that says what went wrong.
func session(seed uint64, pool *Pool, states []*os.ProcessState) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wrong []any
	v := &victim{checker: checker{fail: func(args ...any) { wrong = append(wrong, args...) }}, cancel: cancel}
	h := &enginetest.Host{OnReport: v.report, OnCall: v.call}
	j := job(strconv.FormatUint(seed, 10))
	j.Limits = engine.Limits{Time: 50 * time.Millisecond, Output: 1 << 12}
	start := time.Now()
	var res *engine.Result
	var err error
	if seed%processes == 0 {
		j.Limits.Time *= 2
		res, err = pool.Run(ctx, nil, j, h)
	} else {
		res, err = against(ctx, seed, j, h, states)
	}
	took := time.Since(start)
	answered := make(chan struct{})
	go func() { v.wg.Wait(); close(answered) }()
	select {
	case <-answered:
	case <-time.After(sessionEnd):
		wrong = append(wrong, "a handler is stuck")
	}
	ends.count(res, err)
	switch {
	case err != nil && ctx.Err() == nil:
		wrong = append(wrong, err)
	case err != nil:
	case res.Failure == nil && !canonical(res.Value), res.Failure != nil && !known(res.Failure.Kind):
		wrong = append(wrong, "no typed outcome", res)
	}
	if took > sessionEnd {
		wrong = append(wrong, "it took", took)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("seed %d: %v", seed, wrong)
	}
	return nil
}

func known(kind string) bool {
	_, ok := failureKinds[kind]
	return ok
}

// tally counts how sessions end.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

var ends = tally{seen: map[string]int{}}

func (t *tally) count(res *engine.Result, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.seen["not begun"]++
	case res.Failure == nil:
		t.seen["a value"]++
	case strings.HasPrefix(res.Failure.Message, worker.ErrBreach.Error()):
		t.seen["breach of the protocol"]++
	default:
		t.seen[res.Failure.Kind]++
	}
}

// against plays a session whose worker is a goroutine.
func against(ctx context.Context, seed uint64, j *engine.Job, h engine.Host,
	states []*os.ProcessState) (*engine.Result, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	w := newInstanceOn(newLink(os.NewFile(uintptr(pair[0]), "ours")), &Options{Memory: 1 << 20})
	state := states[seed%uint64(len(states))]
	w.process = &process{cmd: &exec.Cmd{ProcessState: state}, reaped: true, link: w.box.link, log: &stderrLog{},
		exited: make(chan struct{})}
	go func() {
		defer close(w.exited)
		defer theirs.Close()
		l := newLiar(seed, 1, theirs, w.log)
		l.listen() // the tools
		l.listen() // the job
		l.act()
		if l.halfway {
			raw, _ := theirs.SyscallConn()
			_ = raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
		}
		if l.exit < 0 { // it hangs until it is killed
			for _, err := theirs.Write(nil); err == nil && !hungUp(theirs); {
				time.Sleep(5 * time.Millisecond)
			}
		}
	}()
	res, _, err := w.do(ctx, NewTicket(nil, nil), j, h)
	w.retire()
	if errors.Is(err, errLost) { // the second time, this is the result
		return res, nil
	}
	return res, err
}

// hungUp reports, without reading, whether the other end has been closed.
func hungUp(file *os.File) bool {
	raw, err := file.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd)}}
		_, _ = unix.Poll(p, 0)
		gone = p[0].Revents&unix.POLLHUP != 0
	})
	return err != nil || gone
}

// playMalice plays all sessions and measures their cost.
func playMalice() {
	sessions, seed := sample(500, 10_000/harden.MemoryFactor), rand.Uint64N(1<<40)*processes
	if s := os.Getenv(maliceEnv); s != "" {
		_, err := fmt.Sscan(s, &sessions)
		check(err)
	}
	if s := os.Getenv(seedEnv); s != "" {
		_, err := fmt.Sscan(s, &seed)
		check(err)
	}
	fmt.Printf("%d sessions from seed %d\n", sessions, seed)
	var states []*os.ProcessState
	for _, how := range []string{"exit 0", "exit 2", "exit 66", "exit 125", "kill -KILL $$", "kill -SEGV $$"} {
		cmd := exec.Command("/bin/sh", "-c", how)
		_ = cmd.Run()
		states = append(states, cmd.ProcessState)
	}
	pool, err := NewPool(Options{Kind: liars, Command: []string{"/proc/self/exe"}, Max: 4, Memory: 32 << 20})
	check(err)
	check(besiege(seed+1<<50, 100, pool, states)) // what the runtime allocates only once
	ends.seen = map[string]int{}
	debug.FreeOSMemory()
	files, routines, before := count("/proc/self/fd"), runtime.NumGoroutine(), peak()
	start := time.Now()
	check(besiege(seed, sessions, pool, states))
	grown := peak() - before
	fmt.Printf("%d sessions in %v; the host has grown by %.1f MB at most\n", sessions,
		time.Since(start).Round(time.Millisecond), float64(max(0, grown))/1e6)
	for _, end := range slices.Sorted(maps.Keys(ends.seen)) {
		fmt.Printf("%6d %s\n", ends.seen[end], end)
	}
	if grown > harden.MemoryFactor*20<<20 {
		check(fmt.Errorf("the host grew by %d bytes", grown))
	}
	check(pool.Close())
	left := func() error {
		stacks := make([]byte, 1<<16)
		switch f, r := count("/proc/self/fd"), runtime.NumGoroutine(); {
		case f > files:
			return fmt.Errorf("%d descriptors, %d before", f, files)
		case r > routines:
			return fmt.Errorf("%d goroutines, %d before\n%s", r, routines, stacks[:runtime.Stack(stacks, true)])
		}
		return nil
	}
	for begin := time.Now(); time.Since(begin) < time.Minute; { // timers that end runs
		if left() == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	check(left())
	if _, err := unix.Wait4(-1, nil, syscall.WNOHANG, nil); err != unix.ECHILD {
		check(errors.New("a child is left"))
	}
}

// besiege plays sessions, many at a time.
func besiege(seed uint64, sessions int, pool *Pool, states []*os.ProcessState) error {
	const atOnce = 64
	var next atomic.Uint64
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for range atOnce {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < uint64(sessions); i = next.Add(1) - 1 {
				if err := session(seed+i, pool, states); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func TestMalice(t *testing.T) {
	t.Parallel()
	cmd, log := play(t, "/proc/self/exe", "malice")
	out, err := cmd.Output()
	if t.Logf("%s", out); err != nil {
		t.Error(err, log)
	}
}

// TestDeafFromTheStart has a worker that never reads, and a job that is too large for the buffers
// of the system.
func TestDeafFromTheStart(t *testing.T) {
	t.Parallel()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "theirs")
	defer theirs.Close()
	w := newInstanceOn(newLink(os.NewFile(uintptr(pair[0]), "ours")), &Options{Memory: 1 << 20})
	w.process = &process{cmd: &exec.Cmd{}, reaped: true, link: w.box.link, log: &stderrLog{}, exited: make(chan struct{})}
	close(w.exited)
	j := job("x")
	j.Limits.Time = 10 * time.Millisecond
	j.Inputs = []engine.Input{{Name: "big", JSON: json.RawMessage(`"` + strings.Repeat("x", 4<<20) + `"`)}}
	start := time.Now()
	res, reusable, err := w.do(t.Context(), NewTicket(nil, nil), j, &enginetest.Host{})
	if err != nil || reusable || res.Failure == nil || res.Failure.Kind != engine.KindTimeout ||
		time.Since(start) > sessionEnd {
		t.Errorf("after %v: %+v, %v", time.Since(start), res, err)
	}
	w.retire()
}

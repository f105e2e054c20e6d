package journal_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// TestDurable plays random runs, with parallel calls, failures, holds, late answers, policies that change arguments or
// try again, pauses and interruptions. It then ends each run at every record of its log, and repeats it from there. The
// repeated run sees what the run has seen, and finishes; no effect happens twice.
func TestDurable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(max(4, *seeds/40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			first := newProcess(t, seed, &memory{}, nil)
			first.finish()
			log := first.log.(*memory)
			for n := range len(log.records) + 1 {
				again := newProcess(t, seed, log.cut(n), first.rowsUntil(n))
				again.salt = uint64(n) + 1
				again.finish()
				again.compare(first.story[:first.told(n)], true)
				if t.Failed() {
					t.Fatalf("seed %d, cut after record %d:\n%s\nof\n%s\nthen\n%s", seed, n,
						joined(log.records[:n]), joined(log.records[n:]), strings.Join(again.story, "\n"))
				}
			}
		})
	}
}

func joined(records [][]byte) string { return string(bytes.Join(records, []byte("\n"))) }

// process is a process that performs a run: a module with its programs, and the tools.
type process struct {
	t    *testing.T
	seed uint64
	salt uint64 // what happens by chance differs between processes
	log  journal.Log

	journal *journal.Journal
	set     *tools.Set
	story   []string // what the module and the programs see
	marks   []mark
	calls   sync.WaitGroup
	repeats int // how often the run was repeated

	mu      sync.Mutex
	rows    []effectRow     // what the servers have done
	decided map[string]bool // calls about which a person has decided
	stops   bool            // the program ends before its calls
	late    chan struct{}   // closed: late tools answer
}

// mark says how long the story was when the log had a number of records.
type mark struct{ records, story int }

// effectRow is what a tool has done for a call.
type effectRow struct {
	id, tool, result string
	at               int // the number of records in the log
	failed           bool
}

func newProcess(t *testing.T, seed uint64, log journal.Log, rows []effectRow) *process {
	t.Helper()
	p := &process{t: t, seed: seed, log: log, rows: rows, decided: map[string]bool{}, late: make(chan struct{})}
	tool := func(name string, h tools.Hints) *tools.Tool {
		return &tools.Tool{Namespace: "db", Name: name, Hints: h,
			Handler: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
				return p.handle(ctx, name, h.Class == tools.Read)
			}}
	}
	set, err := tools.NewSet(t.Context(),
		tool("add", tools.Hints{Class: tools.Effect}), tool("put", tools.Hints{Class: tools.Idempotent}),
		tool("count", tools.Hints{Class: tools.Read}), tool("touch", tools.Hints{}),
		tool("note", tools.Hints{Class: tools.Effect, Repeatable: true}),
		tool("charge", tools.Hints{Class: tools.Effect, ErrorsAreFinal: true}))
	if err != nil {
		t.Fatal(err)
	}
	p.set = set.With(p.policy)
	return p
}

// chance returns a number that depends on the seed and the arguments: the same in every process.
func (p *process) chance(n uint64, args ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, p.seed, args)
	return rand.New(rand.NewPCG(h.Sum64(), 5)).Uint64N(n)
}

// handle is a tool.
func (p *process) handle(ctx context.Context, name string, read bool) (json.RawMessage, error) {
	id := tools.EffectID(ctx)
	luck := p.chance(12, "fate", id, p.salt)
	switch luck {
	case 0: // answers only when the program is over
		p.mu.Lock()
		late := p.late
		p.mu.Unlock()
		select {
		case <-late:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case 1, 2:
		time.Sleep(time.Duration(luck) * 100 * time.Microsecond)
	case 3:
		return nil, &tools.ToolError{Kind: tools.KindUnavailable, Message: "no <connection>"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	row := effectRow{id: id, tool: name, result: fmt.Sprintf(`{"row": %d}`, len(p.rows)), failed: luck == 4 || luck == 5}
	row.at = len(p.log.(*memory).all().records)
	if !read {
		p.rows = append(p.rows, row)
	}
	switch luck {
	case 4:
		return nil, &tools.ToolError{Kind: "odd", Message: "504 \xff", Data: json.RawMessage(`{ "code": 504 }`)}
	case 5:
		return nil, errors.New("504")
	case 6:
		return nil, context.DeadlineExceeded
	}
	return json.RawMessage(row.result), nil
}

// releaseLate lets the late tools answer.
func (p *process) releaseLate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.late)
	p.late = make(chan struct{})
}

// policy changes arguments, refuses calls, asks people, tries again, and withholds results.
func (p *process) policy(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		id := tools.EffectID(ctx)
		luck := p.chance(14, "policy", string(c.Args))
		p.mu.Lock()
		decided := p.decided[id]
		stops := p.stops
		p.mu.Unlock()
		switch {
		case luck == 0 && !decided && !stops:
			return nil, tools.Fatal(fmt.Errorf("%s: %w", id, place.ErrPaused))
		case luck == 1:
			return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "no"}
		case luck == 2:
			c.Args = json.RawMessage(`{"n": 1}`)
		}
		result, err := next.Call(ctx, c)
		if luck == 3 && err != nil && dispatch.StateOf(err) == dispatch.StateRejected {
			result, err = next.Call(ctx, c)
		}
		if luck == 4 && err == nil {
			return nil, &tools.ToolError{Kind: tools.KindTooLarge, Message: "too large"}
		}
		return result, err
	})
}

// finish repeats the run until it ends. A person decides about what stops it.
func (p *process) finish() {
	p.t.Helper()
	var seen []string
	for ; ; p.repeats++ {
		told := p.told(len(p.log.(*memory).records))
		err := p.run()
		p.calls.Wait()
		p.compare(seen[:told], err == nil)
		if len(p.story) > len(seen) {
			seen = p.story
		}
		id := ""
		unknown, isUnknown := errors.AsType[*journal.UnknownError](err)
		switch {
		case err == nil:
			p.verify()
			return
		case p.repeats > 60:
			p.t.Fatalf("the run does not end: %v\n%s", err, joined(p.log.(*memory).records))
		case isUnknown:
			id = unknown.Entry.ID
		case errors.Is(err, place.ErrPaused):
			p.mu.Lock()
			p.decided[strings.Split(err.Error(), ": ")[0]] = true
			p.mu.Unlock()
		case !errors.Is(err, errInterrupted):
			p.t.Fatalf("seed %d: %v\n%s", p.seed, err, joined(p.log.(*memory).records))
		}
		m := p.log.(*memory)
		p.log = m.all() // the next process
		p.salt += 100
		if id != "" {
			j, err := journal.Open(p.log, nil)
			if err == nil {
				err = j.Resolve(id, p.truth(id))
			}
			if err != nil && !strings.Contains(err.Error(), "only a call whose outcome") { // the tool has answered meanwhile
				p.t.Fatal(err)
			}
			m := p.log.(*memory)
			p.log = m.all()
		}
	}
}

// truth returns what has become of a call.
func (p *process) truth(id string) journal.Reconciled {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rows {
		if r.id == "r-test:"+id {
			return journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(r.result)}
		}
	}
	return journal.Reconciled{State: journal.StateRejected}
}

func (p *process) tell(format string, args ...any) {
	p.story = append(p.story, fmt.Sprintf(format, args...))
}

// mark notes that all that was told before is in the log.
func (p *process) mark() {
	m := p.log.(*memory)
	m.mu.Lock()
	defer m.mu.Unlock()
	p.marks = append(p.marks, mark{len(m.records), len(p.story)})
}

var errInterrupted = errors.New("interrupted")

// run performs the run once.
func (p *process) run() (err error) {
	o := &journal.Options{Run: "r-test"}
	if p.seed%2 == 0 {
		o.Reconcile = func(_ context.Context, e journal.Entry) (journal.Reconciled, error) {
			if p.chance(3, "reconcile", e.ID, p.salt) == 0 {
				return journal.Reconciled{}, errors.New("no connection")
			}
			return p.truth(e.ID), nil
		}
	}
	p.story = nil
	if p.journal, err = journal.Open(p.log, o); err != nil {
		return err
	}
	for step := range 2 {
		if p.seed%3 == 0 {
			p.tell("turn %d", p.journal.Turn())
		}
		for number := range 4 {
			if err := p.journal.Reconcile(p.t.Context()); err != nil {
				p.tell("reconcile: %v", err)
			}
			done, err := p.attempt(step, number)
			if err != nil {
				return err
			}
			p.tell("entries: %s", entriesText(p.journal.Entries()))
			if err := p.journal.Sync(p.t.Context()); err != nil {
				return err
			}
			p.tell("open: %s, unresolved: %s", ids(p.journal.Open()), ids(p.journal.Unresolved()))
			if done {
				break
			}
		}
		p.tell("orphans: %s", ids(p.journal.Accept()))
		p.mark()
	}
	return p.journal.Sync(p.t.Context())
}

func entriesText(list []journal.Entry) string {
	text, err := json.Marshal(list)
	return fmt.Sprint(string(text), err)
}

// reactor is a program that reacts to the replies of its calls.
type reactor struct {
	*process
	step, number int
	run          *dispatch.Dispatcher
	attempt      *journal.Attempt
	entries      []journal.Entry
	ctx          context.Context
	replies      []chan reply
	arrived      chan int
	turns        [][]byte
	ended        error
	failed, sent int
}

// attempt runs a program. It reports whether the program has finished.
func (p *process) attempt(step, number int) (bool, error) {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	g := &reactor{process: p, step: step, number: number, entries: p.journal.Entries(), ctx: ctx,
		attempt: p.journal.Attempt(), arrived: make(chan int, 100)}
	g.run = dispatch.New(p.set, watching{g.attempt, g})
	p.mark()
	stops := p.chance(30, "stop", step, number)
	p.mu.Lock()
	p.stops = stops < 10
	p.mu.Unlock()
	start, turns, err := g.attempt.Begin(fmt.Appendf(nil, "%d.%d", step, number), fmt.Appendf(nil, "start %d", p.salt))
	if err != nil {
		return false, err
	}
	p.tell("start %s", start)
	p.mark()
	for range 1 + p.chance(3, "first", step, number) {
		g.issue("first")
	}
	replies := 0
	interrupts := p.chance(40, "interrupt", step, number, p.salt) == 0
	for ; replies < len(g.replies) && g.ended == nil && replies != int(stops); replies++ {
		i, isRepeated := 0, replies < len(turns)
		switch {
		case isRepeated:
			i = int(turns[replies][0])
		case interrupts && replies == len(turns)+1:
			g.ended = errInterrupted
			continue
		default:
			i = g.next()
			for slices.ContainsFunc(g.turns, func(t []byte) bool { return int(t[0]) == i }) {
				i = g.next() // it was delivered by a recorded turn
			}
		}
		r := <-g.replies[i]
		if tools.IsFatal(r.err) {
			g.ended = cmp.Or(g.ended, r.err)
			break
		}
		g.turns = append(g.turns, []byte{byte(i)})
		g.react(r, i)
	}
	g.record()
	g.run.End()
	if p.chance(2, "early", p.salt, step, number) == 0 {
		p.releaseLate()
	}
	cancel()
	p.journal.End()
	hold := (*tools.HoldError)(nil)
	if g.ended != nil && (!errors.As(g.ended, &hold) || tools.IsFatal(g.ended)) {
		return false, g.ended
	}
	p.tell("ended: %v", g.ended)
	return g.ended == nil && g.failed == 0, nil
}

// watching notices when the journal ends the program.
type watching struct {
	dispatch.Attempt
	program *reactor
}

func (w watching) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	entry, err := w.Attempt.Issue(c, all)
	if err != nil {
		w.program.ended = err
	}
	return entry, err
}

// issue makes a call that depends on what the program has seen.
func (g *reactor) issue(why string) {
	if len(g.replies) > 8 || g.ended != nil {
		return
	}
	n := len(g.replies)
	names := []int{0, 0, 0, 1, 2, 2, 3, 4, 5}
	kind := names[g.chance(uint64(len(names)), why, g.step, n)]
	c := tools.Call{Args: fmt.Appendf(nil, `{ "n": %d }`, g.chance(4, "args", why, n, g.number/2))}
	path := g.set.Bindings()[kind].Path()
	switch g.chance(6, "second", why, g.step, g.number, n) {
	case 0, 1:
		c.Repeat = &tools.Repeat{Distinct: []string{"all"}}
		for _, e := range g.entries {
			if e.Tool == path && (e.State == journal.StateFailed || e.State == journal.StateUnknown) {
				c.Repeat.Again = append(c.Repeat.Again, e.ID)
			}
		}
	case 2:
		for _, e := range g.entries {
			if e.Tool == path && e.State == journal.StateOK {
				c.Repeat = &tools.Repeat{Same: e.ID}
			}
		}
	case 3:
		if path == "db.touch" {
			c.Repeat = &tools.Repeat{Fresh: true}
		}
	}
	g.record()
	x := g.run.Issue(c, kind)
	if tools.IsFatal(g.ended) {
		return // it is not recorded
	}
	g.tell("%d.%d issue %d: %s %s %v, recorded: %v", g.step, g.number, n, path, c.Args, c.Repeat, x.Recorded)
	g.mark()
	answer := make(chan reply, 1)
	g.replies = append(g.replies, answer)
	g.calls.Go(func() {
		result, err := x.Perform(g.ctx)
		answer <- reply{result, err}
		g.arrived <- n
	})
}

// next returns the call whose reply arrives next.
func (g *reactor) next() int {
	for {
		select {
		case i := <-g.arrived:
			return i
		case <-time.After(2 * time.Millisecond): // perhaps only late tools are left
			g.releaseLate()
		}
	}
}

// record records the turns since the last call.
func (g *reactor) record() {
	g.attempt.Turns(g.turns[g.sent:])
	g.sent = len(g.turns)
}

// react handles a reply.
func (g *reactor) react(r reply, i int) {
	te, isToolError := errors.AsType[*tools.ToolError](r.err)
	switch {
	case r.err == nil:
		g.tell("reply %d: %v", i, as[any](r.result))
	case isToolError && !tools.IsFatal(r.err):
		text, err := json.Marshal(te)
		g.failed++
		g.tell("reply %d: %v %v", i, as[any](text), err)
	default:
		g.ended = cmp.Or(g.ended, r.err)
		return
	}
	for range g.chance(3, "react", i, g.step, g.failed) {
		g.issue(fmt.Sprint(i, g.failed, len(g.turns)))
	}
}

// rowsUntil returns what the servers had done when the log had n records.
func (p *process) rowsUntil(n int) []effectRow {
	return slices.DeleteFunc(slices.Clone(p.rows), func(r effectRow) bool { return r.at > n })
}

// verify compares the journal with what the servers have done.
func (p *process) verify() {
	p.t.Helper()
	p.calls.Wait()
	defer func() {
		if p.t.Failed() {
			p.tell("the log:\n%s", joined(p.log.(*memory).records))
		}
	}()
	entries, err := journal.Read(p.log)
	if err != nil || entriesText(entries) != entriesText(p.journal.Entries()) {
		p.t.Errorf("the log says (%v)\n%s\nand not\n%s", err, entriesText(entries), entriesText(p.journal.Entries()))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known := map[string]journal.Entry{}
	for _, e := range entries {
		known["r-test:"+e.ID] = e
	}
	count := map[string]int{}
	for _, r := range p.rows {
		count[r.id]++
		e := known[r.id]
		switch {
		case e.ID == "":
			p.t.Errorf("invariant 3: %v has no entry", r)
		case count[r.id] > 1 && (e.Tool == "db.add" || e.Tool == "db.touch") && e.Class != tools.Read:
			p.t.Errorf("invariant 1: %v happened again: %v", r, e)
		case e.State == journal.StateRejected && !r.failed && e.Class != tools.Read && !sentAgain(e, entries):
			p.t.Errorf("invariant 2: %v happened, but is rejected", r)
		}
	}
	for id, e := range known {
		// An idempotent call that is sent again has the ID of the first one.
		if e.State == journal.StateOK && e.Class != tools.Read && e.Class != tools.Idempotent && count[id] == 0 {
			p.t.Errorf("invariant 2: %v did not happen", e)
		}
	}
}

// sentAgain reports whether a later call has sent an idempotent call again. It has the ID of the first one, which may
// meanwhile be known to be rejected.
func sentAgain(e journal.Entry, entries []journal.Entry) bool {
	return e.Class == tools.Idempotent && slices.ContainsFunc(entries, func(o journal.Entry) bool {
		return o.ID != e.ID && o.Tool == e.Tool && o.Attempt > e.Attempt && bytes.Equal(o.Args, e.Args)
	})
}

// told returns how much of the story is in the first n records of the log.
func (p *process) told(n int) (told int) {
	for _, m := range p.marks {
		if m.records <= n {
			told = max(told, m.story)
		}
	}
	return told
}

// compare checks that the run saw what an earlier run had seen. If it is not complete, it has ended earlier.
func (p *process) compare(story []string, complete bool) {
	p.t.Helper()
	for i, want := range story {
		if !complete && i >= len(p.story) {
			return
		}
		if i >= len(p.story) || p.story[i] != want {
			p.t.Errorf("got  %s\nwant %s", strings.Join(p.story[min(i, len(p.story)):min(i+1, len(p.story))], ""), want)
			return
		}
	}
}

package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/dispatch"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// world is the state of some servers, and how they fail.
type world struct {
	mails   []string // the recipients
	posts   []string
	balance map[string]int
	orders  []string // their names; an order's ID is its index

	fates map[int]fate // by the number of the effect, from 0
	tried int
	reads int // reads that were performed
}

// fate is how a server treats a call of an effect.
type fate int

const (
	succeed fate = iota
	failBefore
	failAfter // the effect takes place, and the server reports an error
	timeoutBefore
	timeoutAfter // the effect takes place, and no answer comes
	reject       // the server cannot be reached
)

var fates = []fate{failBefore, failAfter, timeoutBefore, timeoutAfter, reject}

type arguments struct {
	To, Text, Name string
	N, Page        int
}

func newWorld(fates map[int]fate) *world {
	return &world{balance: map[string]int{"": 100}, fates: fates}
}

// set returns the tools: reads look at the world, and every effect has a fate.
func (w *world) set(t *testing.T) *tools.Set {
	t.Helper()
	read, effect := tools.Hints{Class: tools.Read}, tools.Hints{Class: tools.Effect}
	idempotent, unclassified := tools.Hints{Class: tools.Idempotent}, tools.Hints{}
	set, err := tools.NewSet(t.Context(),
		w.read("mail.list", read, func(arguments) any { return append([]string{}, w.mails...) }),
		w.read("mail.get_user", unclassified, func(a arguments) any { return a.To + "@example.org" }),
		w.effect("mail.send", effect, func(a arguments) any { w.mails = append(w.mails, a.To); return len(w.mails) }),
		w.read("chat.messages", unclassified, func(arguments) any { return append([]string{}, w.posts...) }),
		w.effect("chat.post", unclassified, func(a arguments) any {
			w.posts = append(w.posts, a.To)
			return len(w.posts)
		}),
		w.read("bank.get_balance", unclassified, func(a arguments) any { return w.balance[a.Name] }),
		w.effect("bank.set_balance", idempotent, func(a arguments) any { w.balance[a.Name] = a.N; return a.N }),
		w.read("orders.find", read, func(a arguments) any { return slices.Index(w.orders, a.Name) }),
		w.effect("orders.create", effect, func(a arguments) any {
			w.orders = append(w.orders, a.Name)
			return len(w.orders) - 1
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func (w *world) read(path string, h tools.Hints, look func(arguments) any) *tools.Tool {
	return tool(path, h, func(a arguments) (any, error) {
		w.reads++
		return look(a), nil
	})
}

func (w *world) effect(path string, h tools.Hints, act func(arguments) any) *tools.Tool {
	return tool(path, h, func(a arguments) (any, error) {
		f := w.fates[w.tried]
		w.tried++
		if f == reject {
			return nil, &tools.ToolError{Kind: tools.KindUnavailable, Message: "connection refused"}
		}
		var result any
		if f != failBefore && f != timeoutBefore {
			result = act(a)
		}
		switch f {
		case failBefore, failAfter:
			return nil, errors.New("504")
		case timeoutBefore, timeoutAfter:
			return nil, context.DeadlineExceeded
		}
		return result, nil
	})
}

func tool(path string, h tools.Hints, do func(arguments) (any, error)) *tools.Tool {
	namespace, name, _ := strings.Cut(path, ".")
	handler := func(_ context.Context, raw json.RawMessage) (json.RawMessage, error) {
		var a arguments
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, err
		}
		result, err := do(a)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
	return &tools.Tool{Namespace: namespace, Name: name, Hints: h, Handler: handler}
}

// check compares everything that the programs did.
func (p *play) check(story string) {
	p.t.Helper()
	if got, want := trimmed(strings.Join(p.story, "\n")), trimmed(unfold(story)); got != want {
		p.t.Errorf("got\n%s\nwant\n%s", fold(got), fold(want))
	}
}

// trimmed returns text without indentation.
func trimmed(text string) string {
	var list []string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		list = append(list, strings.TrimSpace(line))
	}
	return strings.Join(list, "\n")
}

// play is a run of programs that are written one after the other.
type play struct {
	t       *testing.T
	world   *world
	journal *journal.Journal
	set     *tools.Set
	index   map[string]int
	rand    *rand.Rand // the order of concurrent calls; nil keeps their order
	story   []string
}

func newPlay(t *testing.T, w *world, o *journal.Options) *play {
	t.Helper()
	return newPlayOf(t, w, w.set(t), o)
}

func newPlayOf(t *testing.T, w *world, set *tools.Set, o *journal.Options) *play {
	t.Helper()
	p := &play{t: t, world: w, journal: journal.New(o), set: set, index: map[string]int{}}
	for i, b := range p.set.Bindings() {
		p.index[b.Path()] = i
	}
	return p
}

func (p *play) tell(format string, args ...any) {
	p.story = append(p.story, fmt.Sprintf(format, args...))
}

// guest is a running program.
type guest struct {
	*play
	run     *dispatch.Dispatcher
	ended   error        // the error with which the journal ended the program
	waiting []*guestCall // calls that were issued and not performed
}

// guestCall is one call of a program.
type guestCall struct {
	path, args, second string // second is "" or the second argument

	issued *dispatch.Execution
	result json.RawMessage
	err    error // the error that the program can catch
}

func (c *guestCall) String() string {
	if c.second != "" {
		return fmt.Sprintf("%s(%s, %s)", c.path, c.args, c.second)
	}
	return fmt.Sprintf("%s(%s)", c.path, c.args)
}

// watched notices when the journal ends the program.
type watched struct {
	dispatch.Attempt
	guest *guest
}

func (w watched) Issue(c tools.Call, all []*tools.Binding) (dispatch.Entry, error) {
	entry, err := w.Attempt.Issue(c, all)
	if err != nil {
		w.guest.ended = err
		w.guest.run.End()
	}
	return entry, err
}

// ending unwinds a program: a hold, a fatal error, or a thrown error.
type ending struct{ err error }

// attempt runs a program. It returns nil if the program finished, and otherwise what ended it: a
// thrown error, a *[tools.HoldError], or a fatal error. Calls that the program has not waited for
// are dropped.
func (p *play) attempt(program func(g *guest)) (err error) {
	p.t.Helper()
	p.tell("attempt")
	g := &guest{play: p}
	g.run = dispatch.New(p.set, watched{p.journal.Attempt(), g})
	defer func() {
		r := recover()
		end, ok := r.(ending)
		if r != nil && !ok {
			panic(r)
		}
		if err = end.err; err != nil {
			p.tell("%s: %v", how(err), err)
		}
		g.drop()
	}()
	program(g)
	return nil
}

// drop ends the program and drops its calls that have not reached their tools.
func (g *guest) drop() {
	g.t.Helper()
	g.run.End()
	tried, reads := g.world.tried, g.world.reads
	for _, c := range g.waiting {
		if _, err := c.issued.Perform(context.Background()); err == nil && !c.issued.Recorded {
			g.t.Errorf("invariant 10: %v was performed after its program", c)
		}
	}
	if g.world.tried != tried || g.world.reads != reads {
		g.t.Error("invariant 10: a tool was called after the end of the program")
	}
}

func how(err error) string {
	switch {
	case isHold(err):
		return "held"
	case tools.IsFatal(err):
		return "stopped"
	}
	return "threw"
}

func isHold(err error) bool { return !tools.IsFatal(err) && errors.As(err, new(*tools.HoldError)) }

// throw ends the program with an error.
func (g *guest) throw(message string) { panic(ending{errors.New(message)}) }

// call makes a call and waits for it. If it fails, the program ends.
func (g *guest) call(path, args string, second ...string) json.RawMessage {
	g.t.Helper()
	return g.await(g.start(path, args, second...))
}

// caught makes a call and returns the error that the tool reports.
func (g *guest) caught(path, args string, second ...string) error {
	g.t.Helper()
	c := g.start(path, args, second...)
	g.perform(c)
	return c.err
}

// all waits for several calls, like Promise.all.
func (g *guest) all(calls ...*guestCall) {
	g.t.Helper()
	order := slices.Clone(calls)
	if g.rand != nil {
		g.rand.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	}
	for _, c := range order {
		g.perform(c)
	}
	for _, c := range calls {
		if c.err != nil {
			panic(ending{c.err})
		}
	}
}

// start issues a call. If the journal refuses it, the program ends.
func (g *guest) start(path, args string, second ...string) *guestCall {
	g.t.Helper()
	c := &guestCall{path: path, args: args, second: strings.Join(second, "")}
	index, ok := g.index[path]
	if !ok {
		g.t.Fatalf("no tool %s", path)
	}
	call := tools.Call{Args: json.RawMessage(args)}
	if c.second != "" {
		var err error
		if call.Repeat, err = dispatch.DecodeRepeat([]byte(c.second)); err != nil {
			g.t.Fatalf("%s: %v", c.second, err)
		}
	}
	c.issued = g.run.Issue(call, index)
	if g.ended != nil {
		_, err := c.issued.Perform(context.Background())
		panic(ending{err})
	}
	g.waiting = append(g.waiting, c)
	return c
}

func (g *guest) await(c *guestCall) json.RawMessage {
	g.t.Helper()
	g.perform(c)
	if c.err != nil {
		panic(ending{c.err})
	}
	return c.result
}

func (g *guest) perform(c *guestCall) {
	g.t.Helper()
	g.waiting = slices.DeleteFunc(g.waiting, func(other *guestCall) bool { return c == other })
	c.result, c.err = c.issued.Perform(context.Background())
	switch {
	case c.err != nil && (isHold(c.err) || tools.IsFatal(c.err)):
		panic(ending{c.err})
	case c.err != nil && c.issued.Recorded:
		g.tell("  %v threw %v, recorded", c, c.err)
	case c.err != nil:
		g.tell("  %v threw %v", c, c.err)
	case c.issued.Recorded:
		g.tell("  %v → %s, recorded", c, c.result)
	default:
		g.tell("  %v → %s", c, c.result)
	}
}

// as decodes a result.
func as[T any](result json.RawMessage) (v T) {
	if err := json.Unmarshal(result, &v); err != nil {
		panic(err)
	}
	return v
}

func to(name string) string { return fmt.Sprintf(`{"to":%q}`, name) }

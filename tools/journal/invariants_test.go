package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Use more seeds to find rare failures: go test -run 'Promise|Invariant' -seeds 50000.
var seeds = flag.Int("seeds", 200, "how many random runs the tests play")

// TestInvariant12 plays random programs that are rewritten after failures. The first program of
// a step does anything. Later programs list first, do only what is missing, and name uncertain
// entries after a hold. Wherever one or two calls fail, no effect happens twice, none is lost,
// and none is an orphan.
func TestInvariant12(t *testing.T) {
	t.Parallel()
	total := 0
	for seed := range uint64(*seeds) {
		s := newSimulation(t, seed)
		for _, last := range []bool{false, true} {
			s.step(last)
		}
		s.check()
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, fold(strings.Join(s.story, "\n")))
		}
		total += s.holds
	}
	if total < *seeds/4 {
		t.Errorf("only %d calls were held: the programs are too tame", total)
	}
}

// simulation is a run of programs that a careful model writes.
type simulation struct {
	*play
	random *rand.Rand
	tasks  []task          // the effects that are wanted, over all steps
	stages [][]task        // of the program; the tasks of a stage are done at the same time
	held   map[string]bool // tools with a held call
	known  []journal.Entry // the entries when the program was written
	holds  int
	text   string // different in every program, or always the same
}

// task is an effect that is wanted once.
type task struct{ tool, item string }

// args returns the arguments of the call. Those of an order have no text.
func (k task) args(text string) string {
	switch k.tool {
	case "orders.create":
		return fmt.Sprintf(`{"name":%q}`, k.item)
	case "bank.set_balance":
		return fmt.Sprintf(`{"name":%q,"n":90}`, k.item)
	}
	return fmt.Sprintf(`{"to":%q,"text":%q}`, k.item, text)
}

// count returns how often the effect happened.
func (k task) count(w *world) int {
	n := 0
	items := map[string][]string{"mail.send": w.mails, "chat.post": w.posts, "orders.create": w.orders}
	for _, item := range items[k.tool] {
		if item == k.item {
			n++
		}
	}
	if k.tool == "bank.set_balance" && w.balance[k.item] == 90 {
		n++
	}
	return n
}

func newSimulation(t *testing.T, seed uint64) *simulation {
	t.Helper()
	s := &simulation{random: rand.New(rand.NewPCG(seed, 12)), held: map[string]bool{}}
	w := newWorld(map[int]fate{})
	for range 1 + s.random.IntN(2) {
		w.fates[s.random.IntN(8)] = fates[s.random.IntN(len(fates))]
	}
	s.play = newPlay(t, w, &journal.Options{Reconcile: s.reconcile})
	s.rand = s.random
	return s
}

// reconcile returns the true outcome of an unknown call.
func (s *simulation) reconcile(_ context.Context, e journal.Entry) (journal.Reconciled, error) {
	a := as[arguments](e.Args)
	if (task{e.Tool, a.To + a.Name}).count(s.world) > 0 {
		return journal.Reconciled{State: journal.StateOK, Result: json.RawMessage(`"reconciled"`)}, nil
	}
	return journal.Reconciled{State: journal.StateRejected}, nil
}

// step runs programs until one finishes.
func (s *simulation) step(last bool) {
	s.plan()
	mayThrow, fresh := s.random.IntN(3), s.random.IntN(2) == 0
	for n := range 12 {
		if n == 0 || fresh {
			s.text = fmt.Sprintf("text %d", n)
		}
		run := style{
			first: n == 0 && s.random.IntN(2) == 0 && len(s.journal.Entries()) == 0,
			again: s.random.IntN(3) == 0, ignores: !last && s.random.IntN(4) == 0, throws: -1,
		}
		if n < mayThrow {
			run.throws = s.random.IntN(len(s.stages) + 1)
		}
		s.known = s.journal.Entries()
		err := s.attempt(func(g *guest) { s.program(g, run) })
		if err := s.journal.Reconcile(context.Background()); err != nil {
			s.t.Error(err)
		}
		s.note(err)
		if err == nil {
			if orphans := s.journal.Accept(); len(orphans) > 0 {
				s.t.Errorf("%v are orphans, although the program has seen them", orphans)
			}
			s.tell("accepted")
			return
		}
	}
	s.t.Error("no program finished")
}

// plan adds tasks and distributes them over stages.
func (s *simulation) plan() {
	paths := []string{"mail.send", "mail.send", "chat.post", "orders.create", "bank.set_balance"}
	for range 1 + s.random.IntN(4) {
		k := task{paths[s.random.IntN(len(paths))], fmt.Sprintf("i%d", len(s.tasks))}
		if k.tool == "bank.set_balance" {
			s.world.balance[k.item] = 100
		}
		s.tasks = append(s.tasks, k)
	}
	s.stages = nil
	for _, k := range s.tasks {
		if n := len(s.stages); n > 0 && s.random.IntN(2) == 0 {
			s.stages[n-1] = append(s.stages[n-1], k)
		} else {
			s.stages = append(s.stages, []task{k})
		}
	}
}

// style describes how a program is written.
type style struct {
	first   bool // it does not look at the current state, because nothing was done before
	again   bool // it retries failed calls
	ignores bool // it ignores errors
	throws  int  // the stage before which it throws an error of its own, or -1
}

func (s *simulation) program(g *guest, run style) {
	done := map[task]bool{}
	if !run.first {
		done = s.look(g)
	}
	for i, stage := range s.stages {
		if run.throws == i {
			g.throw("a bug")
		}
		g.call("mail.get_user", to(stage[0].item)) // an unrelated read
		s.do(g, run, slices.DeleteFunc(slices.Clone(stage), func(k task) bool { return done[k] }))
	}
	if run.throws == len(s.stages) {
		g.throw("a bug")
	}
}

// look lists the tasks.
func (s *simulation) look(g *guest) map[task]bool {
	mails := as[[]string](g.call("mail.list", `{}`))
	posts := as[[]string](g.call("chat.messages", `{}`, `{"fresh":true}`))
	done := map[task]bool{}
	for _, k := range s.tasks {
		switch k.tool {
		case "mail.send":
			done[k] = slices.Contains(mails, k.item)
		case "chat.post":
			done[k] = slices.Contains(posts, k.item)
		case "orders.create":
			done[k] = as[int](g.call("orders.find", k.args(""))) >= 0
		case "bank.set_balance":
			done[k] = as[int](g.call("bank.get_balance", fmt.Sprintf(`{"name":%q}`, k.item))) != 100
		}
	}
	return done
}

// do makes calls concurrently.
func (s *simulation) do(g *guest, run style, tasks []task) {
	if !run.again && !run.ignores {
		var calls []*guestCall
		for _, k := range tasks {
			calls = append(calls, g.start(k.tool, k.args(s.text), s.second(k.tool)))
		}
		g.all(calls...)
		return
	}
	for _, k := range tasks {
		err := g.caught(k.tool, k.args(s.text), s.second(k.tool))
		if err != nil && run.again {
			err = g.caught(k.tool, k.args(s.text), s.second(k.tool))
		}
		if err != nil && !run.ignores {
			g.throw("it failed again")
		}
	}
}

// second returns the second argument for calls of a tool: nothing, or, after one of its calls was
// held, the answer that the hold asks for.
func (s *simulation) second(tool string) string {
	if !s.held[tool] {
		return ""
	}
	again := []string{}
	for _, e := range s.known {
		if e.Tool == tool && (e.State == journal.StateFailed || e.State == journal.StateUnknown) {
			again = append(again, e.ID)
		}
	}
	text, err := json.Marshal(tools.Repeat{Again: again, Distinct: []string{"all"}})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// note records a hold.
func (s *simulation) note(err error) {
	hold := (*tools.HoldError)(nil)
	switch {
	case tools.IsFatal(err):
		s.t.Errorf("the run was stopped: %v", err)
	case errors.As(err, &hold):
		s.holds++
		path, _, _ := strings.Cut(hold.Call, "(")
		s.held[path] = true
		for _, b := range s.set.Bindings() {
			if b.Path() == path && b.ReplayClass() == tools.Read {
				s.t.Errorf("a read was held: %v", hold)
			}
		}
	}
}

func (s *simulation) check() {
	for _, k := range s.tasks {
		if n := k.count(s.world); n != 1 {
			s.t.Errorf("%s of %s happened %d times", k.tool, k.item, n)
		}
	}
}

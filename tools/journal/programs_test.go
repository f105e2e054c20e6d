package journal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Concurrent chains end in any order. If the program runs again, it is held before it draws
// twice.
func TestParallelChains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		p := newPlay(t, newWorld(nil), nil)
		p.rand = rand.New(rand.NewPCG(seed, 1))
		names := []string{"a", "b", "c", "d"}
		for _, name := range names {
			p.world.balance[name] = 100
		}
		if err := p.attempt(func(g *guest) { drawAll(g, names); g.throw("bug") }); err.Error() != "bug" {
			t.Fatalf("seed %d: %v", seed, err)
		}
		held := p.attempt(func(g *guest) { drawAll(g, names) })
		if !isHold(held) {
			t.Errorf("seed %d: the second program ended with %v", seed, held)
		}
		for _, name := range names {
			if p.world.balance[name] != 90 {
				t.Errorf("seed %d: %s has %d:\n%s", seed, name, p.world.balance[name], strings.Join(p.story, "\n"))
			}
		}
	}
}

// drawAll takes 10 from every account concurrently: the first call of each chain is dispatched, and
// the chain whose call ends first continues.
func drawAll(g *guest, names []string) {
	type chain struct {
		name string
		call *guestCall
		left []string // the remaining calls
	}
	var chains []*chain
	start := func(c *chain) {
		args := fmt.Sprintf(`{"name":%q}`, c.name)
		if c.left[0] == "bank.set_balance" {
			args = fmt.Sprintf(`{"name":%q,"n":%d}`, c.name, as[int](c.call.result)-10)
		}
		c.call = g.start(c.left[0], args)
		c.left = c.left[1:]
	}
	for _, name := range names {
		c := &chain{name: name, left: []string{"orders.find", "bank.get_balance", "bank.set_balance"}}
		chains = append(chains, c)
		start(c)
	}
	for len(chains) > 0 {
		i := g.rand.IntN(len(chains))
		c := chains[i]
		g.await(c.call)
		if len(c.left) > 0 {
			start(c)
		} else {
			chains = slices.Delete(chains, i, i+1)
		}
	}
}

package module

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
)

// subCalls is what the programs of one run have asked models, and what they may. It
// is in the context of the programs.
//
// An answer is paid for once. A program that fails leaves no variable behind, but
// its answers stay here, and whoever asks the same again is given them first. Each
// is given once: who asks twice wants two.
type subCalls struct {
	budget *budget
	sub    *Predictor
	nested *RLM[SubTask, SubReply]
	turn   chan struct{} // held by a nested run that may have others made

	mu      sync.Mutex
	program int
	spare   map[digest][]string // answers that no program has any more
	given   []subAnswer         // those that the program under way has
	kept    []subAnswer         // those that programs before have left in variables
}

// digest stands for a question.
type digest [sha256.Size]byte

type subAnswer struct {
	to   digest
	text string
}

type subCallsKey struct{}

// subCallsOf returns what was put there by beginProgram: nothing else makes the tools.
func subCallsOf(ctx context.Context) *subCalls {
	c, _ := ctx.Value(subCallsKey{}).(*subCalls)
	return c
}

// beginProgram begins a program, in whose context models may be asked.
func (c *subCalls) beginProgram(ctx context.Context) context.Context {
	c.mu.Lock()
	c.program++
	c.mu.Unlock()
	return context.WithValue(c.budget.in(ctx), subCallsKey{}, c)
}

// endProgram ends the program. One that has failed has lost its answers.
func (c *subCalls) endProgram(well bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if well {
		c.kept = append(c.kept, c.given...)
	} else {
		c.release(c.given)
	}
	c.given = nil
	c.program++ // what comes now comes too late
}

// lost says that all variables are gone.
func (c *subCalls) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release(c.kept)
	c.kept = nil
}

func (c *subCalls) release(list []subAnswer) {
	if c.spare == nil {
		c.spare = map[digest][]string{}
	}
	for _, a := range list {
		c.spare[a.to] = append(c.spare[a.to], a.text)
	}
}

// once answers a question from what was paid for, or else by asking.
func (c *subCalls) once(in any, ask func() (string, error)) (string, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	to := digest(sha256.Sum256(fmt.Appendf(nil, "%T %s", in, text)))
	found, program, ok := c.recall(to)
	if ok {
		return found, nil
	}
	got, err := ask()
	if err != nil {
		return "", err
	}
	c.remember(subAnswer{to, got}, program)
	return got, nil
}

func (c *subCalls) recall(to digest) (text string, program int, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.spare[to]
	if len(list) == 0 {
		return "", c.program, false
	}
	c.spare[to] = list[1:]
	c.given = append(c.given, subAnswer{to, list[0]})
	return list[0], c.program, true
}

func (c *subCalls) remember(a subAnswer, program int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if program != c.program {
		c.release([]subAnswer{a})
		return
	}
	c.given = append(c.given, a)
}

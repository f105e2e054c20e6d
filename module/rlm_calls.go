package module

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// subCalls is what the programs of one run have asked models, and what they may ask. It
// is in the context of the programs. The same question again has the same answer, and
// costs nothing: a program that failed has lost its variables, not what was paid for.
type subCalls struct {
	budget *budget
	sub    *Predictor
	nested *RLM[SubTask, SubReply]
	turn   chan struct{} // held by a nested run that may have others made

	mu      sync.Mutex
	answers map[digest]*subAnswer
}

// subAnswer is a question under way, or its answer.
type subAnswer struct {
	done   chan struct{} // closed when there is an answer, or an error
	answer string
	err    error
}

// digest stands for a question.
type digest [sha256.Size]byte

type subCallsKey struct{}

// subCallsOf returns what in has put there: nothing else makes the tools.
func subCallsOf(ctx context.Context) *subCalls {
	c, _ := ctx.Value(subCallsKey{}).(*subCalls)
	return c
}

// in returns a context for a program that may ask models.
func (c *subCalls) in(ctx context.Context) context.Context {
	return context.WithValue(c.budget.in(ctx), subCallsKey{}, c)
}

// once answers a question from what was paid for, or else by asking.
func (c *subCalls) once(in any, ask func() (string, error)) (string, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	question := digest(sha256.Sum256(fmt.Appendf(nil, "%T %s", in, text)))
	a, first := c.asked(question)
	if !first {
		<-a.done
		return a.answer, a.err
	}
	a.err = errUnasked // if ask panics
	defer func() {
		if a.err != nil {
			c.mu.Lock()
			delete(c.answers, question)
			c.mu.Unlock()
		}
		close(a.done)
	}()
	a.answer, a.err = ask()
	return a.answer, a.err
}

var errUnasked = errors.New("the model could not be asked")

// asked returns what is known of a question, and whether the caller is the first to ask it.
func (c *subCalls) asked(question digest) (a *subAnswer, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a = c.answers[question]; a != nil {
		return a, false
	}
	if c.answers == nil {
		c.answers = map[digest]*subAnswer{}
	}
	a = &subAnswer{done: make(chan struct{})}
	c.answers[question] = a
	return a, true
}

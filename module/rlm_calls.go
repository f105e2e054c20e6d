package module

import (
	"context"
	"crypto/sha256"
	"encoding/json"
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
	answers map[digest]string
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
	c.mu.Lock()
	answer, known := c.answers[question]
	c.mu.Unlock()
	if known {
		return answer, nil
	}
	if answer, err = ask(); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil {
		c.answers = map[digest]string{}
	}
	c.answers[question] = answer
	return answer, nil
}

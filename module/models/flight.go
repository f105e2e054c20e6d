package models

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// flight is a request in progress, shared by all callers that wait for its reply.
type flight struct {
	done    chan struct{}
	answer  answer   // valid once done is closed
	copy    response // a copy of the answer, for all callers but the one that takes it
	waiting int      // callers
	taken   bool     // a caller has taken the answer and counts its cost
	told    bool     // a caller that left was told that the request may be charged
	cancel  context.CancelFunc
}

type answer struct {
	response *llms.ContentResponse
	err      error
}

// share sends a request, or waits for the reply to an identical one in progress. The
// request continues while any caller waits for it, until the deadline of the first
// caller; then another caller sends it again.
func (c *Cache) share(ctx context.Context, key string, ask func(context.Context) answer) (*llms.ContentResponse,
	error) {
	for {
		f, first := c.join(ctx, key, ask)
		select {
		case <-f.done:
		case <-ctx.Done():
			select {
			case <-f.done: // done as well, so the cost is known
			default:
				ends := first && errors.Is(ctx.Err(), context.DeadlineExceeded)
				return nil, lm.Charged(lm.CancelledBy(ctx), c.part(key, f, ends))
			}
		}
		switch {
		case !first && ctx.Err() == nil && ranOut(f.answer.err):
		case c.take(f):
			return f.answer.response, f.answer.err
		default:
			return f.copy.cached(), f.answer.err
		}
	}
}

// ranOut reports whether a request was ended by a deadline.
func ranOut(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Kind == KindCancelled
}

// take reports whether the caller is the one that counts the answer's cost.
func (c *Cache) take(f *flight) (counts bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts = !f.taken && (f.answer.err == nil || !f.told)
	f.taken = true
	return counts
}

func (c *Cache) join(ctx context.Context, key string, ask func(context.Context) answer) (f *flight, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.flights[key]; f != nil {
		f.waiting++
		c.stats.Shared++
		return f, false
	}
	c.stats.Misses++
	ctx, cancel := detached(ctx)
	f = &flight{done: make(chan struct{}), waiting: 1, cancel: cancel}
	c.flights[key] = f
	go c.fly(ctx, key, f, ask)
	return f, true
}

// detached returns a context that keeps the deadline of ctx but is not canceled with it.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (c *Cache) fly(ctx context.Context, key string, f *flight, ask func(context.Context) answer) {
	defer f.cancel()
	f.answer.err = &Error{Kind: KindUnknown, MaybeCharged: true, Err: errLeft}
	f.copy = response{{}} // next to an error, it says that this caller was charged nothing
	defer func() {
		c.mu.Lock()
		if c.flights[key] == f {
			delete(c.flights, key)
		}
		c.mu.Unlock()
		close(f.done)
	}()
	f.answer = ask(ctx)
	if copy := responseOf(f.answer.response); len(copy) > 0 {
		f.copy = copy
	}
}

// errLeft is the error of a model that calls runtime.Goexit, as package testing does.
var errLeft = errors.New("the model ended its goroutine without an answer")

// part removes a caller from a flight and cancels the flight if no caller is left, or if
// ends is set because the flight has reached this caller's deadline. It reports whether the
// request may be charged and no other caller counts it.
func (c *Cache) part(key string, f *flight, ends bool) (charged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if c.flights[key] == f {
			delete(c.flights, key)
		}
	} else if !ends {
		return false
	}
	charged = !f.taken && !f.told
	f.told = true
	return charged
}

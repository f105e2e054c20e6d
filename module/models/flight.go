package models

import (
	"context"
	"errors"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// flight is a question under way, and those who wait for its reply.
type flight struct {
	done    chan struct{}
	answer  answer   // once done
	copy    response // of the answer, which belongs to whoever takes it
	waiting int
	taken   bool // the answer, by somebody who counts what it cost
	told    bool // that it may have been charged, to somebody who left
	cancel  context.CancelFunc
}

type answer struct {
	response *llms.ContentResponse
	err      error
}

// share asks, or waits for the reply of who asks the same already. The question
// goes on as long as anybody waits for it, until the deadline of who asked first;
// then another one asks.
func (c *Cache) share(ctx context.Context, key string, ask func(context.Context) answer) (*llms.ContentResponse, error) {
	for {
		f, first := c.join(ctx, key, ask)
		select {
		case <-f.done:
		case <-ctx.Done():
			select {
			case <-f.done: // as well: what it cost is known
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

// ranOut reports that a question ended by a deadline.
func ranOut(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Kind == KindCancelled
}

// take reports whether the caller is the one to count what the answer cost.
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

// detached is a context that does not end with ctx, but with its deadline: models
// within don't begin a wait that would end after it.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	return context.WithCancel(context.WithoutCancel(ctx))
}

func (c *Cache) fly(ctx context.Context, key string, f *flight, ask func(context.Context) answer) {
	defer f.cancel()
	f.answer.err = &Error{Kind: KindUnknown, MaybeCharged: true, Err: errLeft}
	f.copy = response{{}} // beside an error, to say that it cost nothing
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

// errLeft is the end of a model that calls runtime.Goexit, as the testing package
// does.
var errLeft = errors.New("the model ended its goroutine without an answer")

// part leaves a flight, and ends it if nobody is left. Otherwise it goes on, unless it
// ends with the deadline of who leaves; then the others ask anew. It reports whether
// the answer may have been charged and nobody counts that.
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

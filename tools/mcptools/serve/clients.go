package serve

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/time/rate"
)

// clients are those that asked lately, by the names of their principals.
type clients struct {
	limits Limits
	mu     sync.Mutex
	all    map[string]*client
}

type client struct {
	limits Limits
	rate   *rate.Limiter
	mu     *sync.Mutex
	open   int // requests
}

// enter counts one more request of a principal. Whoever gets a client leaves it.
func (c *clients) enter(name string) (*client, *refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.all[name]
	if one == nil {
		c.forget()
		limit := rate.Limit(c.limits.Rate)
		if c.limits.Rate < 0 {
			limit = rate.Inf
		}
		one = &client{limits: c.limits, rate: rate.NewLimiter(limit, c.limits.Burst), mu: &c.mu}
		c.all[name] = one
	}
	if one.open >= c.limits.Requests {
		return nil, busy(fmt.Sprintf("you have %d requests open; try again when one of them has ended", one.open))
	}
	one.open++
	return one, nil
}

// forget drops those that are as if they had never asked, when there are many.
func (c *clients) forget() {
	if len(c.all) < 1024 {
		return
	}
	for name, one := range c.all {
		if one.open == 0 && one.rate.Tokens() >= float64(c.limits.Burst) {
			delete(c.all, name)
		}
	}
}

func (c *client) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}

// spend counts messages, of which there may be so many a second.
func (c *client) spend(messages int) *refusal {
	now := time.Now()
	r := c.rate.ReserveN(now, min(messages, c.limits.Burst))
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &refusal{
		status: http.StatusTooManyRequests, code: jsonrpc.CodeInternalError, retry: wait,
		text: fmt.Sprintf("too many messages, %g a second are allowed; nothing was done", c.limits.Rate),
	}
}

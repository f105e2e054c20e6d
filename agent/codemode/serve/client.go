package serve

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/writ-go/writ/internal/jsonscan"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// clients are the recently active principals, by name.
type clients struct {
	limits limits
	memory *semaphore.Weighted // bytes of all clients
	mu     sync.Mutex
	byName map[string]*client
}

// principalsAtOnce is how many principals may use their full share of memory at the same time.
const principalsAtOnce = 4

func newClients(l limits) *clients {
	return &clients{limits: l, memory: semaphore.NewWeighted(principalsAtOnce * l.memory), byName: map[string]*client{}}
}

type client struct {
	all    *clients
	rate   *rate.Limiter
	memory *semaphore.Weighted // bytes
	open   int                 // number of open requests
}

// request is a client's open request.
type request struct {
	*client
	held int64 // bytes of memory
	once sync.Once
}

// enter opens a request for a principal. The caller must call leave.
func (c *clients) enter(name string) (*request, *refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.byName[name]
	if one == nil {
		c.forget()
		limit := rate.Limit(c.limits.rate)
		if c.limits.rate < 0 {
			limit = rate.Inf
		}
		one = &client{
			all: c, rate: rate.NewLimiter(limit, c.limits.burst), memory: semaphore.NewWeighted(c.limits.memory),
		}
		c.byName[name] = one
	}
	if one.open >= c.limits.requests {
		return nil, busy(fmt.Sprintf("you have %d requests open; try again when one of them has ended", one.open))
	}
	one.open++
	return &request{client: one}, nil
}

// forget removes idle clients if there are too many clients.
func (c *clients) forget() {
	if len(c.byName) < 1024 {
		return
	}
	for name, one := range c.byName {
		if one.open == 0 && one.rate.Tokens() >= float64(c.limits.burst) {
			delete(c.byName, name)
		}
	}
}

// leave closes the request. It may be called more than once.
func (r *request) leave() {
	r.once.Do(func() {
		r.memory.Release(r.held)
		r.all.memory.Release(r.held)
		r.all.mu.Lock()
		defer r.all.mu.Unlock()
		r.open--
	})
}

// reserve reserves memory for the request until it ends, and reports whether there was enough. It reserves at most a
// principal's limit, however large the request is.
func (r *request) reserve(bytes int64) bool {
	bytes = min(bytes, r.all.limits.memory-r.held)
	if !r.memory.TryAcquire(bytes) {
		return false
	}
	if !r.all.memory.TryAcquire(bytes) {
		r.memory.Release(bytes)
		return false
	}
	r.held += bytes
	return true
}

// The measured memory, in bytes, that each byte and each JSON value of a message needs. The text is read, passed
// to the SDK, and copied as parameters and as arguments; each JSON value may become a Go value.
const (
	costOfByte  = 5
	costOfValue = 200
)

var errFull = errors.New("not enough memory for the message")

// messageMeter is an [io.Writer] that measures a message while it is read, and reserves memory
// for it.
type messageMeter struct {
	*request
	jsonscan.Scanner
}

// Write returns an error if the message is too large, or if there is not enough memory for it.
func (m *messageMeter) Write(text []byte) (int, error) {
	before := m.Values()
	n, err := m.Scanner.Write(text)
	if err == nil && !m.reserve(int64(costOfByte*n+costOfValue*(m.Values()-before))) {
		err = errFull
	}
	return n, err
}

// spend counts a message against the rate limit.
func (c *client) spend() *refusal {
	now := time.Now()
	r := c.rate.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now)
	return &refusal{
		status: http.StatusTooManyRequests, code: jsonrpc.CodeInternalError, retry: wait,
		text: fmt.Sprintf("too many messages: %g per second are allowed; nothing was done, try again later",
			c.all.limits.rate),
	}
}

package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// CacheOptions configures a [Cache]. The zero value, and nil, are the defaults.
type CacheOptions struct {
	// Entries and Bytes bound what is kept in memory; the reply that was used
	// longest ago goes first. Zero is 10,000 entries and 64 MB; less keeps
	// nothing in memory.
	Entries, Bytes int

	// Dir is a directory where replies are kept besides, also for other
	// processes. It is made if need be. Whoever can read it can read the
	// replies. Empty is none.
	Dir string

	// DirBytes bounds its size, as above. Zero is 1 GB.
	DirBytes int64
}

// Cache keeps the replies of models, for questions that are asked again. It is
// safe for concurrent use.
//
// A question is the same if its messages are, with their binary parts, all call
// options besides the functions that receive the reply, the [Params], the model's
// label and the rollout ([WithRollout]). Errors, replies that were cut off, refusals (also of
// one of several alternatives) and empty replies are not kept.
type Cache struct {
	memory *memory
	dir    *dir // or nil

	mu      sync.Mutex
	flights map[string]*flight
	stats   CacheStats
}

// CacheStats is what a [Cache] did so far.
type CacheStats struct {
	Hits      int   // questions that were not asked
	Shared    int   // questions that waited for the reply to the same one
	Misses    int   // questions that were asked
	DirErrors int   // replies that could not be kept in the directory
	DirError  error // why, the last time
}

// String is the statistics on one line.
func (s CacheStats) String() string {
	text := fmt.Sprintf("%d asked, %d answered by the cache", s.Misses, s.Hits)
	if s.Shared > 0 {
		text += fmt.Sprintf(", %d waited for the reply to the same one", s.Shared)
	}
	if s.DirErrors > 0 {
		text += fmt.Sprintf(", %d not kept in the directory: %v", s.DirErrors, s.DirError)
	}
	return text
}

// NewCache returns a cache. It fails if its directory cannot be used.
func NewCache(o *CacheOptions) (*Cache, error) {
	var options CacheOptions
	if o != nil {
		options = *o
	}
	c := &Cache{
		memory:  newMemory(cmp.Or(options.Entries, 10_000), cmp.Or(options.Bytes, 64<<20)),
		flights: map[string]*flight{},
	}
	if options.Dir != "" {
		var err error
		if c.dir, err = openDir(options.Dir, cmp.Or(options.DirBytes, 1<<30)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Stats returns what the cache did so far.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Model returns model with the cache before it. The label says which model that
// is, where, and what it was made with that its replies depend on, such as "gpt-5
// at api.openai.com, strict schema": the cache cannot see it, and two models of
// one label share their replies.
//
// What comes from the cache is marked, so that modules and budgets don't count
// what it had cost. Who wants to see the reply come gets it in one piece.
// Questions that are the same at the same time are asked once; a context that is
// cancelled ends only its own wait. Only those who want to see the reply come
// each ask for themselves.
func (c *Cache) Model(model llms.Model, label string) llms.Model {
	return wrap(model, func(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption) (*llms.ContentResponse, error) {
		if c == nil {
			return nil, &Error{Kind: KindInvalid, Err: errors.New("there is no cache; make one by NewCache, and look at its error")}
		}
		if ctx.Err() != nil {
			return nil, lm.CancelledBy(ctx)
		}
		r, err := requestOf(ctx, label, messages, options)
		if err != nil {
			return lm.Generate(ctx, model, messages, options...) // what has no name cannot be found again
		}
		key := r.key()
		if kept := c.find(key); kept != nil {
			return kept.cached(), kept.stream(ctx, options)
		}
		ask := func(ctx context.Context) answer {
			response, err := lm.Generate(ctx, model, messages, options...)
			c.keep(key, response, err)
			return answer{response, err}
		}
		if o := lm.Options(options); o.StreamingFunc != nil || o.StreamingReasoningFunc != nil {
			c.count(func(s *CacheStats) { s.Misses++ })
			a := ask(ctx)
			return a.response, a.err
		}
		messages, options = lm.Copied(messages), slices.Clone(options) // the caller may leave before the reply is there
		return c.share(ctx, key, ask)
	})
}

func (c *Cache) count(what func(*CacheStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what(&c.stats)
}

// find returns what is kept, or nil. What cannot be read is not there.
func (c *Cache) find(key string) response {
	text := c.memory.get(key)
	if text == nil && c.dir != nil {
		if text = c.dir.get(key); text != nil {
			c.memory.put(key, text)
		}
	}
	var kept response
	if text == nil || json.Unmarshal(text, &kept) != nil || len(kept) == 0 {
		return nil
	}
	c.count(func(s *CacheStats) { s.Hits++ })
	return kept
}

// keep puts a reply away, if it is worth it.
func (c *Cache) keep(key string, r *llms.ContentResponse, err error) {
	if err != nil || r == nil {
		return
	}
	if reply := lm.Merge(r); !reply.Whole() || reply.Cached || (reply.Text == "" && !callsTool(r)) {
		return
	}
	text, err := json.Marshal(responseOf(r))
	if err == nil {
		c.memory.put(key, text)
		if c.dir != nil {
			err = c.dir.put(key, text)
		}
	}
	if err != nil {
		c.count(func(s *CacheStats) { s.DirErrors, s.DirError = s.DirErrors+1, err })
	}
}

func callsTool(r *llms.ContentResponse) bool {
	for _, c := range r.Choices {
		if c != nil && (len(c.ToolCalls) > 0 || c.FuncCall != nil) {
			return true
		}
	}
	return false
}

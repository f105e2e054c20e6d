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

// CacheOptions configures a [Cache]. Nil and the zero value mean the defaults.
type CacheOptions struct {
	// Entries and Bytes limit the replies kept in memory; the least recently used reply is
	// evicted first. Zero means 10,000 entries and 64 MB; a negative value keeps nothing in
	// memory.
	Entries, Bytes int

	// Dir is a directory in which replies are stored as well, so that other processes can
	// use them. It is created if it does not exist. Anyone who can read the directory can
	// read the replies. If empty, replies are kept in memory only.
	Dir string

	// DirBytes limits the size of Dir in the same way. Zero means 1 GB.
	DirBytes int64
}

// Cache stores the replies of models and answers repeated requests from them. It is
// safe for concurrent use.
//
// Two requests are the same if these are equal: the messages with their binary parts, all
// call options except the streaming functions, the [Params], the model's label and the
// rollout ([WithRollout]). Errors, replies that were cut off, refusals (even of one of
// several alternatives) and empty replies are not stored.
type Cache struct {
	memory *memory
	dir    *dir // nil without CacheOptions.Dir

	mu      sync.Mutex
	flights map[string]*flight
	stats   CacheStats
}

// CacheStats counts the requests of a [Cache].
type CacheStats struct {
	Hits      int   // requests answered by the cache
	Shared    int   // requests that waited for the reply to an identical request in progress
	Misses    int   // requests sent to the model
	DirErrors int   // replies that could not be stored in the directory
	DirError  error // the last error of the directory
}

// String returns a summary on one line.
func (s CacheStats) String() string {
	text := fmt.Sprintf("%d asked, %d answered by the cache", s.Misses, s.Hits)
	if s.Shared > 0 {
		text += fmt.Sprintf(", %d shared the reply to an identical request", s.Shared)
	}
	if s.DirErrors > 0 {
		text += fmt.Sprintf(", %d not stored in the directory: %v", s.DirErrors, s.DirError)
	}
	return text
}

// NewCache returns a cache, or an error if its directory cannot be used.
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

// Stats returns the counts so far.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Model returns model with the cache in front of it. The label must name the model,
// its server, and every setting that its replies depend on, such as "gpt-5 at
// api.openai.com, strict schema": the cache cannot see these, and models with the same
// label share their replies.
//
// Replies from the cache are marked, so that modules and budgets count them as free. A
// streaming caller gets a cached reply in one piece. Identical concurrent requests are sent
// once, except streamed ones; canceling the context of one request ends only that request's
// wait.
func (c *Cache) Model(model llms.Model, label string) llms.Model {
	return wrap(model, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		if c == nil {
			return nil, &Error{Kind: KindInvalid,
				Err: errors.New("the cache is nil; make one with NewCache and check its error")}
		}
		if ctx.Err() != nil {
			return nil, lm.CancelledBy(ctx)
		}
		r, err := requestOf(ctx, label, messages, options)
		if err != nil {
			return lm.Generate(ctx, model, messages, options...) // a request without a key cannot be cached
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
		messages, options = lm.Copied(messages), slices.Clone(options) // the caller may return before the reply arrives
		return c.share(ctx, key, ask)
	})
}

func (c *Cache) count(what func(*CacheStats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what(&c.stats)
}

// find returns the stored reply, or nil if it is missing or cannot be read.
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

// keep stores a reply, if it is complete.
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

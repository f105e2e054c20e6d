package models

import (
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// cached answers a request with the stored reply. Of several identical requests, only one at a time is sent.
func (s *Store) cached(ctx context.Context, e *exchange, options []llms.CallOption,
	ask func() (*llms.ContentResponse, error)) (*llms.ContentResponse, error) {
	reply, busy := s.claim(e.Key)
	for ; busy != nil; reply, busy = s.claim(e.Key) {
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, lm.CancelledBy(ctx)
		}
	}
	if reply != nil {
		if meter := lm.MeterOf(ctx); meter != nil {
			meter.Cached()
		}
		return reply.cached(), reply.stream(ctx, options)
	}
	defer s.release(e.Key)
	r, err := ask()
	if err == nil && cacheable(r) {
		e.Reply = s.redacted(responseOf(r))
		e.Request = nil // only Replay needs it
		s.remember(e)
		_ = s.append(e) // Stats has the error
	}
	return r, err
}

// claim returns the cached reply or, if an identical request is in progress, a channel that is closed when it ends.
// Otherwise both are nil: the caller must send the request and then call release.
func (s *Store) claim(key string) (reply response, busy <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := s.recent.get(key); text != nil && json.Unmarshal(text, &reply) == nil {
		s.stats.Hits++
		return reply, nil
	}
	if busy := s.busy[key]; busy != nil {
		return nil, busy
	}
	s.busy[key] = make(chan struct{})
	s.stats.Misses++
	return nil, nil
}

func (s *Store) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.busy[key])
	delete(s.busy, key)
}

// remember keeps a reply in memory.
func (s *Store) remember(e *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.put(e.Key, e.Reply)
}

// cacheable reports whether a Cache keeps a reply: it is complete and not empty, and no other cache answered.
func cacheable(r *llms.ContentResponse) bool {
	if r == nil {
		return false
	}
	reply := lm.Merge(r)
	return reply.Whole() && !reply.Cached && (reply.Text != "" || len(reply.ToolCalls) > 0)
}

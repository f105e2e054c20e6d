package models

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/tools/journal"
)

// Mode says how a [Store] answers requests.
type Mode int

const (
	// Cache answers every repetition of a request with the reply to the first one, and marks the reply as cached, so
	// that modules and budgets count it as free. It does not keep errors, refusals, and empty or truncated replies.
	Cache Mode = iota

	// Resume lets a killed program continue. The program opens the store and starts again. The requests that it made
	// before get their stored replies, usage and errors, and a request that it makes several times gets its replies in
	// the original order, so the program takes the same path as before. Budgets are not charged for them again. Other
	// requests reach the model.
	Resume

	// Replay answers requests as Resume does, but never calls a model, and charges budgets as if it did. A request that
	// is not in the store fails with an error that shows the difference from the most similar one. Use Replay in tests,
	// with a file that Resume wrote.
	Replay
)

// StoreOptions configures a [Store]. Nil and the zero value mean a cache in memory.
type StoreOptions struct {
	Mode Mode

	// Path is the store's file. Each line has a reply and its request or, in a Cache, the request's hash. A file that
	// does not exist is created, and only its owner may read it. Resume and Replay require a Path; without one, a Cache
	// keeps replies only in memory. Only one Cache or Resume can have the file open at a time, even across processes.
	Path string

	// Log, if set, stores the exchanges instead of a file, for Resume. A reply is durable before the caller gets it.
	// The caller closes the log.
	Log journal.Log

	// MaxBytes limits the replies that a Cache keeps in memory; it forgets the least recently used first. Zero means
	// 64 MB.
	MaxBytes int

	// Redact removes the parts of a string that must not be stored or that differ from run to run. It is applied to all
	// strings in requests and replies, but not to JSON member names. It must be deterministic and leave its own results
	// unchanged. It is called concurrently. Replay needs the function that was used for Resume.
	Redact func(string) string
}

// Store keeps the requests to models with their replies, in a file or in memory, and answers requests from them
// according to its [Mode]. It is safe for concurrent use.
//
// Two requests are the same if these are equal: the messages with their binary parts, all call options except the
// streaming functions, the [Params], the label, and the sample's number if a module takes several.
type Store struct {
	options StoreOptions
	file    storeFile // nil without a path and for Replay

	mu     sync.Mutex
	stats  StoreStats
	recent *recent                  // for Cache: replies in memory
	busy   map[string]chan struct{} // for Cache: the requests in progress

	kept   map[occurrence]*exchange // for Resume and Replay: the stored exchanges
	loaded []*exchange              // for Replay: the stored exchanges, in the order of the file
	asked  map[string]int           // for Resume and Replay: how often each request was made
}

// occurrence is the nth occurrence of a request, from 0.
type occurrence struct {
	key string
	n   int
}

// exchange is a line of a store: a request with its reply or, if Retry is set, the instruction to resend failed
// requests.
type exchange struct {
	Key     string          `json:"key,omitempty"` // a hash of the request
	N       int             `json:"n,omitempty"`   // the occurrence of the request, from 0
	Request json.RawMessage `json:"request,omitempty"`
	Reply   json.RawMessage `json:"reply,omitempty"` // a response
	Failure *failure        `json:"failure,omitempty"`

	// Capabilities are the capabilities of the model; nil if the model states none.
	Capabilities *Capabilities `json:"capabilities,omitempty"`

	// Spent is what the request used of the budgets of its context; nil if there was none.
	Spent json.RawMessage `json:"spent,omitempty"`

	Retry bool `json:"retry,omitempty"`

	line int // in the file, from 1
}

// StoreStats counts the requests of a [Store] since it was opened.
type StoreStats struct {
	Hits   int   // requests answered by the store
	Misses int   // requests sent to the model
	Err    error // why a reply could not be stored; later replies were not stored either
}

// String returns a summary on one line.
func (s StoreStats) String() string {
	text := fmt.Sprintf("%d sent to the model, %d answered by the store", s.Misses, s.Hits)
	if s.Err != nil {
		text += fmt.Sprintf(", replies not stored: %v", s.Err)
	}
	return text
}

var errNotStore = errors.New("not a reply store; choose a different file")

// OpenStore opens a store, or creates an empty one. It returns an error if the file is open elsewhere.
func OpenStore(o *StoreOptions) (*Store, error) {
	s := &Store{busy: map[string]chan struct{}{}, kept: map[occurrence]*exchange{}, asked: map[string]int{}}
	if o != nil {
		s.options = *o
	}
	s.recent = newRecent(cmp.Or(max(s.options.MaxBytes, 0), 64<<20))
	path := s.options.Path
	var err error
	switch {
	case s.options.Mode == Cache && s.options.Redact != nil: // requests that differ would share a reply
		return nil, errors.New("models: a cache cannot redact; use the mode Resume, or leave StoreOptions.Redact nil")
	case s.options.Log != nil && (s.options.Mode != Resume || path != ""):
		return nil, errors.New("models: StoreOptions.Log is for the mode Resume without a Path")
	case s.options.Log != nil:
		s.file, err = openLog(s.options.Log, s.add)
	case path == "" && s.options.Mode != Cache:
		return nil, errors.New("models: a store with the mode Resume or Replay needs a file; set StoreOptions.Path")
	case path == "":
	case s.options.Mode == Replay:
		err = s.load(path)
	default:
		s.file, err = openFile(path, s.add)
	}
	if err != nil {
		return nil, fmt.Errorf("models: the store %s: %w", path, err)
	}
	return s, nil
}

// add adds an exchange from a line of the file.
func (s *Store) add(n int, line []byte) error {
	e := &exchange{line: n}
	if err := json.Unmarshal(line, e); err != nil {
		return err
	}
	var reply *response
	if err := json.Unmarshal(e.Reply, &reply); len(e.Reply) > 0 && err != nil {
		return err
	}
	switch {
	case e.Retry:
		s.forgetFailures()
		return nil
	case e.Key == "" || reply == nil && e.Failure == nil:
		return errNotStore
	case s.options.Mode == Cache:
		if e.Failure == nil {
			s.remember(e)
		}
		return nil
	case s.options.Mode == Replay:
		s.loaded = append(s.loaded, e)
	default:
		e.Request = nil // only Replay needs it
	}
	s.kept[occurrence{e.Key, e.N}] = e
	return nil
}

// Model returns a model whose requests are answered by the store or else by the given model, which Replay does not
// need. The label must name the model, its server, and every setting that its replies depend on, such as "gpt-5 at
// api.openai.com, strict schema": the store cannot see these, and models with the same label share their replies.
//
// A streaming caller gets a stored reply in one piece. Of several identical concurrent requests, a Cache sends one at a
// time until it has a good reply for the rest. With Resume, the order of concurrent requests does not matter, unless
// they are identical; give them different labels then. If Resume cannot write a reply, the error is an *[Error] of kind
// [KindUnknown], which is returned together with the reply; later requests fail without reaching the model. Requests
// that were canceled or over a budget are not stored.
//
// A model opened with Replay has the capabilities of the model in the file's first line.
func (s *Store) Model(model llms.Model, label string) llms.Model {
	answer := func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		if s == nil {
			return nil, &Error{Kind: KindInvalid, Err: errors.New("the store is nil; check OpenStore's error")}
		}
		if ctx.Err() != nil {
			return nil, lm.CancelledBy(ctx)
		}
		request, err := requestOf(ctx, label, messages, options)
		ask := func() (*llms.ContentResponse, error) { return lm.Generate(ctx, model, messages, options...) }
		switch {
		case err != nil && s.options.Mode == Cache:
			return ask() // a request without a key cannot be cached
		case err != nil:
			return nil, &Error{Kind: KindInvalid, Err: err}
		}
		e := s.exchangeOf(request, model)
		if s.options.Mode == Cache {
			return s.cached(ctx, e, options, ask)
		}
		return s.inOrder(ctx, e, options, lm.ChargeOf(ctx, model, messages, options),
			func(ctx context.Context) (*llms.ContentResponse, error) {
				return lm.Generate(ctx, model, messages, options...)
			})
	}
	switch {
	case s == nil || s.options.Mode != Replay:
		return lm.Wrap(model, answer)
	case len(s.loaded) > 0 && s.loaded[0].Capabilities != nil:
		return lm.WrapCapable(answer, func() Capabilities { return *s.loaded[0].Capabilities })
	}
	return lm.Wrap(nil, answer)
}

// exchangeOf returns an exchange without a reply.
func (s *Store) exchangeOf(r *request, model llms.Model) *exchange {
	e := &exchange{Request: s.redacted(r)}
	e.Key = keyOf(e.Request)
	if lm.IsCapable(model) {
		can := CapabilitiesOf(model)
		e.Capabilities = &can
	}
	return e
}

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

// inOrder answers a request with the stored reply to its next occurrence. Without a stored reply, Resume sends the
// request, and Replay fails.
func (s *Store) inOrder(ctx context.Context, e *exchange, options []llms.CallOption, c lm.Charge,
	ask func(context.Context) (*llms.ContentResponse, error)) (*llms.ContentResponse, error) {
	meter := lm.MeterOf(ctx)
	if old := s.next(e); old != nil {
		var reply response
		_ = json.Unmarshal(old.Reply, &reply) // add has decoded the reply; a failed request may have none
		var err error
		if old.Failure != nil {
			err = old.Failure.error()
		}
		if meter != nil {
			meter.Replay(ctx, s.options.Mode == Replay, c, old.Spent, lm.Merge(reply.provider()), err)
		}
		if err == nil {
			err = reply.stream(ctx, options)
		}
		return reply.provider(), err
	}
	if s.options.Mode == Replay {
		return nil, &Error{Kind: KindInvalid, Err: s.missing(e)}
	}
	if err := s.file.Broken(); err != nil { // do not pay for a reply that would be lost
		return nil, &Error{Kind: KindUnknown, Err: fmt.Errorf("cannot write to the store: %w", err)}
	}
	spent := func() json.RawMessage { return nil }
	if meter != nil {
		ctx, spent = meter.Record(ctx)
	}
	r, err := ask(ctx)
	e.Spent = spent()
	if failed, ok := errors.AsType[*Error](err); ok {
		if failed.Kind == KindCancelled || failed.Kind == KindOverBudget || lm.Refused(err) {
			return r, err
		}
		e.Failure = failureOf(failed, s.redact)
	} else if err != nil {
		return r, err
	}
	if r != nil {
		e.Reply = s.redacted(responseOf(r))
	}
	if failed := s.append(e); failed != nil {
		failed = fmt.Errorf("models: the store: %w", failed)
		if err != nil {
			failed = fmt.Errorf("%w; the call failed as well: %w", failed, err)
		}
		return r, &Error{Kind: KindUnknown, MaybeCharged: true, Err: failed}
	}
	return r, err
}

// next counts an occurrence of a request, and returns its stored exchange, or nil.
func (s *Store) next(e *exchange) *exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.N = s.asked[e.Key]
	s.asked[e.Key]++
	old := s.kept[occurrence{e.Key, e.N}]
	if old != nil {
		s.stats.Hits++
	} else {
		s.stats.Misses++
	}
	return old
}

// append writes an exchange to the file, if there is one.
func (s *Store) append(e *exchange) error {
	if s.file == nil {
		return nil
	}
	err := s.file.Append(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Err = cmp.Or(s.stats.Err, err)
	return err
}

// RetryFailures marks all failed requests, so that they are sent to the model again when they are repeated: by this
// program, or by the next one that opens the store with Resume. Call it before the program ends because of errors, such
// as an expired key.
func (s *Store) RetryFailures() error {
	s.mu.Lock()
	s.forgetFailures()
	s.mu.Unlock()
	return s.append(&exchange{Retry: true})
}

func (s *Store) forgetFailures() {
	maps.DeleteFunc(s.kept, func(_ occurrence, e *exchange) bool { return e.Failure != nil })
}

// Len returns the number of replies that Resume or Replay found in the file.
func (s *Store) Len() int { return len(s.kept) }

// Stats returns the counts so far.
func (s *Store) Stats() StoreStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Close closes the file. Later replies are not stored.
func (s *Store) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

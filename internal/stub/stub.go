// Package stub has servers for tests that speak the protocols of providers: they validate each request as the provider
// does, and send scripted replies in the provider's form, streamed or not.
package stub

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Options configure a stub. Nil means the defaults.
type Options struct {
	// Key is the key that requests must have. Empty is "test-key".
	Key string

	// Models has the models that exist. If it is empty, all models exist.
	Models []string

	// Fields are the names of additional members that requests may have, at any depth,
	// such as those of another dialect.
	Fields []string

	// If NoSchema is set, every request with a schema is rejected.
	NoSchema bool

	// If Unconstrained is set, every schema is accepted.
	Unconstrained bool

	// Answer, if set, returns the reply to a request; the script of replies is then not used. It may be called
	// concurrently.
	Answer func(Request) Reply
}

// Request is a request that a stub received.
type Request struct {
	N      int // the request's number, from 1
	Path   string
	Query  string // undecoded, without the question mark
	Header http.Header
	Raw    json.RawMessage // the body
	Body   map[string]any  // the body, decoded; nil if it is not an object
}

// Reply is a stub's reply.
type Reply struct {
	Text      string
	Thinking  string
	Redacted  string // thinking that only Anthropic can read
	ToolCalls []ToolCall
	Refusal   string // the text of a refusal
	Truncate  bool   // the reply ends at the token limit

	InputTokens, CachedTokens, OutputTokens, ReasoningTokens int // zero: 100, 0, 20, 0

	Cut   int    // if positive, the stub breaks the connection after this number of bytes
	Error string // if set, a streamed reply ends with this error after the text

	// Status, Header and Body are the whole response if Status is set. If Body is empty, the response is an error in
	// the provider's form.
	Status int
	Header http.Header
	Body   string
}

// ToolCall is a tool call.
type ToolCall struct {
	ID        string // default: call_1, call_2 and so on; empty for Ollama, whose older versions do not send ids
	Name      string
	Arguments string         // JSON
	Extra     map[string]any // further fields of the call, as some providers have them
}

// Server is a stub, an [http.Handler]. It is safe for concurrent use.
type Server struct {
	options  Options
	replies  []Reply
	protocol protocol

	mu       sync.Mutex
	requests []Request
}

// protocol has the differences between providers.
type protocol interface {
	// name returns the name of the definition for requests in schemas.json.
	name() string

	// refuse returns the status and the message of the error for a request. The message is "" if the request is valid.
	refuse(Request, *Options) (status int, message string)

	// turns returns the tool calls and results in the messages of a request.
	turns(Request) []turn

	// schema returns the schema to which a request constrains the reply, or nil, and whether it must be strict.
	schema(Request) (schema any, strict bool)

	// failure returns an error's body.
	failure(status int, message string) any

	// answer writes a reply.
	answer(http.ResponseWriter, Request, Reply)
}

func newServer(p protocol, o *Options, replies []Reply) *Server {
	s := &Server{protocol: p, replies: slices.Clone(replies)}
	if o != nil {
		s.options = *o
	}
	if s.options.Key == "" {
		s.options.Key = "test-key"
	}
	return s
}

// Requests returns the requests so far, including rejected ones.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	request := s.record(Request{
		Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Raw: raw, Body: object(raw),
	})
	status, message := s.protocol.refuse(request, &s.options)
	if message == "" && strings.HasSuffix(request.Path, "/api/show") {
		writeJSON(w, http.StatusOK, ollama{}.describe())
		return
	}
	if message == "" {
		status, message = http.StatusBadRequest, s.invalid(request)
	}
	if message != "" {
		writeJSON(w, status, s.protocol.failure(status, message))
		return
	}
	reply := s.reply(request)
	if reply.Cut > 0 {
		w = &cut{w, reply.Cut}
	}
	if reply.Status != 0 {
		s.fail(w, reply)
		return
	}
	reply.InputTokens, reply.OutputTokens = cmp.Or(reply.InputTokens, 100), cmp.Or(reply.OutputTokens, 20)
	s.protocol.answer(w, request, reply)
}

// fail writes the error for a reply that has a Status.
func (s *Server) fail(w http.ResponseWriter, reply Reply) {
	maps.Copy(w.Header(), reply.Header)
	if reply.Body == "" {
		text := cmp.Or(http.StatusText(reply.Status), "Overloaded")
		writeJSON(w, reply.Status, s.protocol.failure(reply.Status, text))
		return
	}
	w.WriteHeader(reply.Status)
	_, _ = io.WriteString(w, reply.Body)
}

// record numbers a request. Rejected requests do not use up any of the script's replies.
func (s *Server) record(r Request) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.N = len(s.requests) + 1
	s.requests = append(s.requests, r)
	return r
}

// reply takes the script's next reply.
func (s *Server) reply(r Request) Reply {
	if s.options.Answer != nil {
		return s.options.Answer(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		message := fmt.Sprintf("stub: request %d, but the script has no more replies", r.N)
		body, _ := json.Marshal(s.protocol.failure(http.StatusNotImplemented, message))
		return Reply{Status: http.StatusNotImplemented, Body: string(body)}
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply
}

// invalid returns the reason why a request is invalid, or "".
func (s *Server) invalid(r Request) string {
	if r.Body == nil {
		return "the body of the request is not a JSON object"
	}
	schema, strict := s.protocol.schema(r)
	switch {
	case schema == nil || s.options.Unconstrained:
	case s.options.NoSchema:
		return "a JSON schema is not supported with this model"
	case strict:
		if problem := cmp.Or(violation("strict", schema), incomplete(schema)); problem != "" {
			return "Invalid schema: " + problem
		}
	}
	return cmp.Or(violation(s.protocol.name(), without(r.Body, s.options.Fields)), unpaired(s.protocol.turns(r)))
}

// named returns the reply with an id for each of its tool calls.
func (r Reply) named() Reply {
	r.ToolCalls = slices.Clone(r.ToolCalls)
	for i := range r.ToolCalls {
		r.ToolCalls[i].ID = cmp.Or(r.ToolCalls[i].ID, fmt.Sprintf("call_%d", i+1))
	}
	return r
}

func object(raw []byte) map[string]any {
	var body map[string]any
	if json.Unmarshal(raw, &body) != nil {
		return nil
	}
	return body
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// cut is a response writer that breaks the connection after the given number of bytes.
type cut struct {
	http.ResponseWriter
	left int
}

// Write implements [io.Writer].
func (c *cut) Write(p []byte) (int, error) {
	if c.left -= len(p); c.left > 0 {
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:len(p)+c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Unwrap is for [http.ResponseController].
func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// pieces divides a string into short pieces, as models stream it.
func pieces(text string) []string {
	var list []string
	for letters := []rune(text); len(letters) > 0; {
		n := min(7, len(letters))
		list = append(list, string(letters[:n]))
		letters = letters[n:]
	}
	return list
}

// flush sends what was written so far.
func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

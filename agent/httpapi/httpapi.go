// Package httpapi serves the runs of an [agent.Runner] over HTTP, on the caller's mux. See [New].
//
//	$ curl -H 'Content-Type: application/json' -d '{"input": {"task": "Refund order 7."}}' https://api.example/runs
//	{"id":"r-9f2c","state":"queued", …}
//	$ curl https://api.example/runs/r-9f2c/tickets
//	{"tickets":[{"id":"r-9f2c/1c9b2f04d7aa:E7","tool":"refund","args":{"order":7}}]}
//	$ curl -X PUT -H 'Content-Type: application/json' -d '{"approved": true}' \
//	    https://api.example/runs/r-9f2c/tickets/r-9f2c/1c9b2f04d7aa:E7
//
// Runs and tickets, the calls that wait for people, are the JSON of [agent.RunInfo] and [agent.Waiting].
//
//	POST /runs                      start a run, or return that of the same principal and Idempotency-Key
//	GET /runs?after=ID              100 runs without inputs, outputs and tickets, the newest first
//	GET /runs/{id}                  a run
//	GET /runs/{id}/events           server-sent events; those of the module with Options.Contents, or as event.Public
//	GET /runs/{id}/tickets          the tickets that wait
//	PUT /runs/{id}/tickets/{ticket} an answer: {"approved", "reason", "args"}, {"outcome": {"state", "result"}} or
//	                                {"repeat"}, as in agent.Decision; with the "round" of the ticket, if it has one
//	POST /runs/{id}/cancel          for the run's own principal, as is POST /runs/{id}/resume
//
// The last event of a stream is the state in which the run ended or paused. Its ID is "end": a browser that connects
// again then gets status 204, and stops, unless the run has gone on. Runs go on if clients go away. The same answer may
// be sent again; another one gets status 409. Runs that a principal may not see do not exist for it. Errors are problem
// details (RFC 9457) with a "code"; only those about the request's JSON have texts of the Runner, which may name paths.
package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/queue"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools/journal"
)

// Options configures the handler that [New] returns.
type Options struct {
	// Principal returns the name of the client that the caller's middleware has authenticated. It is required. An empty
	// name or an error becomes status 401.
	Principal func(*http.Request) (string, error)

	// May reports whether a principal may see a run or, if w is not nil, answer this ticket of a run that it may see.
	// If May is nil, only the run's own principal may. A w with only an ID and a Round does not wait at the moment, but
	// may begin to: return true only if the principal may answer any ticket of the run.
	May func(ctx context.Context, principal string, run agent.RunInfo, w *agent.Waiting) bool

	// Contents sends the events of the module with their contents: prompts, replies and their text while it arrives,
	// arguments, results. Whoever may see the run gets them. By default, they are as [event.Public] describes.
	Contents bool

	MaxBody     int64                       // maximum size of a request's body in bytes; zero means 1 MiB
	CrossOrigin *http.CrossOriginProtection // which other origins may change something; nil means none
	Logger      *slog.Logger                // of errors that clients do not see; nil means [slog.Default]
}

type handler struct {
	*http.ServeMux
	Options
	runner                    *agent.Runner
	start, answer             *schema.Schema // of the bodies
	feed                      func(ctx context.Context, id, after string) iter.Seq2[agent.RunEvent, error]
	stall, heartbeat, longest time.Duration // of a write, between comments, and of a stream
}

// New returns a handler of the routes in the package comment. Mount it behind the middleware that authenticates
// clients, and below a prefix with [http.StripPrefix]. New returns an error if r or Options.Principal is nil.
func New(r *agent.Runner, o *Options) (http.Handler, error) {
	if r == nil || o == nil || o.Principal == nil {
		return nil, errors.New("httpapi: the Runner or Options.Principal is nil; pass both")
	}
	h := &handler{ServeMux: http.NewServeMux(), Options: *o, runner: r, feed: r.Events,
		stall: 10 * time.Second, heartbeat: 15 * time.Second, longest: time.Hour}
	h.MaxBody = cmp.Or(h.MaxBody, 1<<20)
	h.CrossOrigin = cmp.Or(h.CrossOrigin, http.NewCrossOriginProtection())
	h.Logger = cmp.Or(h.Logger, slog.Default())
	if h.May == nil {
		h.May = func(_ context.Context, principal string, run agent.RunInfo, _ *agent.Waiting) bool {
			return principal == run.Principal
		}
	}
	for pattern, e := range map[string]endpoint{
		"POST /runs":                       h.startRun,
		"GET /runs":                        h.listRuns,
		"GET /runs/{id}":                   getRun,
		"GET /runs/{id}/events":            h.events,
		"GET /runs/{id}/tickets":           listTickets,
		"PUT /runs/{id}/tickets/{call...}": h.answerTicket,
		"POST /runs/{id}/cancel":           change(r.Cancel),
		"POST /runs/{id}/resume":           change(r.Resume),
		"/":                                nil,
	} {
		h.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, e) })
	}
	var bad, worse error
	h.start, bad = schema.Of(reflect.TypeFor[startBody]())
	h.answer, worse = schema.Of(reflect.TypeFor[answerBody]())
	return h, errors.Join(bad, worse)
}

// endpoint handles an admitted request. If the status is not 0, it is sent, with the body as JSON.
type endpoint func(w http.ResponseWriter, r *request) (status int, body any, err error)

// request is a request of an authenticated principal.
type request struct {
	*http.Request
	principal string
	run       agent.RunInfo // that the path names, if any
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "application/json")
	status, body, err := h.admit(w, r, e)
	if err != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		status, body = h.problem(w, r, err)
	}
	if body == nil {
		w.Header().Del("Content-Type")
	}
	if status > 0 {
		w.WriteHeader(status)
	}
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // it fails if the client has gone away
	}
}

// admit passes an authenticated request on, with the run that its path names.
func (h *handler) admit(w http.ResponseWriter, r *http.Request, e endpoint) (status int, body any, err error) {
	if h.CrossOrigin.Check(r) != nil {
		return 0, nil, &problem{403, "cross_origin", "a page of another origin may not change anything"}
	}
	in := &request{Request: r}
	if in.principal, err = h.Principal(r); err != nil || in.principal == "" {
		return 0, nil, &problem{401, "unauthenticated", "the client is not authenticated"}
	}
	if id := r.PathValue("id"); id != "" {
		in.run, err = h.runner.Get(r.Context(), id)
		if err == nil && !h.May(r.Context(), in.principal, in.run, nil) {
			err = agent.ErrNoRun
		}
	}
	switch {
	case err != nil:
		return 0, nil, err
	case e == nil:
		return 0, nil, &problem{404, "no_route", "there is no such route; check the method and the path"}
	}
	return e(w, in)
}

// problem is an error response as defined by RFC 9457. Its type is about:blank.
type problem struct {
	status       int
	code, detail string
}

func (p *problem) Error() string { return p.code + ": " + p.detail }

func invalid(detail string) *problem { return &problem{422, "invalid", detail} }

var forbidden = &problem{403, "forbidden", "you may see this run, but not do this"}

// problems are the responses to errors of a Runner.
var problems = map[error]*problem{
	agent.ErrNoRun:      {404, "no_run", "the run does not exist, or you may not see it"},
	agent.ErrNotWaiting: {404, "no_ticket", "the run has no such ticket; list its tickets again"},
	agent.ErrDecided:    {409, "decided", "the ticket has another answer already, which is kept"},
	agent.ErrConflict:   {409, "conflict", "the state of the run does not allow this"},
	queue.ErrBusy:       {503, "busy", "too many runs are waiting; try again later"},
	queue.ErrStopped:    {503, "stopping", "the server is shutting down; try again later"},
	journal.ErrInUse:    {503, "in_use", "another process owns the run; try again later"},
}

// problem returns the response to an error. Unknown errors are logged.
func (h *handler) problem(w http.ResponseWriter, r *http.Request, err error) (status int, body any) {
	p, ok := errors.AsType[*problem](err)
	for known, response := range problems {
		if !ok && errors.Is(err, known) {
			p, ok = response, true
		}
	}
	switch {
	case ok:
	case errors.Is(err, agent.ErrInput): // the text is about the client's JSON
		p = invalid(err.Error())
	default:
		p = &problem{500, "internal", "the request has failed; the server's log says why"}
		h.Logger.ErrorContext(r.Context(), "httpapi: a request has failed", "method", r.Method, "route", r.Pattern,
			"run", r.PathValue("id"), "error", err)
	}
	if p.status == 503 {
		w.Header().Set("Retry-After", "5") // seconds
	}
	return p.status, map[string]any{
		"status": p.status, "title": http.StatusText(p.status), "code": p.code, "detail": p.detail}
}

// decode reads a request's body, which must fit the schema of the variable that into points to.
func (h *handler) decode(w http.ResponseWriter, r *request, s *schema.Schema, into any) error {
	const maxValues, maxDepth = 100_000, 100
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return &problem{415, "media_type", "the header Content-Type must be application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.MaxBody))
	_, large := errors.AsType[*http.MaxBytesError](err)
	if large || jsonscan.Check(body, jsonscan.Limits{Values: maxValues, Depth: maxDepth}) != nil {
		return &problem{413, "too_large", fmt.Sprintf("the body may have at most %d bytes and %d JSON values, "+
			"nested at most %d deep", h.MaxBody, maxValues, maxDepth)}
	}
	if err != nil {
		return &problem{400, "incomplete", "the body could not be read to its end"}
	}
	if !json.Valid(body) {
		return &problem{400, "not_json", "the body is not valid JSON"}
	}
	if findings := s.Validate(body); len(findings) > 0 {
		return invalid(schema.Summary(findings))
	}
	if err := schema.Unmarshal(body, into); err != nil { // such as a number that is too large
		return invalid(err.Error())
	}
	return nil
}

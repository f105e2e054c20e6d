package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type startBody struct {
	Input json.RawMessage `json:"input"`
}

func (h *handler) startRun(w http.ResponseWriter, r *request) (int, any, error) {
	var in startBody
	if err := h.decode(w, r, h.start, &in); err != nil {
		return 0, nil, err
	}
	q := agent.RunRequest{Principal: r.principal, Input: in.Input}
	if key := r.Header.Get("Idempotency-Key"); key != "" { // several principals may use the same one
		q.ID = fmt.Sprintf("r-%x", sha256.Sum256(fmt.Appendf(nil, "%q %q", r.principal, key)))[:34]
	}
	run, err := h.runner.Start(context.WithoutCancel(r.Context()), q)
	if errors.Is(err, agent.ErrConflict) {
		err = &problem{409, "key_reused", "the Idempotency-Key belongs to a run with another input"}
	}
	if err == nil {
		w.Header().Set("Location", "runs/"+run.ID) // relative, since the handler may be below a prefix
	}
	return 202, shown(run), err
}

// shown returns what clients see of a run.
func shown(run agent.RunInfo) agent.RunInfo {
	if run.Error != "" {
		run.Error = "the run has failed"
	}
	return run
}

func getRun(_ http.ResponseWriter, r *request) (int, any, error) { return 200, shown(r.run), nil }

// change returns an endpoint with which the principal of a run does something to it.
func change(do func(ctx context.Context, id string) error) endpoint {
	return func(_ http.ResponseWriter, r *request) (int, any, error) {
		if r.run.Principal != r.principal {
			return 0, nil, forbidden
		}
		return 204, nil, do(context.WithoutCancel(r.Context()), r.run.ID)
	}
}

func (h *handler) listRuns(_ http.ResponseWriter, r *request) (int, any, error) {
	const maxPage = 100
	list, err := h.runner.List(r.Context())
	list = slices.DeleteFunc(list, func(run agent.RunInfo) bool { return !h.May(r.Context(), r.principal, run, nil) })
	slices.Reverse(list)
	if after := r.URL.Query().Get("after"); after != "" && err == nil {
		i := slices.IndexFunc(list, func(run agent.RunInfo) bool { return run.ID == after })
		if list = list[i+1:]; i < 0 {
			err = &problem{400, "no_page", "after must be the ID of a run"}
		}
	}
	page := []agent.RunInfo{}
	for _, run := range list[:min(maxPage, len(list))] {
		run.Input, run.Output, run.Waiting = nil, nil, nil
		page = append(page, shown(run))
	}
	return 200, map[string]any{"runs": page, "more": len(list) > maxPage}, err
}

func listTickets(_ http.ResponseWriter, r *request) (int, any, error) {
	return 200, map[string]any{"tickets": append([]agent.Waiting{}, r.run.Waiting...)}, nil
}

// answerBody has exactly one of Approved, Outcome and Repeat. See [agent.Decision].
type answerBody struct {
	Approved *bool           `json:"approved,omitempty" jsonschema:"oneof_required=approval"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Outcome  *outcome        `json:"outcome,omitempty" jsonschema:"oneof_required=outcome"`
	Repeat   *tools.Repeat   `json:"repeat,omitempty" jsonschema:"oneof_required=repeat"`
	Round    int             `json:"round,omitempty"`
}

// outcome is a [journal.Reconciled].
type outcome struct {
	State  journal.State   `json:"state" jsonschema:"enum=ok,enum=rejected"`
	Result json.RawMessage `json:"result,omitempty"`
}

func (h *handler) answerTicket(w http.ResponseWriter, r *request) (int, any, error) {
	var in answerBody
	if err := h.decode(w, r, h.answer, &in); err != nil {
		return 0, nil, err
	}
	if in.Approved == nil && in.Outcome == nil && in.Repeat == nil {
		return 0, nil, invalid("approved, outcome or repeat must not be null")
	}
	call := agent.Waiting{ID: r.PathValue("call"), Round: in.Round}
	for _, waiting := range r.run.Waiting {
		if waiting.ID == call.ID && waiting.Round == call.Round {
			call = waiting
		}
	}
	if !h.May(r.Context(), r.principal, r.run, &call) {
		return 0, nil, forbidden
	}
	return 204, nil, h.runner.Decide(context.WithoutCancel(r.Context()), r.run.ID, call.ID, agent.Decision{
		Decision: policy.Decision{Approved: in.Approved != nil && *in.Approved, Reason: in.Reason,
			Args: jsonscan.Present(in.Args), By: r.principal},
		Outcome: (*journal.Reconciled)(in.Outcome), Repeat: in.Repeat, Round: call.Round,
	})
}

// events sends the events of a run until the run rests, the client goes away, or the client stops reading.
func (h *handler) events(w http.ResponseWriter, r *request) (int, any, error) {
	after := r.Header.Get("Last-Event-ID")
	switch {
	case r.Method == http.MethodHead, after == "end" && rests(r.run):
		return 204, nil, nil
	case after == "end": // the run has gone on since
		after = ""
	}
	control := http.NewResponseController(w)
	write := func(text string) error {
		err := control.SetWriteDeadline(time.Now().Add(h.stall))
		if err == nil && text != "" {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = control.Flush()
		}
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if err := write(""); err != nil {
		h.Logger.ErrorContext(r.Context(), "httpapi: cannot stream events; give the ResponseWriter of each middleware "+
			"a method Unwrap", "error", err)
		return 0, nil, &problem{501, "no_stream", "this server cannot stream events; use GET /runs/{id}"}
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.longest)
	texts := make(chan string)
	go h.read(ctx, r.run.ID, after, texts)
	defer func() {
		cancel()
		for range texts { // until read has returned
		}
	}()
	for {
		text, ok := ": alive\n\n", true
		select {
		case <-ctx.Done():
			return 0, nil, nil
		case <-time.After(h.heartbeat):
		case text, ok = <-texts:
		}
		if !ok || write(text) != nil {
			return 0, nil, nil
		}
	}
}

// rests reports whether nothing happens to a run unless somebody acts.
func rests(run agent.RunInfo) bool { return run.State != agent.Queued && run.State != agent.Running }

// read sends the events of a run to a channel, as text, and closes it.
func (h *handler) read(ctx context.Context, id, after string, texts chan<- string) {
	defer close(texts)
	for e, err := range h.feed(ctx, id, after) {
		var run agent.RunInfo
		data := any(e.Public)
		if h.Contents {
			data = e.Data
		}
		if json.Unmarshal(e.Data, &run) == nil && string(run.State) == e.Type { // not an event of the module
			data = shown(run)
			if rests(run) {
				e.ID = "end"
			}
		}
		if err != nil && ctx.Err() == nil {
			h.Logger.WarnContext(ctx, "httpapi: cannot read the events of a run", "run", id, "error", err)
		}
		line, bad := json.Marshal(data)
		if err != nil || bad != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case texts <- fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Type, line):
		}
	}
}

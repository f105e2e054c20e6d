package playground

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/internal/feed"
	"github.com/writ-go/writ/module"
)

// run is a run as the page shows it. The lock of the Playground guards it.
type run struct {
	ID       string         `json:"id"`
	Task     string         `json:"task"`
	State    agent.RunState `json:"state"`
	Stopping bool           `json:"stopping,omitempty"`
	Answer   string         `json:"answer,omitempty"`
	Error    string         `json:"error,omitempty"`
	Waiting  []waiting      `json:"waiting,omitempty"`
	Hash     string         `json:"hash,omitempty"`   // of the checkpoint that Waiting belongs to
	Report   bool           `json:"report,omitempty"` // whether there is a report

	events     feed.Log
	trajectory module.Trajectory
	cancel     context.CancelFunc
}

// waiting is a call that waits, with its arguments as text, since JavaScript would round large numbers.
type waiting struct {
	agent.Waiting
	Args string `json:"args"`
}

const maxRuns = 100 // that the page shows

// refusal is an error with an HTTP status.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

// list adds the runs of the store, once.
func (p *Playground) list(ctx context.Context) {
	p.load.Do(func() {
		infos, err := p.store.List(context.WithoutCancel(ctx))
		p.mu.Lock()
		defer p.mu.Unlock()
		var old []*run
		for _, info := range infos[max(0, len(infos)-maxRuns):] {
			if p.find(info.ID) != nil {
				continue
			}
			var in agent.Task
			var out agent.Answer
			_ = json.Unmarshal(info.Input, &in) // the input and the output of another module have no text
			_ = json.Unmarshal(info.Output, &out)
			r := &run{ID: info.ID, Task: in.Task, State: info.State, Answer: out.Answer, Error: info.Error}
			if info.State == agent.Paused {
				at, _ := p.store.Checkpoint(ctx, info.ID) // resume returns the error
				r.pause(at)
			}
			old = append(old, r)
		}
		if err != nil {
			old = append(old, &run{ID: "store", Task: "The runs in the store", State: agent.Failed, Error: err.Error()})
		}
		p.runs = append(old, p.runs...)
	})
}

// find returns a run, or nil.
func (p *Playground) find(id string) *run {
	for _, r := range p.runs {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// start begins a run, and returns its ID.
func (p *Playground) start(task string) (string, error) {
	if strings.TrimSpace(task) == "" {
		return "", agent.ErrNoTask
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &run{ID: "r-" + strings.ToLower(rand.Text()[:8]), Task: task}
	if err := p.begin(r, func(ctx context.Context) (*module.Prediction[agent.Answer], error) {
		return agent.Start(ctx, p.store, r.ID, p.bot, agent.Task{Task: task})
	}); err != nil {
		return "", err
	}
	p.runs = append(p.runs, r)
	ended := func(r *run) bool { return r.State != agent.Running }
	if i := slices.IndexFunc(p.runs, ended); len(p.runs) > maxRuns && i >= 0 {
		p.runs = slices.Delete(p.runs, i, i+1)
	}
	return r.ID, nil
}

// resume continues a run with decisions.
func (p *Playground) resume(ctx context.Context, id string, in resumption) error {
	at, err := p.store.Checkpoint(ctx, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(id)
	switch {
	case r == nil:
		return refusal{http.StatusNotFound, "there is no such run"}
	case r.State == agent.Running:
		return refusal{http.StatusConflict, "the run is in progress; stop it first"}
	case r.State == agent.Done || r.State == agent.RolledBack:
		return refusal{http.StatusConflict, "the run has ended; start a new one"}
	case err != nil:
		return err
	case r.Hash != "" && (in.Hash != r.Hash || at.Hash != r.Hash):
		return refusal{http.StatusConflict, "the run has gone on since; look at it again, and decide again"}
	}
	decisions := map[string]agent.Decision{}
	for call, d := range in.Decisions {
		decisions[call] = d.decision()
	}
	return p.begin(r, func(ctx context.Context) (*module.Prediction[agent.Answer], error) {
		return agent.Resume(ctx, p.store, p.bot, at, decisions)
	})
}

// begin lets a run go on. The caller holds the lock.
func (p *Playground) begin(r *run, run attempt) error {
	if p.closed {
		return refusal{http.StatusConflict, "the playground is being stopped"}
	}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(p.ctx)
	r.State, r.Stopping, r.Error, r.Waiting, r.Report = agent.Running, false, "", nil, false
	r.events.Reset()
	p.notify()
	p.going.Go(func() { p.follow(ctx, r, run) })
	return nil
}

// attempt starts or resumes a durable run. It is a module so that module.Start streams its text.
type attempt func(ctx context.Context) (*module.Prediction[agent.Answer], error)

// Run implements [module.Module].
func (a attempt) Run(ctx context.Context, _ struct{}) (*module.Prediction[agent.Answer], error) {
	return a(ctx)
}

// follow records the events of a run until it ends.
func (p *Playground) follow(ctx context.Context, r *run, run attempt) {
	defer r.cancel()
	stream := module.Start(ctx, run, struct{}{})
	for e, err := range stream.Events() {
		if err != nil {
			break // Result returns it
		}
		p.mu.Lock()
		r.events.Add(e)
		if r.Stopping || p.closed {
			p.store.Pause(r.ID) // again, since it may have begun after it was asked for
		}
		p.notify()
		p.mu.Unlock()
	}
	pred, err := stream.Result()
	at, _ := p.store.Checkpoint(context.WithoutCancel(ctx), r.ID) // resume returns the error
	p.mu.Lock()
	defer p.mu.Unlock()
	r.end(pred, err, at)
	p.notify()
}

// end records how a run has ended. It still waits if a decision was invalid.
func (r *run) end(pred *module.Prediction[agent.Answer], err error, at agent.Checkpoint) {
	r.Stopping = false
	r.pause(at)
	if err == nil {
		r.State, r.Answer, r.trajectory, r.Report = agent.Done, pred.Output.Answer, pred.Trajectory, true
		return
	}
	if incomplete, ok := errors.AsType[*module.IncompleteError](err); ok {
		r.trajectory, r.Report = incomplete.Trajectory, true
	}
	_, paused := errors.AsType[*agent.PausedError](err)
	if !paused {
		r.Error = err.Error()
	}
	if r.State = agent.Failed; paused || len(at.Waiting) > 0 {
		r.State = agent.Paused
	}
}

// pause shows what the run waits for.
func (r *run) pause(at agent.Checkpoint) {
	r.Hash, r.Waiting = at.Hash, nil
	for _, w := range at.Waiting {
		var args bytes.Buffer
		if json.Indent(&args, w.Args, "", "  ") != nil {
			args.Write(w.Args)
		}
		r.Waiting = append(r.Waiting, waiting{w, args.String()})
	}
}

// stop pauses a run. If it is called again, it cancels the calls in progress, too.
func (p *Playground) stop(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.find(id)
	switch {
	case r == nil:
		return refusal{http.StatusNotFound, "there is no such run"}
	case r.State != agent.Running || r.cancel == nil:
		return refusal{http.StatusConflict, "the run is not in progress"}
	case r.Stopping:
		r.cancel()
	}
	r.Stopping = true
	p.store.Pause(id)
	p.notify()
	return nil
}

// notify tells the clients that something has changed. The caller holds the lock.
func (p *Playground) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

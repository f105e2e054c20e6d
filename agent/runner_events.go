package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/writ-go/writ/agent/internal/feed"
	"github.com/writ-go/writ/module/event"
)

// RunEvent is an event of a run in progress. Its Type is either the name of an [event.Event], with its JSON (see
// [event.JSON]; long values are cut) as Data; or a [RunState], with a [RunInfo] without Input as Data; or "gap" if the
// reader was too slow or came too late, with {"missing": the number of missing events} as Data.
//
// A run that goes on runs its module again, so its events begin again. A reader therefore discards the earlier ones
// when it gets an event of the type [Running].
type RunEvent struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`

	Public json.RawMessage `json:"-"` // of an event of the module: Data without contents, see [event.Public]
}

// Events yields the events of a run after the one with an ID that an earlier call has yielded; if it is empty, as many
// as are kept. It ends after an event whose Type is the state in which the run ended or paused. If the run is not in
// progress, that is the only event. If the run is in progress in another process, there are no events before it.
//
// Readers never delay the run. At most 4,096 events and 1 MiB are kept of each run in progress; a reader that needs
// older ones gets an event "gap".
func (r *Runner) Events(ctx context.Context, id, after string) iter.Seq2[RunEvent, error] {
	return func(yield func(RunEvent, error) bool) {
		r.mu.Lock()
		var events *runEvents
		if j := r.jobs[id]; j != nil {
			events = j.watch()
		}
		r.mu.Unlock()
		if events != nil {
			events.read(ctx, after, yield)
			return
		}
		info, err := r.Wait(ctx, id)
		if err != nil {
			yield(RunEvent{}, err)
			return
		}
		yield(RunEvent{ID: eventID(info.attempts, 0), Type: string(info.State), Data: stateJSON(info)}, nil)
	}
}

func stateJSON(info RunInfo) json.RawMessage {
	info.Input = nil
	data, _ := json.Marshal(info) // everything in it was read from JSON
	return data
}

// runEvents are the events of the last attempt at a run. The ID of an event has the numbers of the attempt and the
// event.
type runEvents struct {
	mu      sync.Mutex
	log     feed.Log
	attempt int
	changed chan struct{} // closed when there is something new; nil if nobody waits
	ended   bool
}

// state adds a state. A new attempt discards the events of the earlier one.
func (e *runEvents) state(info RunInfo, ended bool) {
	e.update(func() {
		if e.attempt != info.attempts {
			e.log, e.attempt = feed.Log{Bytes: 1 << 20, Count: 4096}, info.attempts
		}
		e.log.Keep(feed.Message{Name: string(info.State), Data: stateJSON(info)})
		e.ended = ended
	})
}

func (e *runEvents) add(one event.Event) { e.update(func() { e.log.Add(one) }) }

func (e *runEvents) update(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

// read yields the events after one of them.
func (e *runEvents) read(ctx context.Context, after string, yield func(RunEvent, error) bool) {
	var attempt, seen int
	_, _ = fmt.Sscanf(after, "%d.%d", &attempt, &seen) // other IDs are like none
	for {
		e.mu.Lock()
		if attempt != e.attempt || seen < 0 || seen > e.log.Last() {
			attempt, seen = e.attempt, 0
		}
		if e.changed == nil {
			e.changed = make(chan struct{})
		}
		news, changed, ended := e.log.After(seen), e.changed, e.ended
		e.mu.Unlock()
		for _, m := range news {
			if missing := m.ID - seen - 1; missing > 0 {
				gap := fmt.Appendf(nil, `{"missing":%d}`, missing)
				if !yield(RunEvent{eventID(attempt, m.ID-1), "gap", gap, gap}, nil) {
					return
				}
			}
			if seen = m.ID; !yield(RunEvent{eventID(attempt, m.ID), m.Name, m.Data, m.Public}, nil) {
				return
			}
		}
		if len(news) > 0 {
			continue
		}
		if ended {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			yield(RunEvent{}, context.Cause(ctx))
			return
		}
	}
}

func eventID(attempt, n int) string { return fmt.Sprintf("%d.%d", attempt, n) }

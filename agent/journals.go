package agent

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/internal/durable"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// Journal implements [durable.Run]. The name of a journal is the same when the module runs again.
func (r *run) Journal(
	ctx context.Context, predictor string, inputs any, o *journal.Options,
) (j *journal.Journal, turn int, err error) {
	call := effect.Of(ctx)
	name, err := json.Marshal([]any{call.Root(), durable.BranchOf(ctx), predictor, inputs})
	if err != nil {
		return nil, 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.within[call.Run+":"+call.Entry] = true
	opened := &effect.Opening{}
	if call.Within != nil {
		opened = durable.Find(ctx, &r.calls, call.Root()+" "+predictor, inputs)
	}
	if opened.Key == "" {
		sum := sha256.Sum256(fmt.Append(name, r.opened[string(name)]))
		r.opened[string(name)]++
		opened.Key = fmt.Sprintf("%s/%x", r.id, sum[:6])
	}
	r.agents[opened.Key] = effect.Agents(ctx)
	if call.Within != nil && !opened.Known {
		if err := r.keep("within", opened); err != nil {
			return nil, 0, err
		}
	}
	if j = r.journals[opened.Key]; j == nil {
		if j, err = r.open(opened.Key, elsewhere(ctx, opened.Key, o)); err != nil {
			return nil, 0, err
		}
	}
	if opened.Again {
		turn = j.Continue(call.Call())
	}
	return j, turn, nil
}

// open opens the journal with a key.
func (r *run) open(key string, o *journal.Options) (*journal.Journal, error) {
	options := journal.Options{}
	if o != nil {
		options = *o
	}
	if options.Run = key; options.OnRepeat == nil {
		options.OnRepeat = func(id string, c tools.Call, like []journal.Entry) (*tools.Repeat, error) {
			return r.onRepeat(key+":"+id, c, like)
		}
	}
	j, err := journal.Open(r.log.part(callsOf+key), &options)
	if err != nil {
		return nil, err
	}
	r.journals[key] = j
	return j, nil
}

// maxLike and maxResult are the number of calls in Waiting.Resembles, and the bytes of their results.
const maxLike, maxResult = 20, 4 << 10

// onRepeat returns a person's answer to a question about a held call, if there is one. If the person is to be asked, it
// pauses the run.
func (r *run) onRepeat(id string, c tools.Call, like []journal.Entry) (*tools.Repeat, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.decided[decisionKey(id, c.Args)]; ok || !r.asks {
		if d.Repeat == nil || reflect.ValueOf(*d.Repeat).IsZero() {
			return nil, nil
		}
		return d.Repeat, nil
	}
	like = slices.Clone(like[:min(len(like), maxLike)])
	for i := range like {
		if len(like[i].Result) > maxResult {
			like[i].Result = nil
		}
	}
	key, _, _ := strings.Cut(id, ":")
	w := Waiting{ID: id, Tool: c.Tool.Path(), Args: c.Args, Destructive: c.Tool.Hints.Destructive, Resembles: like,
		Agents: r.agents[key]}
	if lines := strings.Split(c.Program, "\n"); c.Line > 0 && c.Line <= len(lines) {
		w.Line, w.Source = c.Line, display.Text(strings.TrimSpace(lines[c.Line-1]))
	}
	r.waiting = append(r.waiting, w)
	r.pausing.Store(true)
	r.paused.Store(true)
	return nil, place.ErrPaused
}

// callsOf begins the names of the parts with journals. The ID of the journal's run follows.
const callsOf = "calls "

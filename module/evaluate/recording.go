package evaluate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/writ-go/writ/tools"
)

// recording is a recorded call, one line of JSON.
type recording struct {
	Example string           `json:"example,omitempty"` // the ID of the example in whose run the call was made
	Tool    string           `json:"tool"`              // as tools.Binding.Path returns it
	Args    json.RawMessage  `json:"args"`
	Result  json.RawMessage  `json:"result,omitempty"`
	Error   *tools.ToolError `json:"error,omitempty"`
}

// Record returns a policy that writes the calls of tools and their results to w, as JSON Lines, for [Recorded]. The
// calls are made: to record a module that has tools with effects, use Chain(Record(w), Act). Calls that end a run are
// not recorded.
func Record(w io.Writer) tools.Policy {
	var mu sync.Mutex
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			result, err := next.Call(ctx, c)
			if asksModel(c.Tool) {
				return result, err
			}
			r := recording{Example: runOf(ctx).example, Tool: c.Tool.Path(), Args: c.Args, Result: result}
			if err != nil && (tools.IsFatal(err) || ctx.Err() != nil || !errors.As(err, &r.Error)) {
				return result, err
			}
			line, failed := encode(r)
			if failed == nil {
				mu.Lock()
				defer mu.Unlock()
				_, failed = w.Write(append(line, '\n'))
			}
			if failed != nil {
				return nil, tools.Fatal(fmt.Errorf("evaluate: cannot record the call of %s: %w", c.Tool.Path(), failed))
			}
			return result, err
		})
	}
}

// Recorded returns a policy that answers calls from what [Record] wrote, so that no tool is called.
//
// A call gets the result of the same call, according to [tools.Binding.Key]: the one that was recorded for the same
// example, or else for any example. If a run makes a call several times, it gets the recorded results in order, and
// then the last of them again. A call that was not recorded ends the run with an error. The functions llm and rlm of a
// [module.RLM], which ask models, are neither recorded nor replaced.
func Recorded(r io.Reader) (tools.Policy, error) {
	p := &player{byTool: map[string][]recording{}, keyed: map[*tools.Binding]map[string][]*recording{}}
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("evaluate: recordings: %w", err)
		}
		var one recording
		if err := json.Unmarshal(line, &one); err != nil {
			return nil, fmt.Errorf("evaluate: recordings: line %d: %w", n, err)
		}
		if one.Tool == "" || len(one.Args) == 0 {
			return nil, fmt.Errorf("evaluate: recordings: line %d is not a recorded call: tool or args is missing", n)
		}
		p.byTool[one.Tool] = append(p.byTool[one.Tool], one)
	}
	return p.policy, nil
}

// asksModel reports whether a tool is the llm or rlm of a program.
func asksModel(b *tools.Binding) bool { return b.Path() == "llm" || b.Path() == "rlm" }

// player answers calls from recordings.
type player struct {
	byTool map[string][]recording

	mu    sync.Mutex
	keyed map[*tools.Binding]map[string][]*recording // by key; see callKey
}

func (p *player) policy(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if asksModel(c.Tool) {
			return next.Call(ctx, c)
		}
		key, err := c.Tool.Key(c.Args)
		if err != nil {
			return nil, err
		}
		run := runOf(ctx)
		list := p.recordings(c.Tool, callKey(run.example, key))
		if list == nil {
			list = p.recordings(c.Tool, callKey("", key))
		}
		if list == nil {
			return nil, tools.Fatal(fmt.Errorf("evaluate: there is no recording of %s(%s); record the calls again",
				c.Tool.Path(), clip(c.Args)))
		}
		r := list[min(run.count(key), len(list)-1)]
		if r.Error != nil {
			return nil, &tools.ToolError{Kind: r.Error.Kind, Message: r.Error.Message, Data: r.Error.Data}
		}
		return r.Result, nil
	})
}

// callKey returns the key of a call in the run of an example, or in any run if example is empty.
func callKey(example, key string) string { return key + example }

// recordings returns the recordings of a call, in order.
func (p *player) recordings(b *tools.Binding, key string) []*recording {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keyed[b] == nil {
		p.keyed[b] = keyed(b, p.byTool[b.Path()])
	}
	return p.keyed[b][key]
}

func keyed(b *tools.Binding, list []recording) map[string][]*recording {
	index := map[string][]*recording{}
	for i := range list {
		r := &list[i]
		key, err := b.Key(r.Args)
		if err != nil {
			continue // it cannot be called like that
		}
		index[callKey("", key)] = append(index[callKey("", key)], r)
		if r.Example != "" {
			index[callKey(r.Example, key)] = append(index[callKey(r.Example, key)], r)
		}
	}
	return index
}

// exampleRun is a run of an example.
type exampleRun struct {
	example string

	mu    sync.Mutex
	calls map[string]int // by key
}

type runKey struct{}

// withRun returns a context that says which example is run.
func withRun(ctx context.Context, example string) context.Context {
	return context.WithValue(ctx, runKey{}, &exampleRun{example: example})
}

// runOf returns the run of an example, or one without an ID.
func runOf(ctx context.Context) *exampleRun {
	if run, ok := ctx.Value(runKey{}).(*exampleRun); ok {
		return run
	}
	return &exampleRun{}
}

// count returns how often the run has made a call before.
func (r *exampleRun) count(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[string]int{}
	}
	r.calls[key]++
	return r.calls[key] - 1
}

package evaluate

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/writ-go/writ/internal/canonical"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
)

// recording is a recorded call: one line of a file.
type recording struct {
	Run    string           `json:"run,omitempty"`    // identifies the run that made the call
	Inputs string           `json:"inputs,omitempty"` // a hash of the inputs of the run
	Sample int              `json:"sample,omitempty"` // the sample of the run
	Tool   string           `json:"tool"`             // as tools.Binding.Path returns it
	Args   json.RawMessage  `json:"args"`
	Result json.RawMessage  `json:"result,omitempty"`
	Error  *tools.ToolError `json:"error,omitempty"`
}

// Record returns a policy that writes the calls of tools and their results to w, as JSON Lines, for [Recorded]. The
// tools are called; to record a module that has tools with effects, use Chain(Record(w), Act). A call that ends its run
// is not recorded.
//
// A file may have several runs with the same inputs, such as a failed run and its repetition. For each call, Recorded
// uses the last run that made the call.
func Record(w io.Writer) tools.Policy {
	var mu sync.Mutex
	return func(next tools.Caller) tools.Caller {
		return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
			result, err := next.Call(ctx, c)
			if asksModel(c.Tool) {
				return result, err
			}
			run := runOf(ctx)
			r := recording{
				Run: run.id, Inputs: run.inputs(), Sample: run.sample,
				Tool: c.Tool.Path(), Args: c.Args, Result: result,
			}
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

// Recorded returns a policy that answers calls with the results that [Record] wrote, without calling any tool.
//
// It compares calls by [tools.Binding.Key]. Of the recordings of a call, it prefers those with the same inputs and
// sample, then those with the same inputs and the first sample, and then those with any inputs. If a run repeats a
// call, Recorded returns the recorded results in order, and the last one for all further repetitions. Outside an
// evaluation, as in [module.Program.Verify], it always returns the first one. Examples with the same inputs share their
// recordings.
//
// If a call was not recorded, or its result does not match the tool's current output schema, the run ends with an
// error. The functions llm and rlm of a [module.RLM], which call models, are neither recorded nor replaced.
func Recorded(r io.Reader) (tools.Policy, error) {
	if r == nil {
		return nil, errors.New("evaluate: recordings: the reader is nil")
	}
	p := &player{byTool: map[string][]recording{}, index: map[*tools.Binding]map[recordedCall][]*recording{}}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("evaluate: recordings: %w", err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		var one recording
		switch err := json.Unmarshal(line, &one); {
		case err != nil:
			return nil, fmt.Errorf("evaluate: recordings: line %d: %w", n, err)
		case one.Tool == "" || len(one.Args) == 0:
			return nil, fmt.Errorf("evaluate: recordings: line %d is not a recorded call: tool or args is missing", n)
		}
		p.byTool[one.Tool] = append(p.byTool[one.Tool], one)
	}
	return p.policy, nil
}

// asksModel reports whether a tool is the llm or rlm of a [module.RLM]. Every tool of the class Read with one of these
// names counts as such.
func asksModel(b *tools.Binding) bool { return !acts(b) && (b.Path() == "llm" || b.Path() == "rlm") }

// player answers calls from recordings.
type player struct {
	byTool map[string][]recording

	mu    sync.Mutex
	index map[*tools.Binding]map[recordedCall][]*recording
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
		inputs := run.inputs()
		list := p.recordings(c.Tool, []recordedCall{{key, inputs, run.sample}, {key, inputs, 0}, {key: key}})
		if list == nil {
			return nil, tools.Fatal(fmt.Errorf("evaluate: there is no recording of %s(%s); record the calls again",
				c.Tool.Path(), clip(c.Args)))
		}
		r := list[min(run.count(key), len(list)-1)]
		if r.Error != nil {
			return nil, &tools.ToolError{Kind: r.Error.Kind, Message: r.Error.Message, Data: r.Error.Data}
		}
		if findings := c.Tool.CheckResult(r.Result); len(findings) > 0 {
			return nil, tools.Fatal(fmt.Errorf("evaluate: the recorded result of %s(%s) does not match the tool's "+
				"output schema: %s; if the tool has changed, record the calls again, otherwise correct the schema",
				c.Tool.Path(), clip(c.Args), schema.Summary(findings)))
		}
		return r.Result, nil
	})
}

// recordedCall identifies a call in the runs of a sample, or in all runs if inputs is empty.
type recordedCall struct {
	key, inputs string
	sample      int
}

// recordings returns the recordings of the first call in calls that has any, in the order in which they were made.
func (p *player) recordings(b *tools.Binding, calls []recordedCall) []*recording {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index[b] == nil {
		p.index[b] = indexed(b, p.byTool[b.Path()])
	}
	for _, c := range calls {
		if list := p.index[b][c]; list != nil {
			return list
		}
	}
	return nil
}

// indexed returns the recordings of a tool by call. It keeps only the recordings of the last run that made the call.
func indexed(b *tools.Binding, list []recording) map[recordedCall][]*recording {
	index := map[recordedCall][]*recording{}
	for i := range slices.Backward(list) {
		r := &list[i]
		key, err := b.Key(r.Args)
		if err != nil {
			continue // the tool no longer accepts these arguments
		}
		calls := []recordedCall{{key: key}}
		if r.Inputs != "" {
			calls = append(calls, recordedCall{key, r.Inputs, r.Sample})
		}
		for _, c := range calls {
			if later := index[c]; later == nil || later[0].Run == r.Run {
				index[c] = append(later, r)
			}
		}
	}
	for _, list := range index {
		slices.Reverse(list)
	}
	return index
}

// exampleRun is a run of an example. Recordings identify examples by their inputs, since different sets may use the
// same IDs.
type exampleRun struct {
	id     string        // random, or "" outside an evaluation
	inputs func() string // returns a hash of the inputs, or "" outside an evaluation
	sample int

	mu    sync.Mutex
	calls map[string]int // the number of calls by key
}

type runKey struct{}

// withRun returns the context for a run of an example.
func withRun(ctx context.Context, inputs json.RawMessage, sample int) context.Context {
	hash := sync.OnceValue(func() string {
		sum := sha256.Sum256([]byte(canonical.JSON(inputs)))
		return hex.EncodeToString(sum[:16])
	})
	run := &exampleRun{id: rand.Text(), inputs: hash, sample: sample, calls: map[string]int{}}
	return context.WithValue(ctx, runKey{}, run)
}

// runOf returns the run that ctx belongs to, or an empty run outside an evaluation.
func runOf(ctx context.Context) *exampleRun {
	if run, ok := ctx.Value(runKey{}).(*exampleRun); ok {
		return run
	}
	return &exampleRun{inputs: func() string { return "" }, calls: map[string]int{}}
}

// count counts a call, and returns how often the run has made it before.
func (r *exampleRun) count(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[key]++
	return r.calls[key] - 1
}

package llmtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

// The files of a recording.
const (
	exchangesFile = "exchanges.jsonl" // a models.Store
	callsFile     = "calls.json"
	toolsFile     = "tools.json"
)

const again = `to record again, run the test with -update, if its package has that flag, or with WRIT_UPDATE=1`

// Record makes a test of an agent offline and deterministic. It returns a model and tools for the agent. In the first
// run, with the environment variable WRIT_UPDATE=1 or with a boolean flag -update that the test's package defines, they
// pass requests and calls to model and set and write the answers into the folder dir, once the test has passed. In all
// other runs, they answer from that folder, and model and set are not used. A request or a call that is not recorded
// fails the test, with the difference from the most similar recorded prompt.
//
// Model may be nil when it is not recorded. So may set: the tools are then those that were recorded, without the
// policies of the set and without Remark and Revert. With a set, its tools are declared and its policies apply,
// so that a test notices when they change. Policies that the test adds to the returned set ([tools.Set.With]) apply in
// all runs. Each test needs a folder of its own. Identical concurrent requests or calls
// are answered in any order.
//
// The folder has everything that was sent to and received from the model and the tools, but no keys of providers, and
// [redacted] instead of each secret that secrets finds. Nil means the predefined patterns of [policy.NewSecrets]. While
// recording, the model and the tools get the secrets; otherwise, requests and calls are compared without them.
func Record(t testing.TB, dir string, model llms.Model, set *tools.Set,
	secrets *policy.Secrets) (llms.Model, *tools.Set) {
	t.Helper()
	if secrets == nil {
		secrets, _ = policy.NewSecrets(policy.SecretOptions{}) // fails only because of options
	}
	r := &recording{t: t, dir: dir, secrets: secrets, asked: map[string]int{}}
	var err error
	if update() {
		model, err = r.record(model, set)
	} else {
		model, set, err = r.replay(set)
	}
	if err != nil {
		t.Fatalf("llmtest: the recording %s: %v", dir, err)
	}
	return model, set.With(r.policy)
}

// update reports whether to record.
func update() bool {
	f := flag.Lookup("update")
	return os.Getenv("WRIT_UPDATE") == "1" || f != nil && f.Value.String() == "true"
}

type recording struct {
	t         testing.TB
	dir       string
	secrets   *policy.Secrets
	recording bool
	store     *models.Store

	mu    sync.Mutex
	calls []recordedCall
	asked map[string]int // for replay: how often each call was made
}

// recordedCall is a tool call with its result or error.
type recordedCall struct {
	Tool   string           `json:"tool"`
	Args   json.RawMessage  `json:"args"`
	Result json.RawMessage  `json:"result,omitempty"`
	Error  *tools.ToolError `json:"error,omitempty"`
}

// recordedTool is the declaration of a tool.
type recordedTool struct {
	Namespace    string          `json:"namespace,omitempty"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	Params       []string        `json:"params,omitempty"`
	Hints        tools.Hints     `json:"hints"`
	Claimed      tools.Class     `json:"claimed"`
}

// record returns a model that passes requests on and stores them. If the test passes, the new files replace the old.
func (r *recording) record(model llms.Model, set *tools.Set) (llms.Model, error) {
	if model == nil {
		return nil, errors.New("the model is nil; recording needs the real one")
	}
	if err := os.MkdirAll(r.dir, 0o750); err != nil {
		return nil, err
	}
	r.recording = true
	file := filepath.Join(r.dir, exchangesFile)
	if err := os.RemoveAll(file + ".new"); err != nil {
		return nil, err
	}
	store, err := models.OpenStore(&models.StoreOptions{Mode: models.Resume, Path: file + ".new",
		Redact: r.secrets.Text})
	if err != nil {
		return nil, err
	}
	r.t.Cleanup(func() {
		err := store.Close()
		if err == nil && !r.t.Failed() {
			err = errors.Join(os.Rename(file+".new", file), r.write(set))
		}
		if err != nil {
			r.t.Errorf("llmtest: the recording %s: %v", r.dir, err)
		}
	})
	return store.Model(model, ""), nil
}

// write writes the calls and the declarations of the tools.
func (r *recording) write(set *tools.Set) error {
	all := []recordedTool{}
	for _, b := range set.Bindings() {
		all = append(all, recordedTool{b.Namespace, b.Name, b.Description, b.InputSchema, b.OutputSchema, b.Params,
			b.Hints, b.Claimed})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.writeFile(toolsFile, all), r.writeFile(callsFile, r.calls))
}

func (r *recording) writeFile(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, name), append(r.secrets.JSON(text), '\n'), 0o600)
}

func (r *recording) readFile(name string, v any) error {
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return fmt.Errorf("%w; %s", err, again)
	}
	return nil
}

// replay returns a model that answers from the folder, and the recorded tools if set is nil.
func (r *recording) replay(set *tools.Set) (llms.Model, *tools.Set, error) {
	var all []recordedTool
	if err := cmp.Or(r.readFile(toolsFile, &all), r.readFile(callsFile, &r.calls)); err != nil {
		return nil, nil, err
	}
	file := filepath.Join(r.dir, exchangesFile)
	store, err := models.OpenStore(&models.StoreOptions{Mode: models.Replay, Path: file, Redact: r.secrets.Text})
	if err != nil {
		return nil, nil, fmt.Errorf("%w; %s", err, again)
	}
	r.store = store
	if set, err = replayed(set, all); err != nil {
		return nil, nil, err
	}
	stored := store.Model(nil, "")
	return lm.Wrap(stored, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		response, err := lm.Generate(ctx, stored, messages, options...)
		if err != nil && store.Stats().Misses > 0 {
			now := r.secrets.Text(lm.Transcript(messages, nil, nil))
			r.t.Errorf("llmtest: %v; %s\n%s", err, again, difference(file, now))
		}
		return response, err
	}), set, nil
}

// replayed returns the tools of the set, or the recorded ones if it is nil, with handlers that return recorded results.
func replayed(set *tools.Set, recorded []recordedTool) (*tools.Set, error) {
	var sources []tools.Source
	learned := map[string]json.RawMessage{}
	for _, b := range set.Bindings() {
		t := *b.Tool
		t.Handler = answered
		sources, learned[b.Path()] = append(sources, &t), b.Learned
	}
	if set == nil {
		for _, d := range recorded {
			sources = append(sources, &tools.Tool{Namespace: d.Namespace, Name: d.Name, Description: d.Description,
				InputSchema: d.InputSchema, OutputSchema: d.OutputSchema, Params: d.Params, Hints: d.Hints,
				Claimed: d.Claimed, Handler: answered})
		}
	}
	made, err := tools.NewSet(context.Background(), sources...)
	return made.WithLearned(learned).WithPoliciesOf(set), err
}

// answerKey is the context key of the function that returns a call's recorded result. A handler calls it, rather than
// a policy, so that the policies that the test adds apply, too.
type answerKey struct{}

func answered(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
	if answer, ok := ctx.Value(answerKey{}).(func() (json.RawMessage, error)); ok {
		return answer()
	}
	return nil, errors.New("llmtest: a recorded tool needs the policies of the set that Record returned; keep them")
}

// policy records calls, or finds their recorded results.
func (r *recording) policy(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		call := recordedCall{Tool: c.Tool.Path(), Args: c.Args}
		if !r.recording {
			call.Args = r.secrets.JSON(c.Args)
			answer := sync.OnceValues(func() (json.RawMessage, error) { return r.answer(call) })
			return next.Call(context.WithValue(ctx, answerKey{}, answer), c)
		}
		result, err := next.Call(ctx, c)
		call.Result = result
		if err != nil {
			failed, ok := errors.AsType[*tools.ToolError](err)
			if !ok {
				return result, err // it ends the run
			}
			call.Error = &tools.ToolError{Kind: failed.Kind, Message: failed.Message, Data: failed.Data}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls = append(r.calls, call)
		return result, err
	})
}

// answer returns the recorded result of the next occurrence of a call.
func (r *recording) answer(call recordedCall) (json.RawMessage, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := call.key()
	n := r.asked[key]
	r.asked[key]++
	var similar []string
	for _, c := range r.calls {
		if c.Tool == call.Tool {
			similar = append(similar, c.key())
		}
		if c.key() != key {
			continue
		}
		if n--; n < 0 {
			if c.Error != nil {
				failed := *c.Error
				return nil, &failed
			}
			return c.Result, nil
		}
	}
	err := fmt.Errorf("llmtest: the call %s is not in the recording %s, or was made more often than there; %s", key,
		r.dir, again)
	r.t.Errorf("%v\nrecorded calls of this tool:\n%s", err, strings.Join(similar, "\n"))
	return nil, tools.Fatal(err)
}

// key returns the call with its arguments in one notation.
func (c recordedCall) key() string {
	var args any
	d := json.NewDecoder(bytes.NewReader(c.Args))
	d.UseNumber()       // large numbers stay different
	_ = d.Decode(&args) // the dispatcher has checked them
	text, _ := json.Marshal(args)
	return fmt.Sprintf("%s(%s)", c.Tool, text)
}

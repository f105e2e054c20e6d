package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

var update = flag.Bool("update", false, "write what happened into testdata/transcripts")

// TestTranscripts runs every scenario of testdata/transcripts and compares the whole conversation
// and its result.
//
// The comment of an archive describes it and has lines of the form "key: value":
//
//	module:    predict, codeact, …
//	signature: one of scenarios
//	steps:     MaxIters
//	time:      the sandbox's limit of time
//	compute:   the sandbox's limit of computing, if programs compute much
//	sandbox:   isolated, for sandbox.New; otherwise sandbox.NewInProcess
//	forgets:   true if the conversation becomes too long; otherwise each prompt must repeat the previous one
//	system:    shown, to begin the transcript with the system prompt
//	calls:     how often each handler must have been called; not changed by -update
//
// The sections reply1, reply2, … are the replies of the model. "reply1 length" is cut off at the
// token limit, and "reply1 error" is an error of the model.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	eachArchive(t, "transcripts", func(t *testing.T, s *setup) string {
		run, ok := scenarios[s.module+" "+s.signature]
		if !ok {
			t.Fatalf("unknown scenario %q with the signature %q", s.module, s.signature)
		}
		result := run(t, s)
		got := conversation(t, s.model, s.forgets)
		if !s.system {
			got = got[max(0, strings.Index(got, "--- human ---")):]
		}
		if counts := s.handlers.counts(); s.calls != "" && counts != s.calls {
			t.Errorf("handlers were called: %s; want %s", counts, s.calls)
		}
		return got + result + s.handlers.String()
	})
}

// eachArchive runs every archive in a directory of testdata and compares the transcript with its section "transcript".
func eachArchive(t *testing.T, dir string, run func(*testing.T, *setup) (transcript string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no archives")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compareSection(t, file, archive, run(t, readSetup(t, archive)))
		})
	}
}

// setup is the configuration in an archive.
type setup struct {
	module, signature string
	steps             int
	limits            sandbox.Limits
	isolated, forgets bool
	system            bool // the transcript shows the system prompt
	calls             string
	model             *llmtest.Model
	handlers          *handlers
}

func readSetup(t *testing.T, archive *txtar.Archive) *setup {
	s := &setup{handlers: &handlers{called: map[string]int{}}}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		var err error
		switch key {
		case "module":
			s.module = value
		case "signature":
			s.signature = value
		case "steps":
			s.steps, err = strconv.Atoi(value)
		case "time":
			s.limits.Time, err = time.ParseDuration(value)
		case "compute":
			s.limits.Compute, err = time.ParseDuration(value)
		case "sandbox":
			s.isolated = value == "isolated"
		case "forgets":
			s.forgets = value == "true"
		case "system":
			s.system = value == "shown"
		case "calls":
			s.calls = value
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.model = scripted(archive)
	return s
}

func scripted(archive *txtar.Archive) *llmtest.Model {
	var replies []txtar.File
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "reply") {
			replies = append(replies, f)
		}
	}
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > len(replies) {
			return llmtest.Reply{}, fmt.Errorf("the archive has no reply%d", r.N)
		}
		_, how, _ := strings.Cut(replies[r.N-1].Name, " ")
		text := strings.TrimSuffix(string(replies[r.N-1].Data), "\n")
		if how == "error" {
			return llmtest.Reply{}, errors.New(text)
		}
		return llmtest.Reply{Text: text, StopReason: how}, nil
	})
}

// scenarios has a module for each kind and signature.
var scenarios = map[string]func(*testing.T, *setup) string{
	"predict verdict":      runPredict[review, verdict](review{"Broke twice."}, nil),
	"predict json verdict": runPredict[review, verdict](review{"Broke twice."}, &module.Options{Adapter: module.JSON()}),
	"predict parcel":       runPredict[review, parcel](review{"Send it to Mole End."}, nil),
	"predict note":         runPredict[review, note](review{"Hello."}, nil),
	"codeact report":       runCodeAct[orders, report](orders{Limit: 3}),
	"codeact wiki":         runCodeAct[orders, report](orders{Limit: 3}, wikiPage),
}

type review struct {
	Text string `json:"text" jsonschema:"description=what the customer wrote"`
}

type verdict struct {
	Mood   string  `json:"mood"     jsonschema:"enum=good,enum=bad"`
	Score  float64 `json:"score"    jsonschema:"minimum=0,maximum=1,description=how sure you are"`
	Return bool    `json:"returned"`
}

type note struct {
	Note string  `json:"note"`
	Lang *string `json:"lang"`
}

type parcel struct {
	Address struct {
		Street string `json:"street"`
		Number *int   `json:"number"`
	} `json:"address"`
	Tags []string `json:"tags"    jsonschema:"minItems=1"`
}

type orders struct {
	Limit int `json:"limit" jsonschema:"minimum=1"`
}

type report struct {
	Total int      `json:"total" jsonschema:"minimum=0"`
	Names []string `json:"names"`
}

func runPredict[In, Out any](in In, o *module.Options) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Judge the review."))
		pred, err := module.NewPredict(sig, s.model, o).Run(t.Context(), in)
		return show(t, pred, err)
	}
}

// wikiPage returns JSON as text, as many servers do.
var wikiPage = &tools.Tool{
	Namespace:   "wiki",
	Name:        "page_get",
	Description: "Gets the page of the orders.",
	Hints:       tools.Hints{Class: tools.Read},
	Handler: func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(
			`"{\"id\": 7, \"title\": \"Orders\", \"odd key\": 1, \"comments\": [{\"by\": \"Mole\", \"total\": 1}, ` +
				`{\"by\": \"Rat\", \"total\": 2}]}"`,
		), nil
	},
}

func runCodeAct[In, Out any](in In, more ...tools.Source) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Report on the orders."))
		act := module.NewCodeAct(sig, s.model, s.box(t), s.handlers.set(t, more...), &module.Options{MaxIters: s.steps})
		pred, err := act.Run(t.Context(), in)
		return show(t, pred, err)
	}
}

// show returns the result of a run.
func show[Out any](t *testing.T, pred *module.Prediction[Out], err error) string {
	var b strings.Builder
	var incomplete *module.IncompleteError
	switch {
	case err == nil:
		answer, err := json.Marshal(pred.Output)
		if err != nil {
			t.Fatal(err)
		}
		showEnd(&b, pred.Trajectory, "--- prediction ---\n"+string(answer))
	case pred != nil:
		t.Error("there is a prediction in addition to the error")
	case errors.As(err, &incomplete):
		showEnd(&b, incomplete.Trajectory, "--- error ---\n"+err.Error())
	default:
		t.Errorf("the error is not an IncompleteError: %v", err)
	}
	return b.String()
}

func showEnd(b *strings.Builder, t module.Trajectory, end string) {
	last := t.Steps[len(t.Steps)-1]
	fmt.Fprintf(b, "--- %s ---\n%s\n", llms.ChatMessageTypeAI, last.Reply)
	if last.Observation != "" {
		fmt.Fprintf(b, "--- not sent any more ---\n%s\n", last.Observation)
	}
	fmt.Fprintln(b, end)
	showEffects(b, "effects", t.Calls)
	showEffects(b, "orphans", t.Orphans)
}

func showEffects(b *strings.Builder, title string, entries []journal.Entry) {
	if len(entries) > 0 {
		fmt.Fprintf(b, "--- %s ---\n", title)
	}
	for _, e := range entries {
		fmt.Fprintf(b, "%s step %d attempt %d: %s(%s) %s %s\n", e.ID, e.Step, e.Attempt, e.Tool, e.Args, e.State, e.Result)
	}
}

// handlers are the tools of the scenarios. They count their calls.
type handlers struct {
	mu     sync.Mutex
	called map[string]int
}

func (h *handlers) count(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.called[name]++
	return h.called[name]
}

func (h *handlers) counts() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	for name, n := range h.called {
		list = append(list, fmt.Sprintf("%s=%d", name, n))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

func (h *handlers) String() string {
	if counts := h.counts(); counts != "" {
		return "--- handlers called ---\n" + counts + "\n"
	}
	return ""
}

type sent struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

type page struct {
	Limit int `json:"limit,omitempty" jsonschema:"maximum=10"`
}

type order struct {
	Name  string `json:"name"`
	Total int    `json:"total"`
}

func (h *handlers) set(t *testing.T, more ...tools.Source) *tools.Set {
	list := func(_ context.Context, p page) ([]order, error) {
		h.count("list_orders")
		all := []order{{"Mole", 1}, {"Rat", 2}, {"Toad", 3}, {"Badger", 4}}
		return all[:min(p.Limit, len(all))], nil
	}
	send := func(_ context.Context, s sent) (string, error) {
		return fmt.Sprintf("message %d to %s", h.count("send"), s.To), nil
	}
	refund := func(_ context.Context, o order) (bool, error) {
		h.count("refund")
		return false, fmt.Errorf("there is no order of %s", o.Name)
	}
	pay := func(context.Context, order) (bool, error) {
		h.count("pay")
		return false, context.DeadlineExceeded
	}
	erase := func(context.Context, order) (bool, error) {
		h.count("erase")
		return false, tools.Fatal(errors.New("the shop is closed"))
	}
	set := toolSet(t, append(more,
		tools.Func("list_orders", "Lists orders.", list, &tools.Hints{Class: tools.Read}),
		tools.Func("send", "Sends a message.", send, nil),
		tools.Func("refund", "Refunds an order.", refund, nil),
		tools.Func("pay", "Pays for an order.", pay, nil),
		tools.Func("erase", "Erases an order.", erase, nil))...)
	return set
}

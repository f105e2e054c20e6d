package conversationtest

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
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

var (
	update = flag.Bool("update", false, "write what happened into the archives and docs/measured/conversation.md")
	play   = flag.Bool("play", false, "show the question for which an archive has no reply")
)

const testdata = "../../testdata/"

// question is the input of every slip.
type question struct {
	Question string `json:"question"`
}

// The answers of slips.
type (
	total struct {
		Total float64 `json:"total"`
	}
	names struct {
		Names []string `json:"names"`
	}
	amount struct {
		Amount string `json:"amount"`
	}
	report struct {
		Count int      `json:"count" jsonschema:"minimum=0"`
		Names []string `json:"names"`
		Done  bool     `json:"done"`
	}
	moment struct {
		Day *string `json:"day" jsonschema:"format=date"`
	}
)

// slips has the function that runs a slip, by the kind of its answer.
var slips = map[string]func(*testing.T, *slip) run{
	"total":  runSlip[total],
	"names":  runSlip[names],
	"amount": runSlip[amount],
	"report": runSlip[report],
	"moment": runSlip[moment],
}

// slip is an archive of testdata/slips. Its comment describes the mistake of the model and has
// lines of the form "key: value":
//
//	question: the input
//	kind:     the kind of the answer, a key of slips
//	answer:   the correct answer, as JSON
//	effects:  the calls that change something and must have been made
//	reply:    which reply has the mistake, if not the first
//	steps:    MaxIters
//	calls:    the limit of calls
//	compute:  the limit of computing, in a separate sandbox
//	slow:     true if the calls of the first program are not made before it ends; otherwise
//	          it would be random whether calls that are not awaited are made
//
// The sections reply1, reply2, … are the replies of the model. The replies after the mistake were
// written by somebody who saw only the observations and followed them literally. The reply in a
// section "reply1 length" is cut off. The section "messages" has the observations.
type slip struct {
	name, about     string
	question, kind  string
	answer, effects string
	reply           int
	steps, calls    int
	slow            bool
	compute         time.Duration
	model           *llmtest.Model
	box             *sandbox.Sandbox
}

// run is the result of a conversation.
type run struct {
	answer     json.RawMessage // nil without an answer
	effects    string
	requests   []llmtest.Request
	trajectory module.Trajectory
	err        error
}

// verdict describes how a slip ended.
func (s *slip) verdict(r run) string {
	steps := len(r.trajectory.Steps) - s.reply // after the slip
	switch {
	case r.err != nil:
		return "never"
	case !sameJSON(r.answer, []byte(s.answer)) || r.effects != s.effects:
		return "wrong success"
	case steps <= 0:
		return "at once"
	case steps == 1:
		return "one"
	case steps == 2:
		return "two"
	}
	return "later"
}

func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

// readSlip reads an archive.
func readSlip(t *testing.T, file string, archive *txtar.Archive) *slip {
	t.Helper()
	s := &slip{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), steps: 8, reply: 1}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		var err error
		switch key {
		case "question":
			s.question = value
		case "kind":
			s.kind = value
		case "answer":
			s.answer = value
		case "effects":
			s.effects = value
		case "reply":
			s.reply, err = strconv.Atoi(value)
		case "steps":
			s.steps, err = strconv.Atoi(value)
		case "calls":
			s.calls, err = strconv.Atoi(value)
		case "compute":
			s.compute, err = time.ParseDuration(value)
		case "slow":
			s.slow = value == "true"
		default:
			s.about = cmp.Or(s.about, strings.TrimSpace(line))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.model = scripted(archive)
	return s
}

// runSlip runs the conversation.
func runSlip[Out any](t *testing.T, s *slip) run {
	d := newDesk()
	set, err := d.set(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	act := module.NewCodeAct(answering[Out](), s.model, s.box, set.With(s.wait), &module.Options{MaxIters: s.steps})
	pred, err := act.Run(t.Context(), question{s.question})
	r := conversed(t, s.model, pred, err)
	r.effects = d.effects()
	return r
}

// wait is a policy that delays the calls of the first program of a slow slip until the program
// ends.
func (s *slip) wait(next tools.Caller) tools.Caller {
	return tools.CallerFunc(func(ctx context.Context, c tools.Call) (json.RawMessage, error) {
		if s.slow && len(s.model.Requests()) == 1 {
			<-ctx.Done()
			return nil, &tools.ToolError{Kind: tools.KindDenied, Message: "the program ended before the call was made"}
		}
		return next.Call(ctx, c)
	})
}

// messages returns the observations and the result of a conversation.
func (s *slip) messages(r run, archive *txtar.Archive) string {
	var b strings.Builder
	for i, step := range r.trajectory.Steps {
		if step.Observation != "" {
			fmt.Fprintf(&b, "=== told after reply%d ===\n%s\n", i+1, step.Observation)
		}
	}
	fmt.Fprintf(&b, "=== end: %s ===\n", s.verdict(r))
	if r.err != nil {
		fmt.Fprintln(&b, r.err)
	} else {
		fmt.Fprintf(&b, "%s\n", r.answer)
	}
	if r.effects != "" {
		fmt.Fprintln(&b, r.effects)
	}
	return b.String()
}

// open sets the sandbox of a slip: the shared one, unless the slip has its own limits.
func (s *slip) open(t *testing.T, shared *sandbox.Sandbox) {
	t.Helper()
	s.box = shared
	if s.calls == 0 && s.compute == 0 {
		return
	}
	open := sandbox.NewInProcess
	if s.compute != 0 {
		open = sandbox.New
	}
	box, err := open(&sandbox.Options{Limits: sandbox.Limits{Calls: s.calls, Compute: s.compute}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	s.box = box
}

// row is a row of the table.
type row struct {
	name, about, verdict string
	tokens               int
}

func testSlip(t *testing.T, file string, shared *sandbox.Sandbox) row {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := readSlip(t, file, archive)
	converse, ok := slips[s.kind]
	if !ok {
		t.Fatalf("unknown kind %q", s.kind)
	}
	s.open(t, shared)
	r := converse(t, s)
	if *play && errors.As(r.err, new(noReplyError)) {
		last := r.requests[len(r.requests)-1]
		t.Logf("%s\n%s", s.name, last.Last())
	}
	compareSection(t, file, archive, "messages", s.messages(r, archive))
	told := 0
	for _, step := range r.trajectory.Steps {
		told += declare.Tokens(step.Observation)
	}
	return row{s.name, s.about, s.verdict(r), told}
}

func compareSection(t *testing.T, file string, archive *txtar.Archive, section, got string) {
	t.Helper()
	i := 0
	for i < len(archive.Files) && archive.Files[i].Name != section {
		i++
	}
	if *update {
		if i == len(archive.Files) {
			archive.Files = append(archive.Files, txtar.File{Name: section})
		}
		archive.Files[i].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if i == len(archive.Files) || string(archive.Files[i].Data) != got {
		t.Errorf("the section %s differs; run with -update and review the difference. Got:\n%s", section, got)
	}
}

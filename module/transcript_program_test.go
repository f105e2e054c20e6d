package module_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// These scenarios of modules that write programs are in addition to those of transcript_test.go.
func init() {
	long := logbook{
		Log: strings.Repeat(
			"I 12:00 all is well\n",
			50_000,
		) + "E 12:01 <disk> full\n" + strings.Repeat(
			"I 12:02 was it?\n",
			50_000,
		),
		Note: "Counted from the top.",
	}
	for i := range 20_000 {
		long.Machines = append(long.Machines, machine{ID: i, Name: fmt.Sprintf("m%05d", i), Tags: []string{"rack", "row"}})
	}
	scenarios["programofthought median"] = runThought[numbers, median](numbers{List: []float64{3, 1, 2}})
	scenarios["programofthought logbook"] = runThought[logbook, failures](long)
	scenarios["codeact extract"] = runCoder[orders, report](orders{Limit: 3}, module.Options{Extract: true})
	scenarios["codeact json"] = runCoder[orders, report](
		orders{Limit: 3},
		module.Options{Extract: true, Adapter: module.JSON()},
	)
	scenarios["codeact picture"] = runCoder[picture, seen](picture{
		Photo:  signature.Image{URL: "https://example.com/a.png"},
		Before: signature.History{{{Name: "seen", JSON: []byte(`"a lake"`)}}},
	}, module.Options{})
}

type numbers struct {
	List []float64 `json:"list"`
}

type median struct {
	Median float64 `json:"median"`
}

type machine struct {
	ID   int      `json:"id"`
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

type logbook struct {
	Log      string    `json:"log"`
	Note     string    `json:"note"`
	Machines []machine `json:"machines"`
}

type failures struct {
	Failures int    `json:"failures"`
	Last     string `json:"last"`
}

type picture struct {
	Photo  signature.Image   `json:"photo"`
	Before signature.History `json:"before"`
}

type seen struct {
	Seen string `json:"seen"`
}

func (s *setup) box(t *testing.T) *sandbox.Sandbox {
	open := sandbox.NewInProcess
	if s.isolated {
		open = sandbox.New
	}
	return openBox(t, open, &sandbox.Options{Limits: s.limits})
}

func runThought[In, Out any](in In) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Work it out."))
		p := module.NewProgramOfThought(sig, s.model, s.box(t), &module.Options{MaxIters: s.steps})
		pred, err := p.Run(t.Context(), in)
		return show(t, pred, err)
	}
}

func runCoder[In, Out any](in In, o module.Options) func(*testing.T, *setup) string {
	return func(t *testing.T, s *setup) string {
		sig := signature.Must(signature.New[In, Out]("Report on the orders."))
		o := o
		o.MaxIters = s.steps
		pred, err := module.NewCodeAct(sig, s.model, s.box(t), s.handlers.set(t), &o).Run(t.Context(), in)
		return show(t, pred, err)
	}
}

// textsOf returns the messages of a request as text.
func textsOf(r llmtest.Request) []string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, llmtest.Request{Messages: []llms.MessageContent{m}}.Text())
	}
	return texts
}

// conversation returns all messages to the model in order, or the last prompt if the conversation
// forgets. The test fails if a prompt does not repeat the previous one. Only observations to which
// the model has replied, and after which it was shown another one, may become shorter, and complete
// again in the last prompt.
func conversation(t *testing.T, model *llmtest.Model, forgets bool) string {
	requests := model.Requests()
	if len(requests) == 0 {
		return ""
	}
	if forgets {
		return requests[len(requests)-1].Text()
	}
	var b strings.Builder
	var before, whole []string
	for i, r := range requests {
		now := textsOf(r)
		if len(now) <= len(before) && i > 0 {
			t.Fatalf("request %d has %d messages, and the previous one %d", i+1, len(now), len(before))
		}
		for j := range before {
			old := j%2 == 1 && j < len(now)-1 && j > 1 // an observation, but not the last one
			switch {
			case now[j] == before[j]:
			case old && len(now[j]) < len(before[j]):
				b.WriteString("(now shorter) " + now[j])
			case old && now[j] == whole[j] && i == len(requests)-1:
				b.WriteString("(whole again) " + now[j])
			default:
				t.Errorf("message %[2]d of request %[1]d differs from the previous request:\n%[3]s", i+1, j+1, now[j])
			}
		}
		b.WriteString(strings.Join(now[len(before):], ""))
		whole = append(whole, now[len(before):]...)
		before = now
	}
	return b.String()
}

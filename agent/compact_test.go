package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
)

// A run with a long history that goes on in another process neither asks for the summary again, nor repeats the reads
// that its ReAct made at the same time.
func TestResumeAfterSummaryAndReads(t *testing.T) {
	t.Parallel()
	sig, err := signature.New[agent.Task, agent.Answer]("Do it.")
	if err != nil {
		t.Fatal(err)
	}
	var summaries, reads atomic.Int64
	call := func(id, name, args string) llms.ToolCall {
		return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
	}
	o, runs := &office{}, agent.NewRuns(journal.NewMemory())
	var asked []string
	resumed := func() module.Module[agent.Task, agent.Answer] { // everything is new, as in another process
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			text := r.Text()
			switch {
			case strings.Contains(text, "[[ ## earlier ## ]]"):
				reply := fmt.Sprintf("[[ ## summary ## ]]\nSummary %d.\n[[ ## completed ## ]]", summaries.Add(1))
				return llmtest.Reply{Text: reply}, nil
			case len(asked) == 0:
				asked = append(asked, text)
				return llmtest.Reply{ToolCalls: []llms.ToolCall{call("c1", "look", `{"to": "a"}`),
					call("c2", "look", `{"to": "b"}`), call("c3", "look", `{"to": "c"}`)}}, nil
			case len(asked) == 1:
				asked = append(asked, text)
				return llmtest.Reply{ToolCalls: []llms.ToolCall{call("c4", "send", `{"to": "ann"}`)}}, nil
			}
			asked = append(asked, text)
			return llmtest.Reply{ToolCalls: []llms.ToolCall{call("c5", "submit", `{"answer": "sent"}`)}}, nil
		}).With(models.Capabilities{Tools: true})
		look := tools.Func("look", "Looks.", func(_ context.Context, m mail) (string, error) {
			reads.Add(1)
			return "seen " + m.To, nil
		}, &tools.Hints{Class: tools.Read})
		return module.NewReAct(sig, model, o.tools(t, look), nil)
	}
	long := agent.Task{Task: "Write to ann."}
	for i := range 60 {
		long.History = append(long.History, signature.Values{
			{Name: "task", JSON: fmt.Appendf(nil, "%q", fmt.Sprint(i, strings.Repeat(" again", 100)))},
			{Name: "answer", JSON: []byte(`"done"`)},
		})
	}
	_, err = agent.Start(t.Context(), runs, "r-1", resumed(), long)
	at := paused(t, err)
	before := summaries.Load()
	pred, err := agent.Resume(t.Context(), runs, resumed(), at,
		map[string]agent.Decision{at.Waiting[0].ID: approved()})
	if err != nil || pred.Output.Answer != "sent" || o.String() != "send:ann" {
		t.Fatalf("got %v, %v, %s", pred, err, o)
	}
	if before == 0 || summaries.Load() != before || reads.Load() != 3 || len(asked) != 3 {
		t.Errorf("%d and then %d summaries, %d reads, %d requests", before, summaries.Load(), reads.Load(), len(asked))
	}
	if last := asked[2]; !strings.Contains(last, fmt.Sprintf("Summary %d.", before)) ||
		!strings.Contains(last, "seen c") || len(last) > 40_000 {
		t.Errorf("the last request has %d bytes\n%.2000s", len(last), last)
	}
}

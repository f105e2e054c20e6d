package module_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
)

// money is an embedder for which all texts about money are the same. It fails if it is down.
type money struct{ down bool }

func (m money) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	if m.down {
		return nil, errors.New("it is down")
	}
	if strings.Contains(text, "refund") || strings.Contains(text, "cash") {
		return []float32{1, 0}, nil
	}
	return []float32{0, 1}, nil
}

func (m money) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	for _, text := range texts {
		v, err := m.EmbedQuery(ctx, text)
		if err != nil {
			return nil, err
		}
		vectors = append(vectors, v)
	}
	return vectors, nil
}

// Programs and models find tools by meaning if the module has an embedder, and by words if it fails.
func TestEmbedder(t *testing.T) {
	t.Parallel()
	yes := func(context.Context, struct{}) (bool, error) { return true, nil }
	set := toolSet(t, tools.Func("refund", "Refund one order.", yes, nil),
		tools.Func("track", "Where it is.", yes, nil))
	const program = "```js\nsubmit({total: (await tools.search('cash for the customer')).length})\n```"
	for down, want := range map[bool]int{false: 1, true: 0} {
		var log bytes.Buffer
		o := module.Options{Embedder: money{down}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
		acts := map[string]module.Module[orders, sum]{
			"CodeAct": module.NewCodeAct(adding, llmtest.New(program), inProcess(t), set, &o),
			"RLM":     module.NewRLM(adding, llmtest.New(program), inProcess(t), set, &module.RLMOptions{Options: o}),
		}
		for name, act := range acts {
			if pred := mustRun(t, act, orders{Limit: 1}); pred.Output.Total != want {
				t.Errorf("%s: found %d tools, want %d", name, pred.Output.Total, want)
			}
		}
		model := llmtest.New(action("tools.search", `{"query": "cash for the customer"}`), submits1)
		mustRun(t, module.NewReAct(adding, model, set, &o), orders{Limit: 1})
		if told := model.Requests()[1].Last(); strings.Contains(told, `"refund"`) == down {
			t.Errorf("a ReAct was told %s", told)
		}
		if n := strings.Count(log.String(), "it is down"); n != map[bool]int{false: 0, true: 3}[down] {
			t.Errorf("logged %s", log.String())
		}
	}
}

// The programs of an RLM with an embedder compare texts by meaning. If the embedder fails, they are not told why.
func TestNearest(t *testing.T) {
	t.Parallel()
	const program = "```js\nlet total;\ntry { [total] = await nearest({query: 'refund', texts: ['a lamp', 'cash'], " +
		"limit: 1}) } catch (e) { total = e.message.includes('down') ? -1 : -2 }\nsubmit({total})\n```"
	for down, want := range map[bool]int{false: 1, true: -2} {
		model := llmtest.New(program)
		o := &module.RLMOptions{Options: module.Options{Embedder: money{down}}}
		if pred := mustRun(t, module.NewRLM(adding, model, inProcess(t), nil, o), orders{Limit: 1}); pred.Output.Total != want {
			t.Errorf("down %v: got %d, want %d", down, pred.Output.Total, want)
		}
		if !strings.Contains(model.Requests()[0].Text(), "await nearest(") {
			t.Error("the prompt does not mention nearest")
		}
	}
	model := llmtest.New(submits1)
	_, _ = module.NewRLM(adding, model, inProcess(t), nil, nil).Run(t.Context(), orders{Limit: 1})
	if strings.Contains(model.Requests()[0].Text(), "nearest(") {
		t.Error("nearest without an embedder")
	}
}

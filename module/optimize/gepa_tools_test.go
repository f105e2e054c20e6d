package optimize

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

type rate struct {
	Currency string `json:"currency"`
}

func rateOf(_ context.Context, r rate) (string, error) {
	if r.Currency != "EUR" {
		return "", errors.New("unknown currency")
	}
	return "7", nil
}

// caller is a model that calls the tool rate wrongly, unless it is told more about it.
func caller() *llmtest.Model {
	call := func(tool, args string) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "[[ ## thought ## ]]\nso\n\n[[ ## tool ## ]]\n" + tool + "\n\n[[ ## args ## ]]\n" +
			args + "\n\n[[ ## completed ## ]]"}, nil
	}
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch {
		case strings.Contains(r.Last(), "unknown currency"):
			return call("submit", `{"reply": "unknown"}`)
		case strings.Contains(r.Last(), "7"):
			return call("submit", `{"reply": "7"}`)
		case strings.Contains(r.Text(), "three letters"):
			return call("rate", `{"currency": "EUR"}`)
		}
		return call("rate", `{"currency": "euro"}`)
	})
}

// rateTools returns a set with the tool rate, and with a tool that nobody calls.
func rateTools(t *testing.T) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(),
		tools.Func("rate", "Returns a rate.", rateOf, &tools.Hints{Class: tools.Read}),
		tools.Func("other", "Returns another rate.", rateOf, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func isSeven(_ context.Context, _ evaluate.Example[question, reply], p *module.Prediction[reply]) (module.Score, error) {
	if p.Output.Reply == "7" {
		return module.Score{Value: 1}, nil
	}
	return module.Score{Feedback: "It is not the rate."}, nil
}

// GEPA writes notes about tools only if it is asked to, and only about tools that a failed run has called.
func TestGEPADescribesTools(t *testing.T) {
	t.Parallel()
	for _, notes := range []bool{false, true} {
		reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			switch {
			case !strings.Contains(r.Last(), "a note about one of the tools"):
				return llmtest.Reply{Text: "<instructions>Do your best.</instructions>"}, nil
			case !notes || strings.Contains(r.Last(), "the tools, other"):
				t.Error("asked for a note:", r.Last())
			}
			return llmtest.Reply{Text: "<instructions>A currency has three letters.</instructions>"}, nil
		})
		m := module.NewReAct(signature.Must(signature.New[question, reply]("Answer.")), caller(), rateTools(t), nil)
		r, err := Run(t.Context(), m, GEPA{Iterations: 6, ToolNotes: notes},
			Data[question, reply]{questions(6), questions(6)}, isSeven, &Options{Reflection: reflection})
		if err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "A currency has three letters."}[notes]
		if got := r.Best.states["Predictor"].ToolDescriptions["rate"]; got != want || r.Best.Score == 1 != notes {
			t.Errorf("notes %v: got the score %v and the note %q", notes, r.Best.Score, got)
		}
	}
}

// The prompts of GEPA and MIPROv2 show what an agent knows and does: the types, the tools, the calls with their
// arguments and results even if the program prints nothing, and the answer.
func TestPromptsShowWhatAgentsDo(t *testing.T) {
	t.Parallel()
	const program = "```js\nconst r = await rate({currency: 'EUR'}).catch(() => '0'); submit({reply: r + question})\n```"
	for _, by := range []Optimizer{GEPA{Iterations: 1}, MIPROv2{Instructions: 2, DemoSets: -1, Trials: 1}} {
		var asked strings.Builder
		reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			asked.WriteString(r.Last())
			return llmtest.Reply{Text: "<instructions>Do your best.</instructions>"}, nil
		})
		model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: program}, nil
		})
		box, err := sandbox.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { box.Close() })
		m := module.NewCodeAct(signature.Must(signature.New[question, reply]("Answer.")), model, box, rateTools(t), nil)
		_, err = Run(t.Context(), m, by, Data[question, reply]{questions(3), questions(3)}, isSeven,
			&Options{Reflection: reflection})
		if err != nil {
			t.Fatal(err)
		}
		wanted := []string{"question: string", "reply: string", "Returns a rate.", "currency: string"}
		if (by == GEPA{Iterations: 1}) {
			wanted = append(wanted, `rate({"currency":"EUR"}) → "7"`,
				"<answer-of-the-program>\n{\"reply\":\"7question 1\"}", "It is not the rate.")
		}
		for _, want := range wanted {
			if !strings.Contains(asked.String(), want) {
				t.Errorf("%T: the prompts lack %s:\n%s", by, want, asked.String())
			}
		}
	}
}

package optimize

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
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

func TestGEPADescribesTools(t *testing.T) {
	t.Parallel()
	set, err := tools.NewSet(t.Context(),
		tools.Func("rate", "Returns a rate.", rateOf, &tools.Hints{Class: tools.Read}))
	if err != nil {
		t.Fatal(err)
	}
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Last(), "a note about one of the tools") && strings.Contains(r.Last(), "unknown currency") {
			return llmtest.Reply{Text: "<instructions>A currency has three letters.</instructions>"}, nil
		}
		return llmtest.Reply{Text: "<instructions>Do your best.</instructions>"}, nil
	})
	metric := func(
		_ context.Context, _ evaluate.Example[question, reply], p *module.Prediction[reply],
	) (module.Score, error) {
		if p.Output.Reply == "7" {
			return module.Score{Value: 1}, nil
		}
		return module.Score{Feedback: "It is not the rate."}, nil
	}
	m := module.NewReAct(signature.Must(signature.New[question, reply]("Answer.")), caller(), set, nil)
	r, err := Run(t.Context(), m, GEPA{Iterations: 6}, Data[question, reply]{questions(6), questions(6)}, metric,
		&Options{Reflection: reflection})
	if err != nil {
		t.Fatal(err)
	}
	var note string
	for _, state := range r.Best.states {
		note += state.ToolDescriptions["rate"]
	}
	if r.Best.Score != 1 || note != "A currency has three letters." {
		t.Errorf("got the score %v and the note %q", r.Best.Score, note)
	}
}

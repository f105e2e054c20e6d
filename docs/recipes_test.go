package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/policy"
)

type asked struct {
	Question string `json:"question"`
}

type told struct {
	Answer string `json:"answer"`
}

// answerIn answers one question of a conversation that is kept in a file.
func answerIn(ctx context.Context, file string, chat *module.Chat[asked, told], question string) (string, error) {
	record, err := os.ReadFile(file)
	if err == nil {
		err = chat.Restore(ctx, record)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	pred, err := chat.Run(ctx, asked{question})
	if err != nil {
		return "", err
	}
	if record, err = chat.Record(ctx); err != nil {
		return "", err
	}
	return pred.Output.Answer, os.WriteFile(file, record, 0o600)
}

// TestConversation is the code of recipes.md: the second question comes to another process, which still has the
// variables of the first.
func TestConversation(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "chat.json")
	sig := signature.Must(signature.New[asked, told]("Answer questions about numbers."))
	for _, turn := range []struct{ question, program, want string }{
		{"What is 6 times 7?", "const product = 6 * 7;\nsubmit({answer: String(product)});", "42"},
		{"And half of it?", "submit({answer: String(product / 2)});", "21"},
	} {
		box := sandboxOf(t)
		chat := module.NewChat(sig, llmtest.New("```js\n"+turn.program+"\n```"), box, nil, nil)
		answer, err := answerIn(t.Context(), file, chat, turn.question)
		if err != nil || answer != turn.want {
			t.Errorf("%s: %q, %v", turn.question, answer, err)
		}
	}
}

func sandboxOf(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

type clause struct {
	Clause string `json:"clause"`
}

type verdict struct {
	Risk   int    `json:"risk" jsonschema:"minimum=0,maximum=10"`
	Reason string `json:"reason"`
}

// newReviewer returns an agent that asks two specialists, which are modules too.
func newReviewer(ctx context.Context, model llms.Model, box *sandbox.Sandbox) (module.Module[asked, told], error) {
	law := signature.Must(signature.New[clause, verdict]("How risky is this clause, legally?"))
	money := signature.Must(signature.New[clause, verdict]("How risky is this clause, financially?"))
	thinks := &tools.Hints{Class: tools.Read} // a specialist has no effects
	set, err := tools.NewSet(ctx,
		module.Tool("lawyer", "Judges a clause legally.", module.NewChainOfThought(law, model, nil), thinks),
		module.Tool("accountant", "Judges a clause financially.", module.NewPredict(money, model, nil), thinks))
	if err != nil {
		return nil, err
	}
	sig := signature.Must(signature.New[asked, told]("Review the contract. Ask the specialists about each clause."))
	return module.NewCodeAct(sig, model, box, set, nil), nil
}

// TestSpecialists is the code of recipes.md about agents as tools.
func TestSpecialists(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		switch prompt := fmt.Sprint(r.Messages); {
		case strings.Contains(prompt, "legally?"):
			return llmtest.Reply{Text: `{"reasoning": "…", "risk": 7, "reason": "unlimited liability"}`}, nil
		case strings.Contains(prompt, "financially?"):
			return llmtest.Reply{Text: `{"risk": 2, "reason": "a small sum"}`}, nil
		}
		return llmtest.Reply{Text: "```js\nconst clause = question.split(': ')[1];\n" +
			"const all = await Promise.all([lawyer({clause}), accountant({clause})]);\n" +
			"submit({answer: all.map(v => `${v.risk}: ${v.reason}`).join(', ')});\n```"}, nil
	})
	reviewer, err := newReviewer(t.Context(), model, sandboxOf(t))
	if err != nil {
		t.Fatal(err)
	}
	pred, err := reviewer.Run(t.Context(), asked{"Review: The supplier is liable for all damage."})
	if err != nil {
		t.Fatal(pred.TrajectoryOf(err))
	}
	if want := "7: unlimited liability, 2: a small sum"; pred.Output.Answer != want || len(pred.Trajectory.Runs) != 2 {
		t.Errorf("got %q with %d runs", pred.Output.Answer, len(pred.Trajectory.Runs))
	}
}

// reviewWith runs an agent. A person is asked about the destructive calls of the agent and of its specialists.
func reviewWith(
	ctx context.Context, reviewer module.Module[asked, told], in asked, ask policy.Approver,
) (*module.Prediction[told], error) {
	ctx = tools.WithPolicies(ctx, policy.If(policy.Destructive(), policy.Approve(ask)))
	return reviewer.Run(ctx, in)
}

// TestApprovalOfSpecialists is the code of recipes.md about the calls of specialists.
func TestApprovalOfSpecialists(t *testing.T) {
	t.Parallel()
	agent := func(program string, source tools.Source) module.Module[asked, told] {
		set, err := tools.NewSet(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		sig := signature.Must(signature.New[asked, told]("Do it."))
		model := llmtest.New("```js\n" + program + "\n```")
		return module.NewCodeAct(sig, model, sandboxOf(t), set.With(policy.AllowDestructive), nil)
	}
	billing := agent(`submit(await refund({question: "A-1"}))`, tools.Func("refund", "",
		func(context.Context, asked) (told, error) { return told{"refunded"}, nil }, &tools.Hints{Destructive: true}))
	desk := agent(`submit(await billing({question: "Refund A-1."}))`, module.Tool("billing", "", billing, nil))
	wants := ""
	pred, err := reviewWith(t.Context(), desk, asked{"Refund A-1."},
		func(_ context.Context, r policy.Request) (policy.Decision, error) {
			wants, _, _ = strings.Cut(r.String(), "\n")
			return policy.Decision{Approved: true}, nil
		})
	if err != nil || pred.Output.Answer != "refunded" || wants != "refund (unclassified, destructive), wanted by billing" {
		t.Errorf("got %v, %v, asked about %q", pred, err, wants)
	}
}

// router answers easy questions with one request, and lets an expert answer the others.
type router struct {
	Judge  *module.Predict[asked, level]
	Easy   *module.Predict[asked, told]
	Expert module.Module[asked, told]
}

type level struct {
	Hard bool `json:"hard"`
}

func (t *router) Run(ctx context.Context, in asked) (*module.Prediction[told], error) {
	judged, err := t.Judge.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	if judged.Output.Hard {
		return t.Expert.Run(ctx, in)
	}
	return t.Easy.Run(ctx, in)
}

// TestRouter is the code of recipes.md about a module of one's own.
func TestRouter(t *testing.T) {
	t.Parallel()
	judge := signature.Must(signature.New[asked, level]("Is the question hard?"))
	answer := signature.Must(signature.New[asked, told]("Answer the question."))
	model := func(reply string) llms.Model { return llmtest.New(reply) }
	for hard, want := range map[bool]string{false: "easy", true: "expert"} {
		m := &router{
			Judge:  module.NewPredict(judge, model(fmt.Sprintf(`{"hard": %v}`, hard)), nil),
			Easy:   module.NewPredict(answer, model(`{"answer": "easy"}`), nil),
			Expert: module.NewPredict(answer, model(`{"answer": "expert"}`), nil),
		}
		pred, err := module.Start(t.Context(), m, asked{"Why?"}).Result()
		if err != nil {
			t.Fatal(err)
		}
		if pred.Output.Answer != want {
			t.Errorf("hard %v: %q", hard, pred.Output.Answer)
		}
		parts := 0
		for range module.Predictors(m) {
			parts++
		}
		if parts != 3 {
			t.Errorf("%d predictors", parts)
		}
	}
}

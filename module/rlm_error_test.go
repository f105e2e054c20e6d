package module_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// The error of a provider reaches the host, but neither the program nor a model.
func TestRLMHidesProviderErrors(t *testing.T) {
	t.Parallel()
	const secret = "Post https://api.example.com/v1?key=sk-SECRET: dial tcp"
	for kind, want := range map[models.Kind]string{
		models.KindRateLimited:    "failed: the model is rate limited; make fewer calls at the same time, or wait",
		models.KindTransient:      "failed: the model cannot be reached at the moment",
		models.KindContextTooLong: "failed: the prompt is too long for the model; split it",
		models.KindRefused:        "failed: the model refuses to answer this prompt",
		models.KindAuth:           "failed: the model's provider denies access for any prompt",
		models.KindInvalid:        "failed: the model's provider rejects this request",
		models.KindCancelled:      "failed: the request was cancelled",
		models.KindOverBudget:     "budget: the budget of the model is used up; go on without further calls",
		models.KindUnknown:        "failed: the model failed; the reason is not shown",
	} {
		var noted error
		sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{}, &models.Error{Kind: kind, Err: errors.New(secret)}
		})
		m, model := rlm(
			t,
			inProcess(t),
			sub,
			&module.RLMOptions{Options: module.Options{OnEvent: func(_ context.Context, e event.Event) {
				if c, ok := e.(event.ToolCallEnd); ok {
					noted = c.Call.Error
				}
			}}},
			`try { await llm("x") } catch (e) { console.log(e.kind + ": " + e.message) }`,
			`await llm("x")`,
			`submit({total: 1})`,
		)
		pred := mustRun(t, m, book{"x"})
		if got := pred.Trajectory.Steps[0].Outcome.Stdout.Text; got != want+"\n" {
			t.Errorf("%s: got %s, want %s", kind, got, want)
		}
		for _, r := range model.Requests() {
			if strings.Contains(r.Text(), "SECRET") {
				t.Errorf("%s: the model was told %s", kind, r.Last())
			}
		}
		if failure := (*models.Error)(nil); !errors.As(noted, &failure) || failure.Err.Error() != secret {
			t.Errorf("%s: the host got %v", kind, noted)
		}
	}
}

// The same applies to nested runs.
func TestRLMNestedHidesProviderErrors(t *testing.T) {
	t.Parallel()
	sub := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{}, &models.Error{Kind: models.KindAuth, Err: errors.New("sk-SECRET")}
	})
	m, _ := rlm(t, inProcess(t), sub, &module.RLMOptions{Depth: 2},
		`try { await rlm({prompt: "x", context: 1}) } catch (e) { console.log(e.message) } submit({total: 1})`)
	pred := mustRun(t, m, book{"x"})
	want := "the task was not worked out: the model's provider denies access for any prompt\n"
	if got := pred.Trajectory.Steps[0].Outcome.Stdout.Text; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The program gets the reply of the model unchanged, without the thinking before it.
func TestRLMVerbatim(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"Ann\n</think>\nBob":                "Ann\n</think>\nBob",
		"<think>\nx\n</think>\nBob":         "Bob",
		"The tag is:\n<think>":              "The tag is:\n<think>",
		"Ann\n<think>\nBob\n</think>\nCarl": "Ann\n<think>\nBob\n</think>\nCarl",
		" a\r\nb\n":                         "a\r\nb",
	} {
		m, _ := rlm(
			t,
			inProcess(t),
			llmtest.New(reply),
			nil,
			`console.log(JSON.stringify(await llm("x"))); submit({total: 1})`,
		)
		pred := mustRun(t, m, book{"x"})
		if got := pred.Trajectory.Steps[0].Outcome.Stdout.Text; got != strings.ReplaceAll(
			fmt.Sprintf("%q\n", want),
			`\x`,
			`\u00`,
		) {
			t.Errorf("%q: got %s", reply, got)
		}
	}
}

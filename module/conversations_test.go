package module_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

// TestConversations runs every scenario of testdata/conversations and compares all prompts and the
// result.
//
// The comment of an archive describes it, and its line "module: name" names the entry of
// combinations to run. The sections are those of [TestTranscripts].
func TestConversations(t *testing.T) {
	t.Parallel()
	eachArchive(t, "conversations", func(t *testing.T, s *setup) string {
		run, ok := combinations[s.module]
		if !ok {
			t.Fatalf("unknown combination %q", s.module)
		}
		result := run(t, s.model)
		return asked(s.model) + result
	})
}

// compareSection compares the transcript with the section "transcript".
func compareSection(t *testing.T, file string, archive *txtar.Archive, got string) {
	t.Helper()
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "transcript" })
	if *update {
		if i < 0 {
			archive.Files = append(archive.Files, txtar.File{Name: "transcript"})
			i = len(archive.Files) - 1
		}
		archive.Files[i].Data = []byte(got)
		if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if i < 0 || string(archive.Files[i].Data) != got {
		t.Errorf("the transcript differs; run with -update and review the difference. Got:\n%s", got)
	}
}

// asked returns all prompts. Repeated system prompts are omitted.
func asked(model *llmtest.Model) string {
	var b strings.Builder
	seen := map[string]int{}
	for _, r := range model.Requests() {
		system := llmtest.Request{Messages: r.Messages[:1]}.Text()
		fmt.Fprintf(&b, "=== request %d ===\n", r.N)
		if before, ok := seen[system]; ok {
			fmt.Fprintf(&b, "(the system prompt of request %d)\n", before)
		} else {
			seen[system] = r.N
			b.WriteString(system)
		}
		b.WriteString(llmtest.Request{Messages: r.Messages[1:]}.Text())
	}
	return b.String()
}

// combinations are modules of modules, each with its model.
var combinations = map[string]func(*testing.T, *llmtest.Model) string{
	"refine by feedback": func(t *testing.T, model *llmtest.Model) string {
		m := module.NewRefine(module.NewPredict(judging, model, nil), 3, sureOf("%.0f%% sure is too little"), 0.8, nil)
		return runCombined(t, m)
	},
	"refine by advice": func(t *testing.T, model *llmtest.Model) string {
		m := module.NewRefine(twoJudges(model), 3, sureOf(""), 0.8,
			&module.AttemptOptions{Criterion: "The judgement is sure.\nWhat is not sure is of no use."})
		return runCombined(t, m)
	},
	"refine strictly": func(t *testing.T, model *llmtest.Model) string {
		m := module.NewRefine(
			module.NewPredict(judging, model, nil),
			3,
			sureOf(""),
			0.8,
			&module.AttemptOptions{FailCount: -1},
		)
		return runCombined(t, m)
	},
	"multichain": func(t *testing.T, model *llmtest.Model) string {
		// One worker, because the replies have an order.
		m := module.NewMultiChainComparison(judging, module.NewChainOfThought(judging, model, nil), 1, model, nil)
		return runCombined(t, m)
	},
}

var (
	judging = signature.Must(signature.New[review, verdict]("Judge the review."))
	broken  = review{"Broke twice."}
)

// sureOf returns a reward for sure verdicts, with feedback if format is not empty.
func sureOf(format string) module.Reward[review, verdict] {
	return func(_ context.Context, _ review, pred *module.Prediction[verdict]) (module.Score, error) {
		j := module.Score{Value: pred.Output.Score}
		if format != "" {
			j.Feedback = fmt.Sprintf(format, 100*j.Value)
		}
		return j, nil
	}
}

// judges is a user's module: the first part shortens a text, and the second judges it.
type judges struct {
	Shorten *module.Predict[review, note]
	Judge   *module.Predict[review, verdict]
}

func twoJudges(model *llmtest.Model) *judges {
	short := signature.Must(signature.New[review, note]("Shorten the review.\nKeep what is bad."))
	return &judges{module.NewPredict(short, model, nil), module.NewPredict(judging, model, nil)}
}

func (j *judges) Run(ctx context.Context, in review) (*module.Prediction[verdict], error) {
	short, err := j.Shorten.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	pred, err := j.Judge.Run(ctx, review{short.Output.Note})
	if err != nil {
		return nil, err
	}
	pred.Trajectory.Runs = append(pred.Trajectory.Runs, short.Trajectory)
	return pred, nil
}

func runCombined(t *testing.T, m module.Module[review, verdict]) string {
	pred, err := m.Run(t.Context(), broken)
	return showCombined(t, pred, err)
}

// showCombined returns the answer or the error of a run, and the attempts.
func showCombined(t *testing.T, pred *module.Prediction[verdict], err error) string {
	t.Helper()
	var b strings.Builder
	var part *module.IncompleteError
	switch {
	case err == nil:
		answer, err := json.Marshal(pred.Output)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "=== prediction ===\n%s\n", answer)
		showAttempts(&b, pred.Trajectory)
	case errors.As(err, &part) && pred == nil:
		fmt.Fprintf(&b, "=== error ===\n%v\n", err)
		showAttempts(&b, part.Trajectory)
	default:
		t.Errorf("got %v and %v", pred, err)
	}
	return b.String()
}

func showAttempts(b *strings.Builder, t module.Trajectory) {
	if reasoning := t.Reasoning(); reasoning != "" {
		fmt.Fprintf(b, "reasoning: %s\n", reasoning)
	}
	fmt.Fprintf(b, "steps: %d, attempts: %d, calls: %d\n", len(t.Steps), len(t.Runs), t.Usage().Calls)
}

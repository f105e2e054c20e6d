package optimize_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/signature"
)

type mail struct {
	Body string `json:"body"`
}

type team struct {
	Team string `json:"team"`
}

var sorting = signature.Must(signature.New[mail, team]("Which team answers the mail?"))

// mailsFrom returns examples: mails about money go to accounts, and others to support.
func mailsFrom(from, to int) (set []evaluate.Example[mail, team]) {
	for i := from; i < to; i++ {
		e := evaluate.Example[mail, team]{ID: fmt.Sprint(i)}
		e.In, e.Want = mail{fmt.Sprintf("Mail %d: I cannot log in.", i)}, team{"support"}
		if i%2 > 0 {
			e.In, e.Want = mail{fmt.Sprintf("Mail %d: where is my refund?", i)}, team{"accounts"}
		}
		set = append(set, e)
	}
	return set
}

var mailSets = optimize.Data[mail, team]{Train: mailsFrom(0, 20), Val: mailsFrom(100, 120)}

// clerk is a model that knows a team only if a demo shows it.
func clerk() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		for name, word := range map[string]string{"accounts": "refund", "support": "log in"} {
			if strings.Contains(r.Last(), word) && strings.Contains(r.Text(), "\n"+name+"\n") {
				return llmtest.Reply{Text: "[[ ## team ## ]]\n" + name + "\n[[ ## completed ## ]]"}, nil
			}
		}
		return llmtest.Reply{Text: "[[ ## team ## ]]\nsales\n[[ ## completed ## ]]"}, nil
	})
}

func rightTeam(
	_ context.Context, e evaluate.Example[mail, team], got *module.Prediction[team],
) (module.Score, error) {
	if got.Output == e.Want {
		return module.Score{Value: 1}, nil
	}
	return module.Score{Feedback: "The team is " + e.Want.Team + "."}, nil
}

// improve runs an optimizer on a module whose model knows no team.
func improve(by optimize.Optimizer, o *optimize.Options) {
	m := module.NewPredict(sorting, clerk(), nil)
	r, err := optimize.Run(context.Background(), m, by, mailSets, rightTeam, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("before:", r.Candidates[0].Score)
	fmt.Println("after:", r.Best.Score, "with", len(r.Module.Predictor.Demos), "demos")
	pred, err := r.Module.Run(context.Background(), mail{"My refund has not arrived."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pred.Output.Team)
}

func ExampleLabeledFewShot() {
	improve(optimize.LabeledFewShot{K: 6}, nil)
	// Output:
	// before: 0
	// after: 1 with 6 demos
	// accounts
}

func ExampleBootstrapFewShot() {
	teacher := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		name := "support"
		if strings.Contains(r.Last(), "refund") {
			name = "accounts"
		}
		return llmtest.Reply{Text: "[[ ## team ## ]]\n" + name + "\n[[ ## completed ## ]]"}, nil
	})
	improve(optimize.BootstrapFewShot{MaxBootstrapped: 4, MaxLabeled: -1}, &optimize.Options{Teacher: teacher})
	// Output:
	// before: 0
	// after: 1 with 4 demos
	// accounts
}

func ExampleBootstrapRandomSearch() {
	improve(optimize.BootstrapRandomSearch{
		BootstrapFewShot: optimize.BootstrapFewShot{MaxLabeled: 2}, Candidates: 8,
	}, &optimize.Options{Seed: 1, Budget: optimize.Budget{StudentCalls: 400}})
	// Output:
	// before: 0
	// after: 1 with 2 demos
	// accounts
}

func ExampleKNNFewShot() {
	improve(optimize.KNNFewShot{K: 2}, nil)
	// Output:
	// before: 0
	// after: 1 with 20 demos
	// accounts
}

func ExampleEnsemble() {
	m := module.NewPredict(sorting, clerk(), nil)
	r, err := optimize.Run(context.Background(), m, optimize.LabeledFewShot{K: 6}, mailSets, rightTeam, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	ensemble := optimize.NewEnsemble(r.Top(2))
	ensemble.Vote = func(answers []module.Result[team]) (*module.Prediction[team], error) {
		return module.Majority(answers, func(t team) any { return t.Team })
	}
	pred, err := ensemble.Run(context.Background(), mail{"My refund has not arrived."})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pred.Output.Team, "was the answer of", len(pred.Trajectory.Runs), "modules")
	// Output: accounts was the answer of 2 modules
}

func ExampleWriteChats() {
	m := module.NewPredict(sorting, llmtest.New("[[ ## team ## ]]\naccounts\n[[ ## completed ## ]]"), nil)
	report, err := evaluate.Evaluate(context.Background(), m, mailSets.Train[1:2], rightTeam, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file strings.Builder // usually an *os.File
	n, err := optimize.WriteChats(&file, optimize.Good(report, 1))
	fmt.Println(n, err, strings.HasPrefix(file.String(), `{"messages":[{"role":"system","content":"Which team`))
	// Output: 1 <nil> true
}

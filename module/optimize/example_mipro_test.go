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

func ExampleMIPROv2() {
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if !strings.Contains(r.Text(), "<instructions>") { // it is asked what the examples have in common
			return llmtest.Reply{Text: "The mail about invoices has the topic billing."}, nil
		}
		return llmtest.Reply{Text: "<instructions>Sort the mail into billing and other.</instructions>"}, nil
	})
	metric := func(
		_ context.Context, e evaluate.Example[Mail, Topic], got *module.Prediction[Topic],
	) (module.Score, error) {
		if got.Output == e.Want {
			return module.Score{Value: 1}, nil
		}
		return module.Score{}, nil
	}
	sig := signature.Must(signature.New[Mail, Topic]("Sort the mail."))
	result, err := optimize.Run(context.Background(), module.NewPredict(sig, sorter, nil), optimize.MIPROv2{},
		optimize.Data[Mail, Topic]{Train: mails("Ada"), Val: mails("Grace")}, metric,
		&optimize.Options{Reflection: reflection, Budget: optimize.Budget{StudentCalls: 300}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Candidates[0].Score, "before,", result.Best.Score, "after")
	fmt.Println(len(result.Module.Predictor.Demos), "demos")
	// Output:
	// 0.5 before, 1 after
	// 6 demos
}

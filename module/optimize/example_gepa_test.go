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

type Mail struct {
	Text string `json:"text"`
}

type Topic struct {
	Topic string `json:"topic"`
}

// sorter stands in for a model. It sorts mail about invoices right if its prompt says that invoices are billing, or
// shows it.
var sorter = llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
	topic := "other"
	if strings.Contains(r.Last(), "invoice") && strings.Contains(r.Text(), "billing") {
		topic = "billing"
	}
	return llmtest.Reply{Text: "[[ ## topic ## ]]\n" + topic + "\n[[ ## completed ## ]]"}, nil
})

func mails(name string) []evaluate.Example[Mail, Topic] {
	var all []evaluate.Example[Mail, Topic]
	for i := range 20 {
		mail, topic := Mail{fmt.Sprintf("%s: where is my invoice %d?", name, i)}, Topic{"billing"}
		if i%2 == 0 {
			mail, topic = Mail{fmt.Sprintf("%s: greetings number %d", name, i)}, Topic{"other"}
		}
		all = append(all, evaluate.Example[Mail, Topic]{In: mail, Want: topic})
	}
	return all
}

func ExampleGEPA() {
	reflection := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		text := "Sort the mail."
		if strings.Contains(r.Text(), "Mail about invoices is billing") { // it was told in the feedback
			text += " Mail about invoices is billing."
		}
		return llmtest.Reply{Text: "<instructions>" + text + "</instructions>"}, nil
	})
	metric := func(
		_ context.Context, e evaluate.Example[Mail, Topic], got *module.Prediction[Topic],
	) (module.Score, error) {
		if got.Output == e.Want {
			return module.Score{Value: 1}, nil
		}
		return module.Score{Feedback: "Mail about invoices is billing."}, nil
	}
	sig := signature.Must(signature.New[Mail, Topic]("Sort the mail."))
	result, err := optimize.Run(context.Background(), module.NewPredict(sig, sorter, nil), optimize.GEPA{},
		optimize.Data[Mail, Topic]{Train: mails("Ada"), Val: mails("Grace")}, metric,
		&optimize.Options{Reflection: reflection, Budget: optimize.Budget{StudentCalls: 200}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Candidates[0].Score, "before,", result.Best.Score, "after")
	fmt.Println(result.Module.Predictor.Spec.Instructions())
	// Output:
	// 0.5 before, 1 after
	// Sort the mail. Mail about invoices is billing.
}

package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
)

func ExampleWrite() {
	type question struct {
		Text string `json:"question"`
	}
	type answer struct {
		Text string `json:"answer"`
	}
	sig := signature.Must(signature.New[question, answer]("Answer in a word."))
	in := question{"What is the capital of France?"}
	model := llmtest.New("[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]")
	pred, err := module.NewPredict(sig, model, nil).Run(context.Background(), in)
	if err != nil {
		log.Fatal(err)
	}
	var page bytes.Buffer // usually a file
	if err := report.Write(&page, pred.Trajectory, &report.Options{Title: "Capitals", Inputs: in}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Contains(page.Bytes(), []byte("<title>Capitals</title>")))
	// Output: true
}

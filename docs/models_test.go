package docs_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/signature"
)

type mail struct {
	Text string `json:"text"`
}

type triaged struct {
	Answer string   `json:"answer"`
	Tags   []string `json:"tags"`
	Due    string   `json:"due,omitempty"`
}

var triage = signature.Must(signature.New[mail, triaged]("Answer the mail and tag it."))

// Example_showField prints a field while the model writes it.
func Example_showField() {
	server := httptest.NewServer(stub.OpenAI(nil, stub.Reply{Text: `{"answer":"It is on its way.","tags":["order"],"due":null}`}))
	defer server.Close()
	model, err := models.Open("openai:gpt-5.1", &models.OpenOptions{BaseURL: server.URL, Key: "test-key"})
	if err != nil {
		panic(err)
	}

	stream := module.Start(context.Background(), module.NewPredict(triage, model, nil), mail{"Where is my order?"})
	for e, err := range stream.Events() {
		if err != nil {
			panic(err)
		}
		switch e := e.(type) {
		case event.TextDelta:
			if e.Field == "answer" {
				fmt.Print(e.Text)
			}
		case event.ReplyRejected:
			fmt.Println("\n(again)") // the next reply starts over
		}
	}
	pred, err := stream.Result()
	if err != nil {
		panic(err)
	}
	fmt.Printf("\n%+v\n", pred.Output)
	// Output:
	// It is on its way.
	// {Answer:It is on its way. Tags:[order] Due:}
}

// Example_modelCalls prints each model call, and the usage of each model.
func Example_modelCalls() {
	server := httptest.NewServer(stub.OpenAI(nil, stub.Reply{Text: `{"answer":"It is on its way.","tags":[],"due":null}`}))
	defer server.Close()
	model, err := models.Open("openai:gpt-5.1", &models.OpenOptions{BaseURL: server.URL, Key: "test-key"})
	if err != nil {
		panic(err)
	}

	ctx := module.Observe(context.Background(), func(_ context.Context, e event.Event) {
		if e, ok := e.(event.ModelResponse); ok {
			fmt.Println(e.Module, e.Model, e.FinishReason, e.Usage, e.Duration < time.Minute, e.Err)
		}
	})
	pred, err := module.NewPredict(triage, model, nil).Run(ctx, mail{"Where is my order?"})
	if err != nil {
		panic(err)
	}
	for name, used := range pred.Trajectory.UsageByModel() {
		fmt.Println(name, used.InputTokens, used.OutputTokens)
	}
	first := pred.Trajectory.Steps[0]
	fmt.Println(len(first.Sent()) > 0, first.Model) // what was sent to the model, and its name

	// Output:
	// Predict gpt-5.1 stop 1 call of the model, 100 tokens in, 20 out true <nil>
	// gpt-5.1 100 20
	// true gpt-5.1
}

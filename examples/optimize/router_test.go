package main

import (
	"os"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/signature"
)

// This code is shown in docs/optimize.md.

type ticket struct {
	Text string `json:"ticket"`
}

type route struct {
	Team string `json:"team"`
}

var routing = signature.Must(signature.New[ticket, route]("Choose the team for the ticket."))

// newRouter returns the module that sorts tickets, with what the search found.
func newRouter(model llms.Model, program string) (*module.Predict[ticket, route], error) {
	f, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	router := module.NewPredict(routing, model, nil)
	return router, module.Load(f, router)
}

func TestRouter(t *testing.T) {
	router, err := newRouter(student(), "data/program.json")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := evaluate.ReadFile("data/test.jsonl", routing, nil)
	if err != nil {
		t.Fatal(err)
	}
	report, err := evaluate.Evaluate(t.Context(), router, tests, evaluate.ExactMatch[ticket, route](), nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Errors > 0 || report.Score.Mean < 0.8 {
		t.Errorf("the router got worse:\n%s", report)
	}
}

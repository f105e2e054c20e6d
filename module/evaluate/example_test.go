package evaluate_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
)

var countries = []evaluate.Example[Question, Answer]{
	{ID: "no", In: Question{"Norway"}, Want: Answer{"Oslo"}},
	{ID: "fr", In: Question{"France"}, Want: Answer{"Paris"}},
	{ID: "de", In: Question{"Germany"}, Want: Answer{"Berlin"}, Note: "The capital moved in 1990."},
}

// An evaluation with a scripted model. Latency is left out here, since it differs from run to run.
func ExampleEvaluate() {
	model := capitals(map[string]string{"Norway": "Oslo", "France": "paris", "Germany": "Bonn"})
	m := module.NewPredict(asking, model, nil)
	report, err := evaluate.Evaluate(context.Background(), m, countries, evaluate.TextMatch[Question, Answer](), nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Score, "with", report.Errors, "errors and", report.Usage.Total().Calls, "calls of the model")
	for _, r := range report.Results {
		fmt.Printf("%s: %v %q\n", r.ID, r.Score.Value, r.Score.Feedback)
	}
	// Output:
	// 0.667 [0.044, 0.989] with 0 errors and 3 calls of the model
	// no: 1 ""
	// fr: 1 ""
	// de: 0 "capital: expected \"Berlin\", got \"Bonn\".\nThe capital moved in 1990."
}

// Two models on the same examples. With so few examples, the interval is too wide to say which one is better.
func ExampleCompare() {
	var reports []*evaluate.Report
	for _, known := range []map[string]string{
		{"Norway": "Oslo", "France": "Paris", "Germany": "Bonn"},
		{"Norway": "Bergen", "France": "Paris", "Germany": "Berlin"},
	} {
		m := module.NewPredict(asking, capitals(known), nil)
		r, err := evaluate.Evaluate(context.Background(), m, countries, evaluate.ExactMatch[Question, Answer](), nil)
		if err != nil {
			log.Fatal(err)
		}
		reports = append(reports, r)
	}
	comparison, err := evaluate.Compare(reports[0], reports[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(comparison)
	// Output:
	// A      0.667 [0.044, 0.989]
	// B      0.667 [0.044, 0.989]
	// B - A  +0.000 [-0.941, +0.941]
	//        1 better, 1 worse, 1 equal; the difference may be chance
	//
	// changed  A      B      expected              answer of A         answer of B
	// no       1.000  0.000  {"capital":"Oslo"}    {"capital":"Oslo"}  {"capital":"Bergen"}
	// de       0.000  1.000  {"capital":"Berlin"}  {"capital":"Bonn"}  {"capital":"Berlin"}
}

// An agent that can refund orders is evaluated without a refund. The fake says what a refund would have returned.
func ExampleFakes() {
	ctx := context.Background()
	refund := tools.Func("refund", "Refunds an order.",
		func(context.Context, Complaint) (string, error) { panic("money is gone") }, &tools.Hints{Class: tools.Effect})
	set, err := tools.NewSet(ctx, refund)
	if err != nil {
		log.Fatal(err)
	}
	model := llmtest.New(
		`{"thought": "Refund it.", "tool": "refund", "args": {"order": "a1"}}`,
		`{"thought": "Done.", "tool": "submit", "args": {"said": "You get a refund."}}`)
	agent := module.NewReAct(settling, model, set, nil)
	metric := evaluate.Contains[Complaint, Settled]()

	_, err = evaluate.Evaluate(ctx, agent, complaints[:1], metric, nil)
	for part := range strings.SplitSeq(err.Error(), "; ") {
		fmt.Println(part)
	}

	fakes := map[string]tools.Handler{
		"refund": tools.Func("refund", "", func(_ context.Context, c Complaint) (string, error) {
			return "refunded " + c.Order, nil
		}, nil).Handler,
	}
	report, err := evaluate.Evaluate(ctx, agent, complaints[:1], metric,
		&evaluate.Options{Policy: evaluate.Fakes(fakes)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Score, string(report.Results[0].Got))
	for call := range report.Results[0].Trajectory.AllCalls() {
		fmt.Println(call.Tool, string(call.Result))
	}
	// Output:
	// evaluate: the module has tools with effects: refund
	// set Options.Policy to Fakes, Recorded or Refuse to run it without effects, or, if you evaluate it, to Act to permit them
	// unclassified tools count as tools with effects, so set Hints.Class to tools.Read if a tool only reads
	// 1.000 {"said":"You get a refund."}
	// refund "refunded a1"
}

// A dataset in CSV. Errors name the file, the line, the column and the field.
func ExampleRead() {
	type Review struct {
		Text string `json:"text"`
	}
	type Verdict struct {
		Stars int      `json:"stars" jsonschema:"minimum=1,maximum=5"`
		Tags  []string `json:"tags"`
	}
	sig := signature.Must(signature.New[Review, Verdict]("Judge the review."))
	examples, err := evaluate.Read(strings.NewReader(`id,text,stars,tags,note
a,"Broke twice, sadly.",1,"[""quality""]",Breaking is a matter of quality.
b,Fine.,4,[],
`), "csv", sig, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range examples {
		fmt.Printf("%s: %+v %+v %q\n", e.ID, e.In, e.Want, e.Note)
	}

	_, err = evaluate.Read(strings.NewReader("text,stars,tags\nFine.,four,[]\n"), "csv", sig, nil)
	fmt.Println(err)
	// Output:
	// a: {Text:Broke twice, sadly.} {Stars:1 Tags:[quality]} "Breaking is a matter of quality."
	// b: {Text:Fine.} {Stars:4 Tags:[]} ""
	// evaluate: examples:2:7: field "stars": the value must be an integer, not "four"
}

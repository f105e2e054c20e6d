package module_test

import (
	"context"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/signature"
)

// steady is a model that gives the same reply immediately.
type steady struct{ response *llms.ContentResponse }

func says(text string) steady {
	return steady{&llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: text, StopReason: "stop", GenerationInfo: map[string]any{"PromptTokens": 1, "CompletionTokens": 1},
	}}}}
}

func (m steady) GenerateContent(
	context.Context,
	[]llms.MessageContent,
	...llms.CallOption,
) (*llms.ContentResponse, error) {
	return m.response, nil
}

func (m steady) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return m.response.Choices[0].Content, nil
}

type inContext struct {
	Question string `json:"question"`
	Context  string `json:"context"`
}

type graded struct {
	Answer string `json:"answer"`
	Score  int    `json:"score"  jsonschema:"minimum=0,maximum=100"`
}

var grading = signature.Must(signature.New[inContext, graded]("Answer from the context, and say how sure you are."))

// BenchmarkPredict measures the cost of a prediction without the model. It has two inputs, and two
// outputs: a text and a number.
func BenchmarkPredict(b *testing.B) {
	model := says("[[ ## answer ## ]]\nIn Bergen.\n\n[[ ## score ## ]]\n80\n\n[[ ## completed ## ]]")
	p := module.NewPredict(grading, model, nil)
	in := inContext{"Where does it rain?", "It rains in Bergen, and it rains again."}
	var ours, floor time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := p.Run(b.Context(), in); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := model.GenerateContent(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		ours, floor = ours+middle.Sub(start), floor+time.Since(middle)
	}
	b.ReportMetric(float64((ours-floor).Nanoseconds())/float64(b.N), "ours-ns")
	b.ReportMetric(float64(floor.Nanoseconds())/float64(b.N), "raw-ns")
}

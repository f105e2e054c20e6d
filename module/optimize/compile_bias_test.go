package optimize_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/optimize"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// lottery is a sandbox whose programs are numbers: the program 0.85 answers 85 % of all inputs correctly. The seed and
// the program decide which inputs these are.
type lottery struct{ seed uint64 }

func share(program string) float64 {
	p, _ := strconv.ParseFloat(strings.TrimSpace(program), 64)
	return p
}

func (l lottery) Run(_ context.Context, p sandbox.Program) (*sandbox.Outcome, error) {
	raw, _ := p.Inputs["n"].(json.RawMessage)
	n, err := strconv.ParseUint(string(raw), 10, 64)
	answer, right := n, share(p.Source)
	if rand.New(rand.NewPCG(l.seed<<32|n, math.Float64bits(right))).Float64() >= right {
		answer++
	}
	return &sandbox.Outcome{Submitted: true, Value: fmt.Appendf(nil, `{"m": %d}`, answer)}, err
}

// If the model writes programs that are wrong at random, the one that is accepted has been lucky with the examples that
// chose it, but the reported score is not better than the program.
func TestCompileReportsNoLuck(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing in it is concurrent; the race detector would take half a minute")
	}
	t.Parallel()
	sig := signature.Must(signature.Parse("n: int -> m: int", ""))
	var all []example
	for n := range 60 {
		raw := json.RawMessage(strconv.Itoa(n))
		all = append(all, example{In: values{{Name: "n", JSON: raw}}, Want: values{{Name: "m", JSON: raw}}})
	}
	var chosen, reported, actual, variance, accepted float64
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			program := 0.85
			if strings.Contains(r.Text(), asksForProgram) {
				program = 0.8 + 0.1*random.Float64()
			}
			return llmtest.Reply{Text: fence(fmt.Sprint(program))}, nil
		})
		act := module.NewCodeAct(sig, model, lottery{seed}, nil, nil)
		_, report, err := optimize.Compile(t.Context(), act, all, evaluate.ExactMatch[values, values](),
			&optimize.CompileOptions{Seed: seed, HeldOut: 2.0 / 3})
		if err != nil {
			continue
		}
		try := report.Programs[len(report.Programs)-1]
		right := share(try.Code)
		chosen, reported, actual = chosen+try.Val.Score.Mean, reported+try.Test.Score.Mean, actual+right
		variance, accepted = variance+right*(1-right)/float64(len(try.Test.Results)), accepted+1
	}
	chosen, reported, actual = chosen/accepted, reported/accepted, actual/accepted
	noise := math.Sqrt(variance) / accepted
	if accepted < 30 || chosen-actual < 3*noise || math.Abs(reported-actual) > 2*noise {
		t.Errorf("%v programs: %.3f ± %.3f reported, %.3f on the examples that chose them, %.3f true",
			accepted, reported, noise, chosen, actual)
	}
}

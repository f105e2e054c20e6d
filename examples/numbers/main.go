// Numbers shows ProgramOfThought: the model does not compute. It writes a program that computes the answer from the
// input, so the numbers are exact, and only a sandbox is needed, no tools.
//
//	go run ./examples/numbers
//
// Unless -model names a real model, the model is scripted. Its program really runs.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

//go:embed data/energy.csv
var energy string

type Input struct {
	CSV string `json:"csv"`
}

type Output struct {
	Total   float64 `json:"total" jsonschema:"description=kWh in all months."`
	Median  float64 `json:"median" jsonschema:"description=kWh in a month."`
	Outlier string  `json:"outlier" jsonschema:"description=The month farthest from the median."`
}

func main() { models.Main(run, script) }

func run(ctx context.Context, model llms.Model, w io.Writer) error {
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	sig := signature.Must(signature.New[Input, Output]("Summarize the energy use."))
	pred, err := module.NewProgramOfThought(sig, model, box, nil).Run(ctx, Input{energy})
	if err != nil {
		return err
	}
	out := pred.Output
	fmt.Fprintf(w, "%v\ntotal %g kWh, median %g kWh, outlier %s\n", pred.Trajectory, out.Total, out.Median, out.Outlier)
	return nil
}

const script = "```js\n" + `const rows = csv.trim().split("\n").slice(1).map(line => {
  const [month, kwh] = line.split(",");
  return { month, kwh: Number(kwh) };
});
const sorted = rows.map(r => r.kwh).sort((a, b) => a - b), n = sorted.length;
const median = (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2;
const distance = r => Math.abs(r.kwh - median);
const outlier = rows.reduce((far, r) => distance(r) > distance(far) ? r : far).month;
submit({ total: sorted.reduce((sum, x) => sum + x, 0), median, outlier });
` + "```"

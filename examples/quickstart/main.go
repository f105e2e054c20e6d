// Quickstart shows all parts of Writ in one run: a typed question, an MCP server whose tools are declared to a model, a
// program that the model writes, the check that rejects its first attempt, the sandbox, and a typed answer.
//
//	go run ./examples/quickstart -report report.html
//
// Unless -model names a real model, the model is scripted.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
	"github.com/writ-go/writ/tools/mcptools"
)

// Question is the input.
type Question struct {
	Question string `json:"question"`
	Year     int    `json:"year"`
}

// Findings is the output.
type Findings struct {
	Customers     []Finding `json:"customers" jsonschema:"description=Most refunded first."`
	TotalRefunded float64   `json:"total_refunded" jsonschema:"minimum=0,description=Of these customers together."`
}

// Finding describes one customer.
type Finding struct {
	Name     string  `json:"name"`
	Spent    float64 `json:"spent" jsonschema:"description=In whole currency units as are all amounts."`
	Refunded float64 `json:"refunded"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name := flag.String("model", "", models.Usage+"; without it the replies are scripted")
	page := flag.String("report", "", "a `file` for a report of the run, in HTML")
	flag.Parse()
	if err := run(ctx, *name, *page, show.Writer(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, modelName, page string, w io.Writer) error {
	model, err := openModel(modelName, w)
	if err != nil {
		return err
	}
	servers, err := openShop(ctx)
	if err != nil {
		return err
	}
	defer servers.Close()
	set, err := tools.NewSet(ctx, servers)
	if err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()

	sig := signature.Must(signature.New[Question, Findings]("Answer the question from the shop's data."))
	question := Question{"Which German customers had more than a fifth of what they spent in the year refunded, " +
		"and how much was it altogether?", 2025}
	fmt.Fprintf(w, "\nquestion: %s (year: %d)\n", question.Question, question.Year)
	fmt.Fprintf(w, "\nthe model sees these tools:\n%s\n", show.Indent(declare.Markdown(set, 0), "   │ "))
	fmt.Fprintf(w, "\nand must submit:\n   │ %s\n", sig.Spec().OutputTypeScript())

	pred, err := module.NewCodeAct(sig, model, box, set, &module.Options{OnEvent: show.Progress(w)}).Run(ctx, question)
	if err := show.Report(page, question, pred, err); err != nil {
		return err
	}
	report(w, pred)
	return nil
}

func openModel(name string, w io.Writer) (llms.Model, error) {
	if name == "" {
		fmt.Fprintln(w, "THE MODEL IS SCRIPTED: its replies are part of this example. Everything else is real;")
		fmt.Fprintln(w, "for a real model, add -model openai:…, anthropic:… or ollama:….")
		return llmtest.New(script...), nil
	}
	fmt.Fprintf(w, "model: %s\n", name)
	return models.Open(name, models.Options{Progress: w})
}

// openShop starts the shop's MCP server in this process and connects to it.
func openShop(ctx context.Context) (*mcptools.Servers, error) {
	shop, err := newShop()
	if err != nil {
		return nil, err
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := shop.Connect(ctx, there, nil); err != nil {
		return nil, err
	}
	return mcptools.Connect(ctx, map[string]mcp.Transport{"shop": here}, &mcptools.Options{Trust: []string{"shop"}})
}

func report(w io.Writer, pred *module.Prediction[Findings]) {
	fmt.Fprintln(w, "\nanswer, as a Go value:")
	for _, c := range pred.Output.Customers {
		fmt.Fprintf(w, "   %-18s spent %8.2f, refunded %7.2f (%.0f%%)\n",
			c.Name, c.Spent, c.Refunded, 100*c.Refunded/c.Spent)
	}
	fmt.Fprintf(w, "   %-18s %33.2f\n", "together", pred.Output.TotalRefunded)

	calls := 0
	for _, step := range pred.Trajectory.Steps {
		if step.Outcome != nil {
			calls += len(step.Outcome.Calls)
		}
	}
	fmt.Fprintf(w, "\n%d model round trips for %d tool calls. One call at a time, as tools are usually used,\n"+
		"would have taken %d: one for each call, and one for the answer.\n",
		pred.Trajectory.Usage().Calls, calls, calls+1)
}

// Log shows RLM: the input is a log of 4 MB, far more than a prompt can hold. The model never sees it whole. Its
// programs search it, and ask a model about the parts that they find.
//
//	go run ./examples/log
//
// Unless -model names a real model, the model is scripted. Its programs really run.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/examples/internal/show"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

// Input is a question about a log.
type Input struct {
	Question string `json:"question"`
	Log      string `json:"log"`
}

// Output is the answer.
type Output struct {
	Host  string `json:"host"`
	Count int    `json:"count" jsonschema:"description=Errors of this host."`
	Cause string `json:"cause"`
}

var script = []string{"```js\n" + `const lines = log.split("\n");
console.log(lines.length, "lines;", lines[0]);
console.log(lines.filter(line => line.includes("ERROR")).slice(0, 3).join("\n"));
` + "```", "```js\n" + `const counts = {};
for (const [, host] of log.matchAll(/ERROR host=(\S+)/g)) counts[host] = (counts[host] ?? 0) + 1;
const [host, count] = Object.entries(counts).sort((a, b) => b[1] - a[1])[0];
const errors = log.split("\n").filter(line => line.includes("ERROR host=" + host + " "));
const prompts = [];
for (let i = 0; i < errors.length; i += 20) {
  prompts.push("Name the main cause in two words:\n" + errors.slice(i, i + 20).join("\n"));
}
const votes = {};
for (const cause of await llm(prompts)) votes[cause] = (votes[cause] ?? 0) + 1;
console.log(votes);
const cause = Object.keys(votes).sort((a, b) => votes[b] - votes[a])[0];
submit({ host, count, cause });
` + "```", "disk full", "disk full", "disk full", "disk full"}

// generate returns a log of 60,000 lines. It is always the same one.
func generate() string {
	var b strings.Builder
	for i := range 60_000 {
		level, host, text := "INFO ", i*7%40, "ok"
		if i%97 == 0 {
			level, text = "ERROR", "upstream timed out"
		}
		if i%1000 == 13 {
			level, host, text = "ERROR", 17, "write /data: no space left on device"
		}
		fmt.Fprintf(&b, "2026-03-02T%02d:%02d:%02d %s host=web-%02d request=%d took=%dms %s\n",
			i/3600%24, i/60%60, i%60, level, host, i, i*31%900, text)
	}
	return b.String()
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	name := flag.String("model", "", models.Usage+"; without it the replies are scripted")
	flag.Parse()
	if err := run(ctx, *name, show.Writer(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "log:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, name string, w io.Writer) error {
	model, err := models.OpenOr(name, models.Options{Progress: w}, script...)
	if err != nil {
		return err
	}
	box, err := sandbox.New(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	sig := signature.Must(signature.New[Input, Output]("Answer the question about the log."))
	in := Input{"Which host has the most errors, and why?", generate()}
	pred, err := module.NewRLM(sig, model, box, nil, nil).Run(ctx, in)
	if err != nil {
		return err
	}
	for _, step := range pred.Trajectory.Steps {
		fmt.Fprintf(w, "program:\n%s\nthe model reads:\n%s\n",
			show.Indent(step.Code, "   │ "), show.Indent(step.Observation, "   │ "))
	}
	fmt.Fprintf(w, "the log has %d bytes; %s has %d errors: %s\n", len(in.Log),
		pred.Output.Host, pred.Output.Count, pred.Output.Cause)
	return nil
}

// Log shows RLM: the input is a log of 4 MB, far more than a prompt can hold. The model never sees it whole. Its
// programs search it, and ask a model about the parts that they find.
//
//	go run ./examples/log
//
// Unless -model names a real model, the model is scripted. Its programs really run.
package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/examples/internal/models"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/signature"
)

type Input struct {
	Question string `json:"question"`
	Log      string `json:"log"`
}

type Output struct {
	Host  string `json:"host"`
	Count int    `json:"count" jsonschema:"description=Errors of this host."`
	Cause string `json:"cause"`
}

func main() { models.Main(run, script...) }

func run(ctx context.Context, model llms.Model, w io.Writer) error {
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
	out := pred.Output
	fmt.Fprintf(w, "%v\n%s has %d errors: %s\n", pred.Trajectory, out.Host, out.Count, out.Cause)
	return nil
}

// generate returns a log of 60,000 lines, which is always the same.
func generate() string {
	var b strings.Builder
	for i := range 60_000 {
		event := fmt.Sprintf("INFO  host=web-%02d request=%d took=%dms ok", i*7%40, i, i*31%900)
		if i%1000 == 13 {
			event = fmt.Sprintf("ERROR host=web-17 request=%d write /data: no space left on device", i)
		} else if i%97 == 0 {
			event = fmt.Sprintf("ERROR host=web-%02d request=%d upstream timed out", i*7%40, i)
		}
		fmt.Fprintf(&b, "2026-03-02T%02d:%02d:%02d %s\n", i/3600, i/60%60, i%60, event)
	}
	return b.String()
}

var script = []string{"```js\n" + `const lines = log.split("\n");
console.log(lines.length, "lines;", lines.find(line => line.includes("ERROR")));
` + "```", "```js\n" + `const counts = {};
for (const [, host] of log.matchAll(/ERROR host=(\S+)/g)) counts[host] = (counts[host] ?? 0) + 1;
const [host, count] = Object.entries(counts).sort((a, b) => b[1] - a[1])[0];
const errors = log.split("\n").filter(line => line.includes("ERROR host=" + host + " "));
const cause = await llm("Name the main cause in two words:\n" + errors.slice(0, 100).join("\n"));
submit({ host, count, cause });
` + "```", "disk full"}

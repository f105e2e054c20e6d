package docs_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/playground"
	"github.com/writ-go/writ/agent/report"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

type customer struct {
	Name string `json:"name"`
}

func orders(_ context.Context, c customer) ([]string, error) {
	return []string{"tent for " + c.Name, "lamp for " + c.Name}, nil
}

// ordersAgent returns an agent over a Go function and MCP servers.
func ordersAgent(ctx context.Context, servers tools.Source, model llms.Model, box *sandbox.Sandbox) (*agent.Agent, error) {
	list := tools.Func("orders", "Lists the orders of a customer.", orders, &tools.Hints{Class: tools.Read})
	set, err := tools.NewSet(ctx, list, servers)
	if err != nil {
		return nil, err
	}
	set = set.With(policy.If(policy.Not(policy.Class(tools.Read)), policy.Approve(nil)))
	return agent.New(model, &agent.Options{Sandbox: box, Tools: set})
}

// serveAgent shows an agent in the playground.
func serveAgent(ctx context.Context, bot *agent.Agent, w io.Writer) error {
	runs := agent.NewRuns(journal.NewMemory())
	return playground.New(runs, bot, nil).Serve(ctx, "127.0.0.1:0", w)
}

// runAgent runs an agent without the playground, and writes a report.
func runAgent(ctx context.Context, bot *agent.Agent, w io.Writer) error {
	task := agent.Task{Task: "What has Ann ordered, and how is the weather?"}
	pred, err := bot.Run(ctx, task)
	fmt.Fprintln(os.Stderr, pred.TrajectoryOf(err))
	if written := report.Write(w, pred.TrajectoryOf(err), &report.Options{Inputs: task}); written != nil {
		return written
	}
	return err
}

// TestOwnAgent runs the code of own-agent.md.
func TestOwnAgent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	servers := connect(ctx, "Returns the weather.", nil)
	defer servers.Close()
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	model := llmtest.New("I ask both.\n\n```js\nconst list = await orders({name: \"Ann\"});\n" +
		"submit({answer: `${list.join()}; ${await weather.now({})}`});\n```")
	trusted := tools.WithHints(servers, func(*tools.Tool) tools.Hints { return tools.Hints{Class: tools.Read} })
	bot, err := ordersAgent(ctx, trusted, model, box)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := runAgent(ctx, bot, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil || !strings.Contains(string(text), "tent for Ann,lamp for Ann; rain") {
		t.Errorf("the report has no answer: %v", err)
	}
	_ = file.Close()
	if err := serveAgent(ctx, bot, urlWriter{cancel}); err != nil {
		t.Error(err)
	}
}

// urlWriter ends the playground when its URL is written.
type urlWriter struct{ stop func() }

func (w urlWriter) Write(url []byte) (int, error) {
	w.stop()
	return len(url), nil
}

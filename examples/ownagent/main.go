// Ownagent serves a page on which an agent uses a Go function and an MCP server from npm.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/playground"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/mcptools"
	"github.com/writ-go/writ/tools/policy"
)

type Customer struct {
	Name string `json:"name"`
}

func orders(_ context.Context, c Customer) ([]string, error) { // any Go function
	return []string{"tent for " + c.Name, "lamp for " + c.Name}, nil
}

const servers = `{"mcpServers": {"files": {
	"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "."]}}}`

const scripted = "I write the orders to a file.\n\n```js\nconst list = await orders({ name: \"Ann\" });\n" +
	"await files.write_file({ path: \"orders.txt\", content: list.join(\"\\n\") });\n" +
	"submit({ answer: `orders.txt has ${list.length} orders.` });\n```"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	options := &playground.Options{Example: "Write Ann's orders to orders.txt."}
	model, err := models.Open("openai:gpt-5.1", nil)
	if err != nil { // there is no key
		options.Note = "The model is scripted, since there is no real one: " + err.Error()
		model = llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: scripted}, nil
		})
	}
	config := must(mcptools.ParseConfig([]byte(servers), os.LookupEnv))
	files := must(mcptools.Start(ctx, config, &mcptools.Options{Trust: []string{"files"}}))
	defer files.Close()
	list := tools.Func("orders", "Lists the orders of a customer.", orders, &tools.Hints{Class: tools.Read})
	ask := policy.If(policy.Not(policy.Class(tools.Read)), policy.Approve(nil))
	box := must(sandbox.New(nil))
	defer box.Close()
	bot := must(agent.New(model, &agent.Options{Sandbox: box, Tools: must(tools.NewSet(ctx, list, files)).With(ask)}))
	runs := agent.NewRuns(journal.NewMemory())
	if err := playground.New(runs, bot, options).Serve(ctx, "127.0.0.1:0", os.Stderr); err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

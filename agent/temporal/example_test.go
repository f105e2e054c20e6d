package temporal_test

import (
	"context"
	"fmt"
	"log"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/temporal"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

type mail struct {
	To string `json:"to"`
}

// A worker and a run of an agent. It needs a server.
func Example() {
	ctx := context.Background()
	send := func(ctx context.Context, m mail) (string, error) { return "sent as " + tools.EffectID(ctx), nil }
	set, err := tools.NewSet(ctx, tools.Func("send", "Sends a mail.", send, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		log.Fatal(err)
	}
	model, err := models.Open("openai:gpt-5.1", nil)
	if err != nil {
		log.Fatal(err)
	}
	bot, err := agent.New(model, &agent.Options{Tools: set})
	if err != nil {
		log.Fatal(err)
	}
	store, err := journal.OpenDir("/shared/runs")
	if err != nil {
		log.Fatal(err)
	}
	objects, err := temporal.OpenDir("/shared/objects")
	if err != nil {
		log.Fatal(err)
	}
	a, err := temporal.New[agent.Task, agent.Answer]("bot", bot, &temporal.Options{
		Store: store, Objects: objects, Tools: set,
	})
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.Dial(client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	go func() { log.Print(a.Worker(ctx, c, worker.Options{})) }()
	run, err := a.Start(ctx, c, "r-1", agent.Task{Task: "Write to ann@example.com."})
	if err != nil {
		log.Fatal(err)
	}
	var answer agent.Answer
	if err := a.Result(ctx, run, &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Answer)
}

package playground_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/agent/playground"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/policy"
)

// The page of an agent over a Go function whose calls need approval.
func Example() {
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: served
}

type mail struct {
	To   string `json:"to"`
	Text string `json:"text"`
}

func send(context.Context, mail) (string, error) { return "sent", nil }

func run(ctx context.Context) error {
	set, err := tools.NewSet(ctx, tools.Func("send", "Sends a mail.", send, &tools.Hints{Class: tools.Effect}))
	if err != nil {
		return err
	}
	box, err := sandbox.NewInProcess(nil)
	if err != nil {
		return err
	}
	defer box.Close()
	model := llmtest.New("```js\nsubmit({ answer: await send({ to: \"ann@example.com\", text: \"Hello\" }) })\n```")
	bot, err := agent.New(model, &agent.Options{Sandbox: box, Tools: set.With(policy.Approve(nil))})
	if err != nil {
		return err
	}
	page := playground.New(agent.NewRuns(journal.NewMemory()), bot, &playground.Options{Title: "Mail"})

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return page.Serve(ctx, "127.0.0.1:0", stopper{cancel}) // usually os.Stderr, which gets the URL
}

// stopper ends the example once the page is served.
type stopper struct{ stop func() }

func (s stopper) Write(url []byte) (int, error) {
	defer s.stop()
	if !strings.HasPrefix(string(url), "http://127.0.0.1:") {
		return os.Stderr.Write(url)
	}
	fmt.Println("served")
	return len(url), nil
}

package models

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
)

// openScript returns a model that reads its replies from a file, in order. Lines of three dashes
// separate the replies.
func openScript(file string) (llms.Model, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	replies := strings.Split("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n---\n")
	for i, reply := range replies {
		if replies[i] = strings.TrimSpace(reply); replies[i] == "" {
			return nil, fmt.Errorf("reply %d of %s is empty; write a reply, or remove a line of dashes next to it",
				i+1, file)
		}
	}
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > len(replies) {
			return llmtest.Reply{},
				fmt.Errorf("request %d has no reply: %s contains %d, one for each request; add a reply after a line "+
					"of ---", r.N, file, len(replies))
		}
		return llmtest.Reply{Text: replies[r.N-1]}, nil
	}), nil
}

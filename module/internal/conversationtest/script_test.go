package conversationtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/writ-go/writ/module/llmtest"
)

// noReplyError is the error of a model for which the archive has no more replies.
type noReplyError int

func (n noReplyError) Error() string { return fmt.Sprintf("the archive has no reply%d", int(n)) }

// scripted returns a model that gives the replies of an archive.
func scripted(archive *txtar.Archive) *llmtest.Model {
	var replies []txtar.File
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "reply") {
			replies = append(replies, f)
		}
	}
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N > len(replies) {
			return llmtest.Reply{}, noReplyError(r.N)
		}
		_, stop, _ := strings.Cut(replies[r.N-1].Name, " ")
		return llmtest.Reply{Text: strings.TrimSuffix(string(replies[r.N-1].Data), "\n"), StopReason: stop}, nil
	})
}

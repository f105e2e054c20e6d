package conversationtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/internal/globals"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/declare"
)

// spent counts the tokens of requests to a model. Cached tokens belong to messages that the
// previous request began with, too.
type spent struct {
	requests         int
	cached, uncached int
	replies          int
}

func (s spent) plus(x spent) spent {
	return spent{s.requests + x.requests, s.cached + x.cached, s.uncached + x.uncached, s.replies + x.replies}
}

// spentBy counts the tokens of a conversation.
func spentBy(requests []llmtest.Request) spent {
	s := spent{requests: len(requests)}
	var before []llms.MessageContent
	for _, r := range requests {
		common := true
		for i, m := range r.Messages {
			text := textOf(m)
			common = common && i < len(before) && textOf(before[i]) == text
			if common {
				s.cached += count(text)
			} else {
				s.uncached += count(text)
			}
		}
		before = r.Messages
	}
	return s
}

// first returns the size of the first request.
func first(requests []llmtest.Request) int {
	n := 0
	for _, m := range requests[0].Messages {
		n += count(textOf(m))
	}
	return n
}

func textOf(m llms.MessageContent) string {
	return llmtest.Request{Messages: []llms.MessageContent{m}}.Last()
}

// count estimates the tokens of a text.
func count(text string) int { return declare.Tokens(text) }

// oneByOne returns what the same calls would take if each was a separate request with all tools,
// and the conversation contained the results.
func oneByOne(r run, listed int, question string) spent {
	base := listed + count(question)
	s := spent{requests: 1, uncached: base}
	told := 0 // calls and results so far
	for _, call := range calls(r) {
		s.requests++
		s.cached += base + told
		s.uncached += count(call)
		told += count(call)
	}
	return s
}

// calls lists the calls of a run that a model would make itself, with their results. Those of a
// step are sorted, because the order of concurrent calls is random.
func calls(r run) []string {
	var all []string
	for _, step := range r.trajectory.Steps {
		if step.Outcome == nil {
			continue
		}
		var made []string
		for _, c := range step.Outcome.Calls {
			if c.Recorded || c.Pending || strings.HasPrefix(c.Tool, globals.Tools+".") {
				continue
			}
			result := string(c.Result)
			if c.Error != nil {
				result = c.Error.Message
			}
			made = append(made, fmt.Sprintf("%s %s\n%s", c.Tool, c.Args, result))
		}
		slices.Sort(made)
		all = append(all, made...)
	}
	return all
}

// listed returns the size of the tools as a server lists them.
func listed(set *tools.Set) int {
	n := 0
	for _, b := range set.Bindings() {
		tool := map[string]any{"name": b.Name, "description": b.Description, "inputSchema": b.InputSchema}
		if b.OutputSchema != nil {
			tool["outputSchema"] = b.OutputSchema
		}
		if b.Claimed == tools.Read {
			tool["annotations"] = map[string]bool{"readOnlyHint": true}
		}
		n += count(string(marshal(tool)))
	}
	return n
}

package event

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/display"
	"github.com/writ-go/writ/module/internal/lm"
)

// History keeps the last 100 model calls that it observes, like the inspect_history of DSPy. Pass its method Observe to
// module.Observe, or set module.Options.OnEvent to it. The zero value is ready to use. It is safe for concurrent use.
type History struct {
	mu    sync.Mutex
	calls []modelCall // in the order of the requests
}

type modelCall struct {
	request  ModelRequest
	response *ModelResponse // nil until the model has replied
}

// Observe records model calls and ignores all other events.
func (h *History) Observe(_ context.Context, e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := e.(type) {
	case ModelRequest:
		h.calls = append(slices.Delete(h.calls, 0, max(len(h.calls)-99, 0)), modelCall{request: e}) // at most 100
	case ModelResponse:
		for i, c := range slices.Backward(h.calls) {
			if c.request.Run == e.Run && c.response == nil {
				h.calls[i].response = &e
				return
			}
		}
	}
}

// Last returns the last n model calls as text, or all that h has if there are fewer: the request as [ModelRequest.Text]
// returns it, the reply or the error, and the usage. Characters that control a terminal are escaped.
func (h *History) Last(n int) string {
	h.mu.Lock()
	calls := slices.Clone(h.calls[max(len(h.calls)-max(n, 0), 0):])
	h.mu.Unlock()
	var b strings.Builder
	for _, c := range calls {
		r := cmp.Or(c.response, &ModelResponse{})
		fmt.Fprintf(&b, "=== %s, step %d, %s ===\n%s%s\n", cmp.Or(c.request.Name, c.request.Module), c.request.Step,
			cmp.Or(r.Model, c.request.Model, "unknown model"), c.request.Text(), lm.Transcript(c.reply(), nil, nil))
	}
	return display.Text(b.String())
}

// reply returns what follows the request, as messages.
func (c modelCall) reply() []llms.MessageContent {
	r := c.response
	if r == nil {
		return []llms.MessageContent{llms.TextParts("no reply yet")}
	}
	said := llms.TextParts(llms.ChatMessageTypeAI, r.Text)
	for _, call := range r.ToolCalls {
		said.Parts = append(said.Parts, call)
	}
	if r.Err != nil {
		said = llms.TextParts("error", message(r.Err))
	}
	var list []llms.MessageContent
	if r.Failed != "" {
		list = append(list, llms.TextParts("failed before", r.Failed))
	}
	if r.Thinking != "" {
		list = append(list, llms.TextParts("thinking", r.Thinking))
	}
	return append(list, said, llms.TextParts("usage", r.Usage.String()))
}

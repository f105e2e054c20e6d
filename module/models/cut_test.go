package models_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// Cut after any byte, a stream is either whole or an error, and what is not whole
// is not kept.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	usage := `"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`
	for p, events := range map[provider][]string{
		openAI: {
			`data: {` + usage + `,"choices":[{"delta":{"content":"Pay 5"},"finish_reason":null}]}`,
			`data: {` + usage + `,"choices":[{"delta":{"content":"00 (message_stop)"},"finish_reason":"stop"}]}`,
			`data: [DONE]`,
		},
		anthropicAI: anthropicAI.stream(),
	} {
		text := strings.Join(events, "\n\n") + "\n\n"
		want := map[provider]string{openAI: "Pay 500 (message_stop)", anthropicAI: "Paris"}[p]
		var cut string
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, cut)
		})
		model := newCache(t, nil).Model(p.open(t, s.URL, &models.Transport{}), "a")
		whole := 0
		for n := range len(text) {
			cut = text[:n]
			var h hearing
			reply, err := lm.Ask(t.Context(), model, h.call(), question(fmt.Sprint(n)))
			if err == nil && reply.Text != want {
				t.Errorf("%s, cut after %q: got %q", p, cut[max(n-20, 0):], reply.Text)
			}
			if err != nil && !failure(t, err).MaybeCharged {
				t.Errorf("%s, cut after %q: got %v", p, cut[max(n-20, 0):], err)
			}
			if err == nil {
				whole++
			}
		}
		if whole == 0 || whole > 100 {
			t.Errorf("%s: %d are whole", p, whole)
		}
	}
}

// What a model says of the end is not the end.
func TestEndInText(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"message_stop", `"message_stop"`, `"finish_reason":"stop"`, `data: [DONE]`} {
		text, _ := json.Marshal(said)
		eachProvider(t, func(t *testing.T, p provider) {
			event, begun := `data: {"choices":[{"delta":{"content":`+string(text)+`},"finish_reason":null}]}`, 4
			if p == anthropicAI {
				event, begun = `data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":`+string(text)+`}}`, 5
			}
			s := serve(t, streams(append(p.stream()[:begun:begun], event)...))
			_, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), lm.Call{OnText: func(string) {}}, question("Capital?"))
			if e := failure(t, err); e.Kind != models.Transient || !e.MaybeCharged || err.Error() != "the model: the stream ended before the reply did" {
				t.Errorf("%s: got %v", said, err)
			}
		})
	}
}

// The reason to stop is not lost when another event comes after it.
func TestStopReasonStays(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]struct {
		asked int
		err   string
	}{
		"stop":           {1, ""},
		"length":         {2, ""},
		"content_filter": {2, "the model refuses to answer: it ended the reply: content_filter"},
	} {
		s := serve(t, streams(
			`data: {"choices":[{"delta":{"content":"Par"},"finish_reason":null}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
			`data: [DONE]`))
		model := newCache(t, nil).Model(openAI.open(t, s.URL, &models.Transport{}), "a")
		for range 2 {
			var h hearing
			reply, err := lm.Ask(t.Context(), model, h.call(), question("Capital?"))
			if err == nil != (want.err == "") || err != nil && err.Error() != want.err || reply.Truncated != (reason == "length") {
				t.Errorf("%s: got %+v, %v", reason, reply, err)
			}
		}
		if len(s.bodies) != want.asked {
			t.Errorf("%s: asked %d times", reason, len(s.bodies))
		}
	}
}

// An empty error beside a reply is none.
func TestEmptyErrors(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{`""`, `{}`, `{ }`, `false`, `null`, `[]`, `0`} {
		s := serve(t, says(strings.TrimSuffix(openAIReply, "}")+`,"error":`+empty+`}`))
		if reply, err := lm.Ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}), lm.Call{}, question("Capital?")); err != nil || reply.Text != "Paris" {
			t.Errorf("%s: got %q, %v", empty, reply.Text, err)
		}
	}
}

// What stands beside a long text is told once.
func TestLongEventTellsOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	s := serve(t, streams(
		`data: {"choices":[{"index":0,"delta":{"content":"`+long+`","reasoning_content":"Hm.","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"stop"},{"index":1,"delta":{"content":"other"}}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
		`data: [DONE]`))
	got, err := models.RateLimit(openAI.open(t, s.URL, &models.Transport{}), nil).GenerateContent(t.Context(), question("Capital?"),
		llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	c := got.Choices[0]
	if c.Content != long || c.ReasoningContent != "Hm." || len(c.ToolCalls) != 1 || c.ToolCalls[0].FunctionCall.Arguments != "{}" || c.StopReason != "stop" || c.GenerationInfo["TotalTokens"] != 5 {
		t.Errorf("got %d bytes, thought %q, calls %+v, %s, %v", len(c.Content), c.ReasoningContent, c.ToolCalls, c.StopReason, c.GenerationInfo["TotalTokens"])
	}
}

// Long arguments of a tool call come whole, too.
func TestLongArguments(t *testing.T) {
	t.Parallel()
	arguments, _ := json.Marshal(`{"text":"` + strings.Repeat("é", 100_000) + `"}`)
	s := serve(t, streams(
		`data: {"choices":[{"index":0,"delta":{"content":"Here.","tool_calls":[{"index":0,"id":"c0","type":"function","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"c1","type":"function","function":{"name":"g","arguments":`+string(arguments)+`}}]}}]}`,
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`data: [DONE]`))
	got, err := models.RateLimit(openAI.open(t, s.URL, &models.Transport{}), nil).GenerateContent(t.Context(), question("Capital?"),
		llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	c := got.Choices[0]
	if want, _ := json.Marshal(c.ToolCalls[1].FunctionCall.Arguments); c.Content != "Here." || len(c.ToolCalls) != 2 || c.ToolCalls[0].ID != "c0" || c.ToolCalls[1].ID != "c1" || c.ToolCalls[1].FunctionCall.Name != "g" || string(want) != string(arguments) {
		t.Errorf("got %q and %d calls", c.Content, len(c.ToolCalls))
	}
}

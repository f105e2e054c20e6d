package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// FuzzReply checks that any chunks result in an error, or in a reply that can be sent back and whose text is that of
// the pieces.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{
		`{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}]}}],"usageMetadata":{"promptTokenCount":3}}
{"candidates":[{"content":{"parts":[{"text":"Th"},{"text":"en","thoughtSignature":"x"}]}}]}
{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"y"}]},"finishReason":"STOP"}]}`,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"n","args":{"a":1}},"thoughtSignature":"x"},null]}}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"},{"inlineData":{}},{"text":5}]},"finishReason":"OTHER"},{"index":1}]}`,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var text bytes.Buffer
		r := &reply{provider: provider, answer: &wire.Answer{}, options: llms.CallOptions{
			StreamingFunc: func(_ context.Context, chunk []byte) error {
				text.Write(chunk)
				return nil
			}}}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if _, err := r.add(t.Context(), line); err != nil {
				return
			}
		}
		if r.reason == "" || slices.Contains(failed, r.reason) {
			return
		}
		response, err := r.response()
		if err != nil {
			t.Fatal(err)
		}
		choice := response.Choices[0]
		if choice.Content != text.String() {
			t.Errorf("got %q, streamed %q", choice.Content, text.String())
		}
		m, ok := choice.GenerationInfo[lm.MessageKey].(*lm.Message)
		if !ok {
			return
		}
		c := conversation{provider: provider, signed: true, calls: map[string]call{}}
		_, contents, err := c.contents([]llms.MessageContent{{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{*m}}})
		if err != nil {
			t.Fatalf("cannot send back %s: %v", m.Raw, err)
		}
		if _, err := json.Marshal(contents); err != nil {
			t.Errorf("cannot send back %s: %v", m.Raw, err)
		}
	})
}

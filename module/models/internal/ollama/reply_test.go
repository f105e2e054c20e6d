package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// FuzzStream checks that any lines result in an error, or in a reply that can be sent back and
// whose text is that of the chunks.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"message":{"role":"assistant","content":"Hi"}}
{"message":{"content":"!"},"done":true,"done_reason":"stop","prompt_eval_count":3}`))
	f.Add([]byte(`{"message":{"content":"","thinking":"Hm"}}
{"message":{"tool_calls":[{"function":{"name":"n","arguments":{"a":1}}}]}}
{"done":true,"done_reason":"length"}`))
	f.Add([]byte(`{"message":{"tool_calls":[{"function":{"name":"n","arguments":"x"}},{}]},"done":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var text bytes.Buffer
		s := &stream{options: llms.CallOptions{StreamingFunc: func(_ context.Context, chunk []byte) error {
			text.Write(chunk)
			return nil
		}}}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if s.add(t.Context(), line) != nil {
				return
			}
			if s.whole.Done {
				break
			}
		}
		response, err := s.whole.response(0)
		if err != nil {
			t.Fatal(err)
		}
		choice := response.Choices[0]
		if s.whole.Done && choice.Content != text.String() {
			t.Errorf("the text is %q, but the chunks were %q", choice.Content, &text)
		}
		back, err := (&request{}).encode(llms.MessageContent{Role: llms.ChatMessageTypeAI,
			Parts: []llms.ContentPart{*choice.GenerationInfo[lm.MessageKey].(*lm.Message)}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(back); err != nil {
			t.Fatal(err)
		}
	})
}

func TestHostURL(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"":                         "http://localhost:11434",
		" 0.0.0.0 ":                "http://localhost:11434",
		"0.0.0.0:8080":             "http://localhost:8080",
		":8080":                    "http://localhost:8080",
		"gpu":                      "http://gpu:11434",
		"[::]:8080":                "http://localhost:8080",
		"https://ollama.com":       "https://ollama.com",
		"http://gpu.example.com:1": "http://gpu.example.com:1",
	} {
		if got := hostURL(host); got != want {
			t.Errorf("%q is %s, not %s", host, got, want)
		}
	}
}

// Tool calls over many lines are bounded before they are kept.
func TestManyToolCalls(t *testing.T) {
	t.Parallel()
	s := &stream{}
	line := []byte(`{"message":{"tool_calls":[` + strings.TrimSuffix(strings.Repeat("null,", 100), ",") + `]}}`)
	if err := s.add(t.Context(), line); err != nil {
		t.Fatal(err)
	}
	if err := s.add(t.Context(), line); err == nil || !strings.Contains(err.Error(), "more than 128 tool calls") {
		t.Errorf("got %v", err)
	}
}

package openai

import (
	"maps"
	"slices"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// TestDialects compares a request of each dialect, whose fields have different names.
func TestDialects(t *testing.T) {
	t.Parallel()
	all := lm.Capabilities{Schema: true, Tools: true, Thinking: true, Vision: true}
	tests := map[string]struct {
		effort, budget string // the body by params.Effort and by params.ThinkingTokens
		can            lm.Capabilities
		echo           string // the assistant's message on the next turn
	}{
		"openai": {`{"max_completion_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "raw"},
		"azure":  {`{"max_completion_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "raw"},
		"mistral": {`{"max_tokens":9,"random_seed":3,"reasoning_effort":"low","stream_options":null}`, `{}`,
			all, "raw"},
		"groq": {`{"max_completion_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "text"},
		"deepseek": {`{"max_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`,
			lm.Capabilities{Tools: true, Thinking: true}, "raw"},
		"xai":      {`{"max_completion_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "raw"},
		"together": {`{"max_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "raw"},
		"vllm":     {`{"max_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "raw"},
		"lmstudio": {`{"max_tokens":9,"seed":3,"reasoning_effort":"low"}`, `{}`, all, "raw"},
		"openrouter": {`{"max_tokens":9,"seed":3,"reasoning":{"effort":"low"}}`, `{"reasoning":{"max_tokens":500}}`,
			all, "raw"},
	}
	same(t, "names", slices.Sorted(maps.Keys(tests)), slices.Sorted(maps.Keys(dialects())))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields := []string{"max_tokens", "random_seed", "reasoning"}
			server := stub.OpenAI(&stub.Options{Fields: fields}, stub.Reply{Text: "a"}, stub.Reply{Text: "b"})
			m := serve(t, &wire.Options{Dialect: name}, server)
			test.can.Model = "gpt-5.1"
			same(t, "capabilities", m.Capabilities(), test.can)
			raw := []byte(`{"role":"assistant","content":"raw"}`)
			said := lm.Message{TextContent: llms.TextPart("text"), Provider: name, Raw: raw}
			messages := append(slices.Clone(question), llms.MessageContent{Role: llms.ChatMessageTypeAI,
				Parts: []llms.ContentPart{said}})
			var told []string
			ctx := lm.WithParams(t.Context(), lm.Params{Effort: "low"})
			_, err := m.GenerateContent(ctx, messages, append(streamed(&told), llms.WithMaxTokens(9),
				llms.WithSeed(3))...)
			if err != nil {
				t.Fatal(err)
			}
			want := decoded(t, test.effort)
			want["model"], want["stream"] = "gpt-5.1", true
			want["messages"] = []any{map[string]any{"role": "user", "content": "Hi."},
				map[string]any{"role": "assistant", "content": test.echo}}
			if _, ok := want["stream_options"]; ok {
				delete(want, "stream_options")
			} else {
				want["stream_options"] = map[string]any{"include_usage": true}
			}
			same(t, "request", sent(t, server), want)
			if _, err := m.GenerateContent(lm.WithParams(t.Context(), lm.Params{ThinkingTokens: 500}),
				question); err != nil {
				t.Fatal(err)
			}
			got := sent(t, server)
			delete(got, "model")
			delete(got, "messages")
			same(t, "request with a number of tokens to think with", got, decoded(t, test.budget))
		})
	}
}

func TestDeepSeekThinking(t *testing.T) {
	t.Parallel()
	body := map[string]any{}
	deepSeekThinking(body, "none", 0)
	same(t, "body", body, map[string]any{"thinking": map[string]any{"type": "disabled"}})
}

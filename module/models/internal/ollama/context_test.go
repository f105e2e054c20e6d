package ollama_test

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// TestContext checks that num_ctx fits each prompt, never decreases, and stays within the model's
// context, which is requested from Ollama once.
func TestContext(t *testing.T) {
	t.Parallel()
	s := stub.Ollama(&stub.Options{Answer: func(stub.Request) stub.Reply { return stub.Reply{Text: "Hello."} }})
	m := connect(t, s, nil)
	shown := 0
	for _, test := range []struct {
		bytes, want int
	}{{100, 8192}, {30_000, 16_384}, {100, 16_384}, {100_000, 32_768}} {
		if _, err := m.GenerateContent(t.Context(), ask(strings.Repeat("x", test.bytes))); err != nil {
			t.Fatal(err)
		}
		requests := s.Requests()
		last := requests[len(requests)-1]
		same(t, last.Body["options"], map[string]any{"num_ctx": test.want})
	}
	for _, r := range s.Requests() {
		if r.Path == "/api/show" {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("asked about the model %d times", shown)
	}
}

func TestPromptTooLong(t *testing.T) {
	t.Parallel()
	prompt := ask(strings.Repeat("x", 40_000))
	m, _ := serve(t, nil)
	_, err := m.GenerateContent(t.Context(), ask(strings.Repeat("x", 200_000)))
	checkError(t, err, lm.Error{Kind: lm.KindContextTooLong, Status: 400},
		"the prompt is too long for the model: the prompt does not fit into the context of 32768 tokens (num_ctx); "+
			"shorten it, raise OpenOptions.Context, or use a model with a larger context")

	// An old version ignores "truncate": false and truncates the prompt.
	for name, test := range map[string]struct {
		context, read int
		ok            bool
	}{
		"truncated":             {8192, 4098, false},
		"dropped messages":      {8192, 300, false},
		"a thrifty tokenizer":   {8192, 8000, true},
		"cached, and it fits":   {16_384, 12, true},
		"all cached, not known": {8192, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stub.Ollama(nil, stub.Reply{Text: "Hello.", InputTokens: test.read})
			if test.read == 0 {
				s = stub.Ollama(nil, stub.Reply{Status: 200, Body: `{"message":{"content":"Hello."},"done":true}`})
			}
			m := connect(t, s, &wire.Options{Context: test.context, Extra: map[string]any{"truncate": nil}})
			_, err := m.GenerateContent(t.Context(), prompt)
			if test.ok != (err == nil) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

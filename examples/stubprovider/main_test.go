package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models"
)

func TestHandler(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler("Hello."))
	defer server.Close()
	for _, name := range []string{"openai:gpt-5.1", "anthropic:claude-sonnet-4-5", "ollama:qwen3"} {
		provider, _, _ := strings.Cut(name, ":")
		model, err := models.Open(name, &models.OpenOptions{BaseURL: server.URL + "/" + provider, Key: "test-key"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := llms.GenerateFromSinglePrompt(t.Context(), model, "Hi."); err != nil || got != "Hello." {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	const question = `
  'review -> mood: Literal["good","bad"], score: float(ge=0, le=1)' review="Broke twice."
`
	want := `Try, from another terminal:

OPENAI_API_KEY=test-key OPENAI_BASE_URL=http://127.0.0.1:8123/openai \
  go run ./examples/predict -model openai:gpt-5.1 \` + question + `
ANTHROPIC_API_KEY=test-key ANTHROPIC_BASE_URL=http://127.0.0.1:8123/anthropic \
  go run ./examples/predict -model anthropic:claude-sonnet-4-5 \` + question + `
OLLAMA_HOST=http://127.0.0.1:8123/ollama \
  go run ./examples/predict -model ollama:qwen3 \` + question
	if got := commands("http://127.0.0.1:8123"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

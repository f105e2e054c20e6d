// Package models opens the language models that the examples can use.
package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/writ-go/writ/module/models"
)

// Usage describes the argument of [Open].
const Usage = "`provider:model`: openai:… (OPENAI_API_KEY, OPENAI_BASE_URL), anthropic:… (ANTHROPIC_API_KEY) or ollama:… (OLLAMA_HOST); script:FILE gives the replies that stand in a file, with lines of --- between them"

// Options configures [Open].
type Options struct {
	// Tokens is how many the questions and replies may have together. Zero is no
	// limit.
	Tokens int

	// Progress is told why and how long it is waited before a question is asked
	// again. Nil is nobody.
	Progress io.Writer
}

// Open returns the model that a text such as "openai:gpt-5" names. Keys and
// addresses come from the environment variables that the providers define. A
// question is asked again when the provider is overloaded or out of reach.
func Open(name string, o Options) (llms.Model, error) {
	provider, model, _ := strings.Cut(name, ":")
	if model == "" {
		return nil, fmt.Errorf("model %q: write provider:model, such as openai:gpt-5, anthropic:claude-sonnet-4-5 or ollama:qwen3", name)
	}
	m, err := open(provider, model)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	budget := models.NewBudget(models.Limits{Tokens: o.Tokens})
	return models.Retry(budget.Model(m, name), &models.RetryOptions{OnRetry: func(_ context.Context, why *models.Error, wait time.Duration) {
		fmt.Fprintf(cmp.Or(o.Progress, io.Discard), "   asking again in %s: %v\n", wait.Round(time.Millisecond), why)
	}}), nil
}

func open(provider, model string) (llms.Model, error) {
	switch provider {
	case "openai":
		if err := need("OPENAI_API_KEY"); err != nil {
			return nil, err
		}
		return openai.New(openai.WithModel(model))
	case "anthropic":
		if err := need("ANTHROPIC_API_KEY"); err != nil {
			return nil, err
		}
		return anthropic.New(anthropic.WithModel(model))
	case "ollama":
		return ollama.New(ollama.WithModel(model))
	case "script":
		return openScript(model)
	}
	return nil, errors.New("the provider is not openai, anthropic, ollama or script")
}

func need(variable string) error {
	if os.Getenv(variable) == "" {
		return fmt.Errorf("the environment variable %s is not set", variable)
	}
	return nil
}

// Package models opens the language models that the examples can use.
package models

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// Usage describes the argument of [Open].
const Usage = "`provider:model`: openai:… (OPENAI_API_KEY, OPENAI_BASE_URL), anthropic:… (ANTHROPIC_API_KEY) or ollama:… (OLLAMA_HOST)"

// Open returns the model that a text such as "openai:gpt-5" names. Keys and
// addresses come from the environment variables that the providers define.
func Open(name string) (llms.Model, error) {
	provider, model, _ := strings.Cut(name, ":")
	if model == "" {
		return nil, fmt.Errorf("model %q: write provider:model, such as openai:gpt-5, anthropic:claude-sonnet-4-5 or ollama:qwen3", name)
	}
	m, err := open(provider, model)
	if err != nil {
		return nil, fmt.Errorf("model %q: %w", name, err)
	}
	return m, nil
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
	}
	return nil, errors.New("the provider is not openai, anthropic or ollama")
}

func need(variable string) error {
	if os.Getenv(variable) == "" {
		return fmt.Errorf("the environment variable %s is not set", variable)
	}
	return nil
}

package models

import (
	"cmp"
	"maps"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/gemini"
	"github.com/writ-go/writ/module/models/internal/ollama"
	"github.com/writ-go/writ/module/models/internal/openai"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// scheme is a provider that [Open] opens, with one of its protocols.
type scheme struct {
	name     string // what a model's name begins with
	protocol string
	key      string // the environment variable of the key; "" if none is needed
	keeps    bool   // reasoning that the provider returns is sent back in the next turn
	open     func(model string, o *wire.Options) (llms.Model, error)
}

// schemes returns the providers. The table in docs/models.md is generated from them.
func schemes() []scheme {
	const completions = "OpenAI's chat completions"
	chat, responses := opener(openai.New), opener(openai.NewResponses)
	return []scheme{
		{"openai", completions, "OPENAI_API_KEY", false, chat},
		{"openai-responses", "OpenAI's Responses API", "OPENAI_API_KEY", true, responses},
		{"azure", completions, "AZURE_OPENAI_API_KEY", false, chat},
		{"azure-responses", "OpenAI's Responses API", "AZURE_OPENAI_API_KEY", true, responses},
		{"anthropic", "Anthropic's messages", "ANTHROPIC_API_KEY", true, opener(anthropic.New)},
		{"ollama", "Ollama's chat", "", true, opener(ollama.New)},
		{"gemini", "Gemini's generateContent", "GEMINI_API_KEY", true, opener(gemini.New)},
		{"vertex", "Gemini's generateContent", "GOOGLE_API_KEY", true, opener(gemini.NewVertex)},
		{"mistral", completions, "MISTRAL_API_KEY", true, chat},
		{"groq", completions, "GROQ_API_KEY", false, chat},
		{"openrouter", completions, "OPENROUTER_API_KEY", true, chat},
		{"deepseek", completions, "DEEPSEEK_API_KEY", true, chat},
		{"xai", completions, "XAI_API_KEY", true, chat},
		{"together", completions, "TOGETHER_API_KEY", true, chat},
		{"vllm", completions, "", true, chat},
		{"lmstudio", completions, "", true, chat},
	}
}

func opener[M llms.Model](
	open func(string, *wire.Options) (M, error),
) func(string, *wire.Options) (llms.Model, error) {
	return func(model string, o *wire.Options) (llms.Model, error) { return open(model, o) }
}

// names returns the names of the providers.
func names() (list []string) {
	for _, s := range schemes() {
		list = append(list, s.name)
	}
	return list
}

// baseURL returns the URL in the environment, and the variable that has it.
func (s scheme) baseURL() (url, variable string) {
	provider := strings.TrimSuffix(s.name, "-responses")
	if variable = strings.ToUpper(provider) + "_BASE_URL"; provider == "azure" {
		variable = "AZURE_OPENAI_ENDPOINT"
	}
	return os.Getenv(variable), variable
}

// options returns the provider's options.
func (s scheme) options(o *OpenOptions) *wire.Options {
	url, _ := s.baseURL()
	return &wire.Options{
		Key: o.Key, Token: o.Token, Project: o.Project, Location: o.Location, BaseURL: cmp.Or(o.BaseURL, url),
		Client: o.Client, MaxTokens: o.MaxTokens, Context: o.Context, Extra: maps.Clone(o.Extra), Dialect: s.name,
	}
}

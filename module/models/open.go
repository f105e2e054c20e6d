package models

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models/anthropic"
	"github.com/writ-go/writ/module/models/ollama"
	"github.com/writ-go/writ/module/models/openai"
)

// OpenOptions configures [Open]. The zero value, and nil, are the defaults.
type OpenOptions struct {
	// Key is the API key. Empty is that of the provider's environment variable, such
	// as OPENAI_API_KEY.
	Key string

	// BaseURL is where the provider is. Empty is the environment variable of its name,
	// such as OPENAI_BASE_URL, or OLLAMA_HOST, and otherwise its public address.
	BaseURL string

	// Client makes the requests. Nil is one without a timeout: Attempt and the
	// context of a call bound it.
	Client *http.Client

	// MaxTokens is how long a reply may be, with what is only thought. Zero is the
	// provider's limit. A call's llms.WithMaxTokens takes its place.
	MaxTokens int

	// Context is how many tokens Ollama makes room for. Zero makes room for the
	// prompt and the reply. Other providers ignore it.
	Context int

	// Extra is merged into the JSON of every request. It wins over what is there.
	Extra map[string]any

	// Attempt is how long one attempt may take. A longer one is an [Error] of the
	// kind [KindTransient], and the question is asked again. Zero is 10 minutes: models
	// that think take minutes.
	Attempt time.Duration

	// FirstToken is how long an attempt that is streamed may take until the first
	// piece of its text or its thoughts arrives. Zero is no limit of its own.
	FirstToken time.Duration

	// Retry says how often, and after what waits, a question is asked again. Nil is
	// the default of [Retry].
	Retry *RetryOptions
}

// Open returns a model that is ready for production. The text names its provider and
// the model, such as "openai:gpt-5.1", "anthropic:claude-sonnet-4-5" or
// "ollama:qwen3:8b". Providers are
//
//	openai      OPENAI_API_KEY
//	anthropic   ANTHROPIC_API_KEY
//	ollama      OLLAMA_HOST if it is not on this machine
//	gemini      GEMINI_API_KEY
//	mistral     MISTRAL_API_KEY
//	groq        GROQ_API_KEY
//	openrouter  OPENROUTER_API_KEY
//	deepseek    DEEPSEEK_API_KEY
//	xai         XAI_API_KEY
//	together    TOGETHER_API_KEY
//	vllm        no key; BaseURL if it is not on this machine
//	lmstudio    no key; BaseURL if it is not on this machine
//
// A server that speaks OpenAI's protocol and is not among them is openai with a
// BaseURL.
//
// A question that fails because of the provider or the way to it is asked again, as
// by [Retry], after the wait that the provider asks for. Each attempt has a limit of
// its own. No temperature is sent unless a call asks for one. The model states its
// [Capabilities].
func Open(model string, o *OpenOptions) (llms.Model, error) {
	if o == nil {
		o = &OpenOptions{}
	}
	provider, name, _ := strings.Cut(model, ":")
	if strings.TrimSpace(name) == "" {
		return nil, fmt.Errorf(`models: %q does not name a provider and a model; write both, such as "openai:gpt-5.1"`, model)
	}
	if !slices.Contains(providers(), provider) {
		return nil, fmt.Errorf("models: provider %q of model %q is unknown; use one of %s, or openai with a BaseURL",
			provider, model, strings.Join(providers(), ", "))
	}
	opened, err := open(provider, name, o)
	if e, ok := errors.AsType[*Error](err); ok && e.Err != nil {
		err = e.Err // nothing was asked yet
	}
	if variable := strings.ToUpper(provider) + "_BASE_URL"; err != nil && o.BaseURL == "" && os.Getenv(variable) != "" {
		err = fmt.Errorf("%w (%s is set)", err, variable)
	}
	if err != nil {
		return nil, fmt.Errorf("models: cannot open %q: %w", model, err)
	}
	whole := cmp.Or(max(o.Attempt, 0), 10*time.Minute)
	return Retry(wrap(opened, attempts{opened, whole, o.FirstToken}.generate), o.Retry), nil
}

// providers returns the names of providers, as [Open] documents them.
func providers() []string {
	return []string{
		"openai", "anthropic", "ollama", "gemini", "mistral", "groq", "openrouter", "deepseek", "xai", "together",
		"vllm", "lmstudio",
	}
}

func open(provider, name string, o *OpenOptions) (llms.Model, error) {
	url := cmp.Or(o.BaseURL, os.Getenv(strings.ToUpper(provider)+"_BASE_URL"))
	switch provider {
	case "anthropic":
		return anthropic.New(name, &anthropic.Options{
			Key: o.Key, BaseURL: url, Client: o.Client, MaxTokens: o.MaxTokens, Extra: o.Extra,
		})
	case "ollama":
		return ollama.New(name, &ollama.Options{
			Key: o.Key, BaseURL: url, Client: o.Client, MaxTokens: o.MaxTokens, Extra: o.Extra, Context: o.Context,
		})
	}
	return openai.New(name, &openai.Options{
		Key: o.Key, BaseURL: url, Client: o.Client, MaxTokens: o.MaxTokens, Extra: o.Extra, Dialect: provider,
	})
}

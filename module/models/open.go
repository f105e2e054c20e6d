package models

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// OpenOptions configures [Open]. Nil and the zero value mean the defaults.
type OpenOptions struct {
	// Key is the API key. If empty, it is read from the provider's environment variable, such as OPENAI_API_KEY.
	Key string

	// Token, if set, returns a bearer token for each request, which is sent in place of the key, such as a token of
	// Microsoft Entra ID for Azure, or of the token sources of golang.org/x/oauth2/google for Vertex AI. It may be
	// called concurrently, and should keep the token until it expires. If it fails, the call fails with [KindAuth], or
	// with the [Error] that it returns.
	Token func(context.Context) (string, error)

	// BaseURL is the provider's URL. If empty, it is read from the provider's environment variable, such as
	// OPENAI_BASE_URL, AZURE_OPENAI_ENDPOINT or OLLAMA_HOST, and defaults to the public address.
	BaseURL string

	// Client makes the requests. Nil means a client without a timeout, since Attempt and the context limit a call.
	Client *http.Client

	// Project and Location are those of Vertex AI. If empty, they are read from GOOGLE_CLOUD_PROJECT and
	// GOOGLE_CLOUD_LOCATION; the default location is global.
	Project, Location string

	// MaxTokens limits the length of a reply, including reasoning. Zero means the provider's limit; for Anthropic,
	// which requires a limit, 16,000 tokens plus the tokens that a call allows for thinking. A call's
	// llms.WithMaxTokens overrides it.
	MaxTokens int

	// Context is the size of Ollama's context in tokens (num_ctx). Zero means large enough
	// for the prompt and the reply. Ollama reloads a model when the size changes, so Writ
	// increases it but never decreases it. Other providers ignore it.
	Context int

	// Extra is merged into the JSON of every request, for members that Writ does not know, such as {"service_tier":
	// "auto"}: objects are merged, other values are replaced, and nil removes a member. Gemini's cached content is
	// named in this way: {"cachedContent": "cachedContents/NAME"}. A model with cached content calls no further tools.
	Extra map[string]any

	// Attempt limits the duration of one attempt. An attempt that takes longer fails with [KindTransient] and is
	// retried. Zero means 10 minutes, because models that think take minutes.
	Attempt time.Duration

	// Retry configures the retries. Nil means the defaults of [Retry].
	Retry *RetryOptions
}

// Open returns a model that is ready for production. The text names the provider and the
// model, such as "openai:gpt-5.1", "anthropic:claude-sonnet-4-5" or "ollama:qwen3:8b". The
// providers and their environment variables are
//
//	openai            OPENAI_API_KEY
//	openai-responses  OPENAI_API_KEY
//	azure             AZURE_OPENAI_ENDPOINT, and AZURE_OPENAI_API_KEY or OpenOptions.Token
//	azure-responses   as azure
//	anthropic         ANTHROPIC_API_KEY
//	ollama            OLLAMA_HOST, if not on this machine
//	gemini            GEMINI_API_KEY
//	vertex            GOOGLE_API_KEY; or Token, with GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION
//	mistral           MISTRAL_API_KEY
//	groq              GROQ_API_KEY
//	openrouter        OPENROUTER_API_KEY
//	deepseek          DEEPSEEK_API_KEY
//	xai               XAI_API_KEY
//	together          TOGETHER_API_KEY
//	vllm              no key; BaseURL, if not on this machine
//	lmstudio          no key; BaseURL, if not on this machine
//
// The providers openai-responses and azure-responses use OpenAI's Responses API, so that models keep their reasoning
// between turns; nothing is stored at the provider. The others with OpenAI's models use chat completions, as most
// servers with OpenAI's protocol do: for those, use openai with a BaseURL. For azure, the model is the name of a
// deployment, and BaseURL the endpoint of the resource, such as https://NAME.openai.azure.com. A BaseURL with a path is
// used as it is, and may have the query api-version.
//
// Requests that fail because of the provider or the network are retried, as by [Retry]. Each attempt has its own time
// limit. No temperature is sent unless a call sets one. The model states its [Capabilities].
func Open(model string, o *OpenOptions) (llms.Model, error) {
	if o == nil {
		o = &OpenOptions{}
	}
	provider, name, _ := strings.Cut(model, ":")
	if strings.TrimSpace(name) == "" {
		return nil, fmt.Errorf(
			`models: %q does not name a provider and a model; write both, such as "openai:gpt-5.1"`, model)
	}
	at := slices.Index(names(), provider)
	if at < 0 {
		return nil, fmt.Errorf("models: provider %q of model %q is unknown; use one of %s, or openai with a BaseURL",
			provider, model, strings.Join(names(), ", "))
	}
	s := schemes()[at]
	opened, err := s.open(name, s.options(o))
	if e, ok := errors.AsType[*Error](err); ok && e.Err != nil {
		err = e.Err // nothing was sent yet
	}
	if url, variable := s.baseURL(); err != nil && o.BaseURL == "" && url != "" {
		err = fmt.Errorf("%w (%s is set)", err, variable)
	}
	if err != nil {
		return nil, fmt.Errorf("models: cannot open %q: %w", model, err)
	}
	return Retry(wire.Limited(opened, o.Attempt), o.Retry), nil
}

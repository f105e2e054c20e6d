// Package openai is a model that speaks OpenAI's chat completions: OpenAI itself, and each
// provider and server that speaks a dialect of that protocol.
//
//	package main
//
//	import (
//		"context"
//		"fmt"
//		"log"
//
//		"github.com/tmc/langchaingo/llms"
//		"github.com/writ-go/writ/module/models/openai"
//	)
//
//	func main() {
//		model, err := openai.New("mistral-large-latest", &openai.Options{Dialect: "mistral"})
//		if err != nil {
//			log.Fatal(err)
//		}
//		answer, err := llms.GenerateFromSinglePrompt(context.Background(), model, "What is a writ?")
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(answer)
//	}
//
// models.Open returns such a model that also retries. A model of this package asks once.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// Options are the options of a [Model]. Nil means the defaults.
type Options struct {
	// Dialect names the provider whose dialect to use: openai, gemini, mistral, groq,
	// openrouter, deepseek, xai, together, vllm or lmstudio. Empty means openai.
	Dialect string

	// Key is the provider's key. If empty, it is read from the environment variable of the
	// dialect, such as OPENAI_API_KEY.
	Key string

	// BaseURL is the address of the API, such as https://api.openai.com/v1. Empty means
	// the provider's.
	BaseURL string

	// Client makes the requests. Nil means a client without a timeout.
	Client *http.Client

	// MaxTokens limits the reply, including reasoning. Zero means the provider's default. A
	// call's llms.WithMaxTokens overrides it.
	MaxTokens int

	// Extra is merged into the JSON of each request: objects are merged, other values are
	// replaced, and nil removes the field.
	Extra map[string]any
}

// Model is an [llms.Model]. It is safe for concurrent use.
type Model struct {
	name      string
	maxTokens int
	dialect   dialect
	client    wire.Client
	schemas   wire.Schemas
}

var (
	_ llms.Model = (*Model)(nil)
	_ lm.Capable = (*Model)(nil)
)

// New returns a model by its name. It makes no request.
func New(model string, o *Options) (*Model, error) {
	if o == nil {
		o = &Options{}
	}
	all := dialects()
	name := cmp.Or(o.Dialect, "openai")
	d, ok := all[name]
	if !ok {
		return nil, invalid("the dialect %q does not exist; choose one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	if model == "" {
		return nil, invalid("the model has no name; pass one that %s knows", name)
	}
	key, err := wire.Key(o.Key, d.variable)
	if err != nil && !d.local {
		return nil, err
	}
	base, err := wire.BaseURL(cmp.Or(o.BaseURL, d.url))
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	d.name = name
	return &Model{
		name: model, maxTokens: o.MaxTokens, dialect: d,
		client: wire.Client{
			Provider: name, Variable: d.variable, BaseURL: base, Header: header, Key: key, HTTP: o.Client,
			Extra: maps.Clone(o.Extra),
		},
	}, nil
}

// invalid is the error of a request that cannot be sent.
func invalid(format string, args ...any) error {
	return &lm.Error{Kind: lm.KindInvalid, Err: fmt.Errorf(format, args...)}
}

// Capabilities returns what the provider's current models can do.
func (m *Model) Capabilities() lm.Capabilities {
	return lm.Capabilities{
		Model: m.name, Schema: !m.dialect.noSchema, Tools: true, Thinking: true, Vision: !m.dialect.noVision,
	}
}

// Call implements [llms.Model].
func (m *Model) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// GenerateContent implements [llms.Model]. An error is a *models.Error, or what a streaming
// function returned.
func (m *Model) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	call := lm.Options(options)
	params := lm.ParamsOf(ctx)
	body, err := m.request(call, params, lm.SamplingOf(options))
	if err != nil {
		return nil, err
	}
	if body["messages"], err = m.messages(messages); err != nil {
		return nil, err
	}
	if m.dialect.noSchema {
		params.Schema = nil
	}
	model := cmp.Or(call.Model, m.name)
	return wire.Send(&m.schemas, model, params.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		if schema == nil {
			return m.send(ctx, body, call)
		}
		constrained := maps.Clone(body)
		constrained["response_format"] = map[string]any{
			"type":        "json_schema",
			"json_schema": map[string]any{"name": "answer", "schema": schema, "strict": true},
		}
		return m.send(ctx, constrained, call)
	})
}

// send makes one request.
func (m *Model) send(ctx context.Context, body map[string]any, call llms.CallOptions) (*llms.ContentResponse, error) {
	answer, err := m.client.Post(ctx, "/chat/completions", body)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	var c completion
	if body["stream"] == true {
		err = c.stream(ctx, answer, call)
	} else {
		err = answer.Decode(ctx, &c)
	}
	if err != nil {
		return nil, err
	}
	return c.response(m.dialect.name, answer)
}

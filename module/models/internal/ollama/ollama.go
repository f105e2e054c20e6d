// Package ollama is the provider of the models that an Ollama server runs. It supports structured output, tool calls,
// thinking and images, and sizes the context to fit each prompt.
package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

const provider = "ollama" // the Provider of an [lm.Message]

// Model is an [llms.Model]. It is safe for concurrent use.
type Model struct {
	lm.CapableFunc
	model   string
	options wire.Options
	client  wire.Client
	schemas wire.Schemas

	mu     sync.Mutex
	models map[string]modelInfo // by name
}

// New returns the model with a name such as "qwen3" or "gpt-oss:20b". It makes no request.
func New(model string, o *wire.Options) (*Model, error) {
	client, err := wire.NewClient(provider, "OLLAMA_API_KEY", hostURL(os.Getenv("OLLAMA_HOST")), true, o)
	if err != nil {
		return nil, err
	}
	m := &Model{model: model, options: *o, models: map[string]modelInfo{}, client: client}
	// Not every model can call tools, think or read images.
	can := lm.Capabilities{Model: model, Schema: true, Tools: true, Thinking: true, Vision: true,
		MaxTokens: o.MaxTokens}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: func() lm.Capabilities { return can }}
	return m, nil
}

// hostURL converts a value of OLLAMA_HOST, such as ":8080", to a URL. For "0.0.0.0", with which a server listens on all
// addresses, the URL has localhost.
func hostURL(host string) string {
	if host = strings.TrimSpace(host); strings.Contains(host, "://") {
		return host
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = host, "11434"
	}
	if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
		name = "localhost"
	}
	return (&url.URL{Scheme: "http", Host: net.JoinHostPort(name, port)}).String()
}

// generate returns the model's reply as one choice. It streams the reply if the call options contain a streaming
// function. A prompt that does not fit into the model's context is an error.
func (m *Model) generate(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error) {
	p, o := lm.ParamsOf(ctx), lm.Options(options)
	r, err := m.newRequest(ctx, p, messages, options)
	if err != nil {
		return nil, err
	}
	send := func(schema json.RawMessage) (*llms.ContentResponse, error) { return m.send(ctx, r, schema, o) }
	response, err := m.schemas.Send(r.model, p.Schema, send)
	return response, m.explain(err, r)
}

// explain rewords errors that are specific to Ollama, to say what to do about them.
func (m *Model) explain(err error, r *request) error {
	e, ok := errors.AsType[*lm.Error](err)
	if !ok {
		return err
	}
	c := *e
	switch text := e.Error(); {
	case errors.Is(err, syscall.ECONNREFUSED):
		base, _ := url.Parse(m.client.BaseURL) // NewClient has checked it
		base.User = nil
		c.Err = fmt.Errorf("ollama is not running at %s; start it with \"ollama serve\", "+
			"or set OLLAMA_HOST or the base URL", base)
	case e.Status == http.StatusNotFound && strings.Contains(text, "not found"):
		c.Err = fmt.Errorf("ollama does not have the model %q; get it with \"ollama pull %s\"", r.model, r.model)
	case e.Status == http.StatusBadRequest && strings.Contains(text, "does not support tools"):
		c.Err = fmt.Errorf("the model %q cannot call tools; use one that can, from ollama.com/search?c=tools", r.model)
	case e.Status == http.StatusBadRequest && tooLong(text):
		c.Kind = lm.KindContextTooLong
		c.Err = fmt.Errorf("the prompt does not fit into the context of %d tokens (num_ctx); "+
			"shorten it, raise OpenOptions.Context, or use a model with a larger context", r.context)
	default:
		return err
	}
	return &c
}

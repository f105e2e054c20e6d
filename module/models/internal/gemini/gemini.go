// Package gemini is the provider of Gemini models, through generateContent of the Gemini API and of Vertex AI. It
// supports structured output, several function calls in one reply, thinking, thought signatures, cached content,
// images and other media.
package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// The providers of an [lm.Message]. Neither of the two services accepts the other's thought signatures.
const (
	provider = "gemini"
	vertex   = "vertex"
)

// Model is an [llms.Model]. It is safe for concurrent use.
type Model struct {
	lm.CapableFunc
	model     string
	parent    string // the path before the model's name, such as "/v1beta/"
	maxTokens int
	cached    bool // the requests name cached content, which includes the system message and the tools
	client    wire.Client
	schemas   wire.Schemas
}

// New returns a model of the Gemini API, such as "gemini-3-pro-preview". It makes no request.
func New(model string, o *wire.Options) (*Model, error) {
	client, err := wire.NewClient(provider, "GEMINI_API_KEY", "https://generativelanguage.googleapis.com", false, o)
	if err != nil {
		return nil, err
	}
	client.BaseURL = strings.TrimSuffix(strings.TrimSuffix(client.BaseURL, "/openai"), "/v1beta")
	client.Header = http.Header{"X-Goog-Api-Key": {client.Key}}
	return newModel(model, "/v1beta/", client, o), nil
}

// NewVertex returns a model of Vertex AI. With Options.Token, it is a model of a project; without, it is called with an
// API key. It makes no request.
func NewVertex(model string, o *wire.Options) (*Model, error) {
	const version = "/v1beta1/"
	if o.Token == nil {
		client, err := wire.NewClient(vertex, "GOOGLE_API_KEY", "https://aiplatform.googleapis.com", false, o)
		if err != nil {
			return nil, err
		}
		client.Header = http.Header{"X-Goog-Api-Key": {client.Key}}
		return newModel(model, version, client, o), nil
	}
	project := cmp.Or(o.Project, os.Getenv("GOOGLE_CLOUD_PROJECT"))
	if project == "" {
		return nil, wire.Invalid("GOOGLE_CLOUD_PROJECT is not set; set it or pass a project")
	}
	location := cmp.Or(o.Location, os.Getenv("GOOGLE_CLOUD_LOCATION"), "global")
	client, err := wire.NewClient(vertex, "", host(location), false, o)
	if err != nil {
		return nil, err
	}
	parent := version + "projects/" + url.PathEscape(project) + "/locations/" + url.PathEscape(location) + "/"
	return newModel(model, parent, client, o), nil
}

// host returns the URL of Vertex AI in a location.
func host(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

func newModel(model, parent string, client wire.Client, o *wire.Options) *Model {
	m := &Model{model: model, parent: parent, maxTokens: o.MaxTokens, client: client}
	m.cached = o.Extra["cachedContent"] != nil
	can := lm.Capabilities{Model: model, Schema: true, Tools: !m.cached, Thinking: true, Vision: true,
		MaxTokens: m.maxTokens}
	m.CapableFunc = lm.CapableFunc{Func: m.generate, States: func() lm.Capabilities { return can }}
	return m
}

// path returns the path of a method. A name with a slash is a resource name, such as that of a tuned model.
func (m *Model) path(model, method string) string {
	before, kind := m.parent, "models/"
	if m.client.Provider == vertex {
		kind = "publishers/google/models/"
	}
	if strings.Contains(model, "/") {
		kind = ""
	}
	if strings.HasPrefix(model, "projects/") {
		before = "/v1beta1/"
	}
	segments := strings.Split(model, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return before + kind + strings.Join(segments, "/") + ":" + method
}

// generate returns the model's reply as one choice. It streams the reply if the call options contain a
// streaming function.
func (m *Model) generate(
	ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
) (*llms.ContentResponse, error) {
	p, o := lm.ParamsOf(ctx), lm.Options(options)
	model := cmp.Or(o.Model, m.model)
	body, err := m.request(model, p, messages, options)
	if err != nil {
		return nil, err
	}
	return m.schemas.Send(model, p.Schema, func(schema json.RawMessage) (*llms.ContentResponse, error) {
		method := "generateContent"
		if wire.Streams(o) {
			method = "streamGenerateContent?alt=sse"
		}
		answer, err := m.client.Post(ctx, m.path(model, method), constrained(body, schema))
		if err != nil {
			return nil, err
		}
		defer answer.Close()
		r := &reply{provider: m.client.Provider, answer: answer, options: o}
		events := answer.Whole(ctx)
		if wire.Streams(o) {
			events = answer.Events(ctx)
		}
		err = answer.Each(events, func(e wire.Event) (int, error) { return r.add(ctx, e.Data) })
		if err != nil {
			return nil, err
		}
		return r.response()
	})
}

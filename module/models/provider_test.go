package models_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// server answers requests of a provider and records them.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
}

func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("the request is not JSON: %v", err)
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// last returns the body of the last request.
func (s *server) last(t *testing.T) map[string]any {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.bodies) == 0 {
		t.Fatal("there was no request")
	}
	return s.bodies[len(s.bodies)-1]
}

func says(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

func fails(status int, header http.Header, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// streams sends events, a blank line after each.
func streams(events ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, e+"\n\n")
			w.(http.Flusher).Flush()
		}
	}
}

// cuts sends the beginning of a longer body and breaks the connection.
func cuts(contentType, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// provider is a provider of langchaingo.
type provider string

const (
	openAI      provider = "openai"
	anthropicAI provider = "anthropic"
)

func (p provider) open(t testing.TB, url string) llms.Model {
	t.Helper()
	var model llms.Model
	var err error
	switch p {
	case openAI:
		model, err = openai.New(openai.WithToken("sk-test"), openai.WithModel("gpt-4o"), openai.WithBaseURL(url))
	case anthropicAI:
		model, err = anthropic.New(anthropic.WithToken("sk-test"), anthropic.WithModel("claude-sonnet-4-5"),
			anthropic.WithBaseURL(url))
	}
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func question(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
}

const (
	openAIReply = `{"choices":[{"message":{"role":"assistant","content":"Paris"},"finish_reason":"stop"}],` +
		`"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`
	anthropicReply = `{"type":"message","role":"assistant","content":[{"type":"text","text":"Paris"}],` +
		`"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":3}}`
)

func eachProvider(t *testing.T, test func(t *testing.T, p provider)) {
	for _, p := range []provider{openAI, anthropicAI} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

func failure(t *testing.T, err error) *models.Error {
	t.Helper()
	e := (*models.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("%v is not a *models.Error", err)
	}
	return e
}

// bound returns a model whose calls have a budget of their own.
func bound(m llms.Model, l budget.Limits) llms.Model {
	meter := lm.MeterOf(budget.With(context.Background(), l))
	return lm.Wrap(m, func(ctx context.Context, messages []llms.MessageContent,
		options []llms.CallOption) (*llms.ContentResponse, error) {
		return lm.Generate(lm.WithMeter(ctx, meter), m, messages, options...)
	})
}

// told is a model made from a function.
type told func() (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (f told) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse,
	error) {
	return f()
}

// Call implements [llms.Model].
func (f told) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

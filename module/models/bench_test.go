package models_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/openai"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// steady is a model that gives the same reply immediately.
type steady struct{ llms.Model }

// GenerateContent implements [llms.Model].
func (steady) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse,
	error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: "Paris", StopReason: "stop", GenerationInfo: map[string]any{"PromptTokens": 10, "CompletionTokens": 3},
	}}}, nil
}

// longQuestion is a conversation of 20 KB.
func longQuestion() []llms.MessageContent {
	return []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, strings.Repeat("Answer in one word. ", 500)),
		llms.TextParts(llms.ChatMessageTypeHuman, strings.Repeat("What is the capital? ", 500)),
	}
}

// against measures raw and ours in turn. The metric x-raw is the median of ours divided by raw.
func against(b *testing.B, raw, ours func() error) {
	b.Helper()
	clock := func(f func() error) time.Duration {
		start := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	clock(raw)
	clock(ours)
	var ratios []float64
	var each []time.Duration
	for b.Loop() {
		floor, took := clock(raw), clock(ours)
		ratios, each = append(ratios, float64(took)/float64(floor)), append(each, took)
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(float64(each[len(each)/2]), "ns/ours")
}

// BenchmarkHTTP calls the OpenAI provider over loopback. Raw is the provider alone; ours is the
// provider with all wrappers except the cache.
func BenchmarkHTTP(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		says(openAIReply)(w, r)
	}))
	defer server.Close()
	plain, err := openai.New(openai.WithToken("sk-test"), openai.WithBaseURL(server.URL))
	if err != nil {
		b.Fatal(err)
	}
	rates := &models.Rates{RequestsPerMinute: 1e9, Burst: 1e9, TokensPerMinute: 1e12, Concurrent: 8}
	full := models.Retry(bound(models.RateLimit(plain, rates), budget.Limits{Calls: 1e9}), nil)
	against(b,
		func() error { _, err := plain.GenerateContent(b.Context(), longQuestion()); return err },
		func() error { _, err := lm.Ask(b.Context(), full, lm.Call{}, longQuestion()); return err })
}

// BenchmarkCacheHit compares a cached reply to a prompt of 20 KB with a model that replies
// immediately.
func BenchmarkCacheHit(b *testing.B) {
	model := newCache(b).Model(steady{}, "a")
	against(b,
		func() error { _, err := lm.Ask(b.Context(), steady{}, lm.Call{}, longQuestion()); return err },
		func() error { _, err := lm.Ask(b.Context(), model, lm.Call{}, longQuestion()); return err })
}

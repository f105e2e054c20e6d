package models_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// BenchmarkTransport asks openai's provider over loopback: raw is the provider
// alone, ours is the boundary with the transport. It takes out the temperature,
// changes nothing where one is asked for, and gives an image its right form.
func BenchmarkTransport(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		says(openAIReply)(w, r)
	}))
	defer server.Close()
	plain, mended := openAI.open(b, server.URL, nil), openAI.open(b, server.URL, &models.Transport{})
	image := append(longQuestion(), llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
		llms.TextPart("What is it?"), llms.BinaryPart("image/png", make([]byte, 2<<20)),
	}})
	for _, c := range []struct {
		name     string
		messages []llms.MessageContent
		options  []llms.CallOption
	}{
		{"20KB", longQuestion(), nil},
		{"20KB-unchanged", longQuestion(), []llms.CallOption{llms.WithTemperature(0)}},
		{"image-2MB", image, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			against(b,
				func() error { _, err := plain.GenerateContent(b.Context(), c.messages, c.options...); return err },
				func() error { _, err := lm.Ask(b.Context(), mended, lm.Call{}, c.messages, c.options...); return err })
		})
	}
}

package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/lm"
)

// Ollama loads a model with a context of num_ctx tokens, by default a few thousand. If a
// prompt does not fit, Ollama silently drops the oldest messages, then the start of the
// prompt until the rest fills half of the context. Three things prevent that:
//
//   - num_ctx is set to fit each prompt.
//   - "truncate": false makes Ollama reject a prompt that does not fit; see [tooLong].
//   - Versions before October 2025 ignore that field. The number of prompt tokens that they report shows whether they
//     truncated the prompt; see [request.truncated].

const (
	minContext = 4096
	maxContext = 1 << 24
	replyRoom  = 4096 // tokens that are reserved for a reply without a limit
	thinkRoom  = 8192 // tokens that are reserved if the model thinks
	imageSize  = 1024 // approximate number of tokens in an image
	turnSize   = 16   // approximate tokens that a template adds to a message
)

// modelInfo has what Ollama reported about a model, and its largest context.
type modelInfo struct {
	described bool // Ollama has described the model; before that, it is assumed to think
	thinking  bool
	limit     int // the context that it was trained with; 0 if unknown
	context   int // the largest num_ctx that was needed so far
}

func (m *Model) info(model string) modelInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.models[model]
}

// describe requests a model's description, once. If that fails, the request that follows reports the error.
func (m *Model) describe(ctx context.Context, model string) modelInfo {
	if a := m.info(model); a.described {
		return a
	}
	unknown := modelInfo{thinking: true}
	answer, err := m.client.Post(ctx, "/api/show", map[string]any{"model": model})
	if err != nil {
		return unknown
	}
	defer answer.Close()
	var show struct {
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
		Capabilities []string
	}
	if answer.Decode(ctx, &show) != nil || show.Capabilities == nil {
		return unknown
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.models[model]
	a.described, a.thinking = true, slices.Contains(show.Capabilities, "thinking")
	for name, value := range show.ModelInfo { // such as llama.context_length
		if strings.HasSuffix(name, ".context_length") {
			_ = json.Unmarshal(value, &a.limit)
		}
	}
	m.models[model] = a
	return a
}

// contextFor returns num_ctx for a prompt with the given number of bytes and additional tokens.
func (m *Model) contextFor(ctx context.Context, model string, bytes, tokens int) int {
	if m.options.Context > 0 {
		return m.options.Context
	}
	size := minContext
	for size < bytes/3+tokens && size < maxContext { // code and Chinese have about three bytes per token
		size *= 2
	}
	if size > 2*minContext { // every current model supports at least that
		if limit := m.describe(ctx, model).limit; limit > 0 {
			size = min(size, limit)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.models[model]
	a.context = max(a.context, size)
	m.models[model] = a
	return a.context
}

// tooLong reports whether Ollama rejected a prompt because it does not fit.
func tooLong(message string) bool {
	return strings.Contains(message, "context length") || strings.Contains(message, "context size")
}

// truncated returns an error if Ollama read so few tokens that it must have truncated the prompt. It considers only
// prompts that exceed the context at four bytes per token, because old versions do not count cached tokens. Tokenizers
// average fewer than six bytes per token, so a lower count means that part of the prompt is missing.
func (r *request) truncated(read int) error {
	if read == 0 || r.bytes/4 <= r.context || read >= r.bytes/6 {
		return nil
	}
	return &lm.Error{Kind: lm.KindContextTooLong, MaybeCharged: true, Err: fmt.Errorf(
		"ollama truncated the prompt: it read %d of about %d tokens, with a context of %d; raise OpenOptions.Context, "+
			"shorten the prompt, or use a model with a larger context", read, r.bytes/4, r.context)}
}

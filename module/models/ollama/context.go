package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/writ-go/writ/module/internal/lm"
)

// Ollama loads a model with a context of num_ctx tokens. By default that is a few thousand,
// and what does not fit is cut off: whole messages first, then the start of the prompt, down
// to half of the context. Three things keep that from happening unseen.
//
//   - num_ctx is set to fit each prompt.
//   - "truncate": false makes Ollama refuse a prompt that does not fit; see [tooLong].
//   - Versions before October 2025 do not know that field. They report how many tokens of
//     the prompt they read, which shows what they cut off; see [request.cutOff].

const (
	minContext = 4096
	maxContext = 1 << 24
	replyRoom  = 4096 // tokens that are kept for a reply without a limit
	thinkRoom  = 8192 // the same, of a model that thinks
	imageSize  = 1024 // tokens that an image takes, roughly
	turnSize   = 16   // tokens that a template puts around a message, roughly
)

// about is what is known of a model.
type about struct {
	described bool // Ollama has answered; if not, the model is taken to think
	thinking  bool
	limit     int // the context that it was trained with; 0 if it is not known
	context   int // the largest num_ctx that was needed so far
}

func (m *Model) about(model string) about {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.models[model]
}

// describe asks Ollama about a model, once. A server that does not answer tells nothing: the
// request that follows reports what is wrong.
func (m *Model) describe(ctx context.Context, model string) about {
	if a := m.about(model); a.described {
		return a
	}
	unknown := about{thinking: true}
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

// contextFor returns num_ctx for a prompt of some bytes and the tokens beyond it.
func (m *Model) contextFor(ctx context.Context, model string, bytes, tokens int) int {
	if m.options.Context > 0 {
		return m.options.Context
	}
	size := minContext
	for size < bytes/3+tokens && size < maxContext { // code or Chinese has three bytes a token
		size *= 2
	}
	if size > 2*minContext { // which every current model has
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

// tooLong knows how Ollama refuses a prompt that does not fit.
func tooLong(message string) bool {
	return strings.Contains(message, "context length") || strings.Contains(message, "context size")
}

// cutOff returns an error if Ollama read so little of the prompt that it must have cut some
// of it off. That can only be where the prompt, at four bytes a token, is longer than the
// context; six bytes a token is more than tokenizers reach. A prompt that is shorter raises
// no alarm, whatever the count: versions before 2025 leave out what was cached.
func (r *request) cutOff(read int) error {
	if read == 0 || r.bytes/4 <= r.context || read >= r.bytes/6 {
		return nil
	}
	return &lm.Error{Kind: lm.ContextTooLong, MaybeCharged: true, Err: fmt.Errorf(
		"ollama cut the prompt off: it read %d tokens of about %d, with a context of %d; "+
			"raise Options.Context, shorten the prompt, or use a model with a larger context", read, r.bytes/4, r.context)}
}

package lm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/tmc/langchaingo/llms"
)

// Memo keeps the texts of replies, so that repeated requests are not sent again. The zero value is empty.
type Memo struct {
	mu    sync.Mutex
	texts map[[sha256.Size]byte]string
}

// memoSize is the number of replies after which a Memo forgets them all.
const memoSize = 500

// Model returns a model that answers from the memo, as from a cache, or else asks the given model.
func (m *Memo) Model(model llms.Model) llms.Model {
	return Wrap(model, func(
		ctx context.Context, messages []llms.MessageContent, options []llms.CallOption,
	) (*llms.ContentResponse, error) {
		name := cmp.Or(Options(options).Model, CapabilitiesOf(model).Model)
		key := sha256.Sum256(fmt.Appendf(nil, "%q %q", name, Transcript(messages, nil, nil)))
		if text := m.keep(key, ""); text != "" {
			info := map[string]any{CachedKey: true}
			choice := &llms.ContentChoice{Content: text, StopReason: "stop", GenerationInfo: info}
			return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
		}
		response, err := Generate(ctx, model, messages, options...)
		if reply := Merge(response); err == nil && reply.Whole() {
			m.keep(key, reply.Text)
		}
		return response, err
	})
}

// keep keeps the text of a reply, unless it is "". It returns the text that is kept, or "".
func (m *Memo) keep(key [sha256.Size]byte, text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text == "" {
		return m.texts[key]
	}
	if m.texts == nil || len(m.texts) >= memoSize {
		m.texts = map[[sha256.Size]byte]string{}
	}
	m.texts[key] = text
	return text
}

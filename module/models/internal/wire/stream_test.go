package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/gemini"
	"github.com/writ-go/writ/module/models/internal/ollama"
	"github.com/writ-go/writ/module/models/internal/openai"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// endless answers every request with a beginning and a piece that is repeated 250 times.
type endless struct {
	begin, piece string
	read         int // bytes
}

// RoundTrip implements [http.RoundTripper].
func (e *endless) RoundTrip(*http.Request) (*http.Response, error) {
	pieces := []io.Reader{strings.NewReader(e.begin)}
	for range 250 {
		pieces = append(pieces, strings.NewReader(e.piece))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(io.TeeReader(io.MultiReader(pieces...), e))}, nil
}

// Write implements [io.Writer].
func (e *endless) Write(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// provider is a model with the beginning of its streams, and events with %s for a text, for reasoning, for the
// arguments of a tool call and for tool calls.
type provider struct {
	model                                         llms.Model
	begin, text, reasoning, arguments, calls, one string
}

func providers(t *testing.T, e *endless) map[string]provider {
	t.Helper()
	client := &http.Client{Transport: e}
	a, err1 := anthropic.New("m", &wire.Options{Key: "key", Client: client})
	b, err2 := openai.New("m", &wire.Options{Dialect: "openai", Key: "key", Client: client})
	c, err3 := ollama.New("m", &wire.Options{Client: client, Context: 8192})
	d, err4 := gemini.New("m", &wire.Options{Key: "key", Client: client})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	delta := `data: {"type":"content_block_delta","index":0,"delta":{"type":%q,%q:"%%s"}}` + "\n\n"
	choice := `data: {"choices":[{"delta":{%s}}]}` + "\n\n"
	parts := `data: {"candidates":[{"content":{"parts":[%s]}}]}` + "\n\n"
	line := `{"message":{%s}}` + "\n"
	return map[string]provider{
		"anthropic": {
			model: a, begin: `data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}` + "\n\n",
			text: fmt.Sprintf(delta, "text_delta", "text"), reasoning: fmt.Sprintf(delta, "thinking_delta", "thinking"),
			arguments: fmt.Sprintf(delta, "input_json_delta", "partial_json"),
			calls:     `data: {"type":"message_start","message":{"content":[%s]}}` + "\n\n", one: `{"type":"tool_use"}`,
		},
		"openai": {
			model: b, text: fmt.Sprintf(choice, `"content":"%s"`), reasoning: fmt.Sprintf(choice, `"reasoning":"%s"`),
			arguments: fmt.Sprintf(choice, `"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]`),
			calls:     fmt.Sprintf(choice, `"tool_calls":[%s]`), one: `{"id":"a"}`,
		},
		"ollama": {
			model: c, text: fmt.Sprintf(line, `"content":"%s"`), reasoning: fmt.Sprintf(line, `"thinking":"%s"`),
			arguments: fmt.Sprintf(line, `"tool_calls":[{"function":{"arguments":{"a":"%s"}}}]`),
			calls:     fmt.Sprintf(line, `"tool_calls":[%s]`), one: `{}`,
		},
		"gemini": {
			model: d, text: fmt.Sprintf(parts, `{"text":"%s"}`), reasoning: fmt.Sprintf(parts, `{"text":"%s","thought":true}`),
			arguments: fmt.Sprintf(parts, `{"functionCall":{"args":{"a":"%s"}}}`), calls: parts, one: `{"functionCall":{}}`,
		},
	}
}

// A stream that has too much text, or an event that has too many objects, ends with an error.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"anthropic", "openai", "ollama", "gemini"} {
		for _, part := range []string{"text", "reasoning", "arguments", "calls"} {
			t.Run(name+"/"+part, func(t *testing.T) {
				t.Parallel()
				e := &endless{}
				p := providers(t, e)[name]
				e.begin = p.begin
				text, want := strings.Repeat("x", 1<<20), "a reply of more than 4194304 bytes; set a lower MaxTokens"
				switch part {
				case "text":
					e.piece = fmt.Sprintf(p.text, text)
				case "reasoning":
					e.piece = fmt.Sprintf(p.reasoning, text)
				case "arguments":
					e.piece = fmt.Sprintf(p.arguments, text)
				case "calls":
					e.piece = fmt.Sprintf(p.calls, p.one+strings.Repeat(","+p.one, 30_000))
					want = "an event of more than 262144 elements or 4096 objects"
				}
				_, err := p.model.GenerateContent(t.Context(),
					[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "?")},
					llms.WithStreamingFunc(func(context.Context, []byte) error { return nil }))
				if want = "the model: " + name + " sent " + want; fmt.Sprint(err) != want {
					t.Errorf("error %.200v\nwant %s", err, want)
				}
				if e, ok := errors.AsType[*lm.Error](err); !ok || e.Kind != lm.KindTransient || !e.MaybeCharged {
					t.Errorf("error %+v", e)
				}
				if e.read > 16<<20 {
					t.Errorf("%d bytes were read", e.read)
				}
			})
		}
	}
}

// A reply has at most 128 tool calls.
func TestToolCallsAreBounded(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"anthropic": `{"content":[%s]}`,
		"openai":    `{"choices":[{"message":{"tool_calls":[%s]}}]}`,
		"ollama":    `{"message":{"tool_calls":[%s]},"done":true}`,
		"gemini":    `{"candidates":[{"content":{"parts":[%s]},"finishReason":"STOP"}]}`,
	} {
		for n, want := range map[int]string{128: "<nil>",
			129: "the model: the reply has 129 tool calls; the limit is 128"} {
			e := &endless{}
			p := providers(t, e)[name]
			e.begin = fmt.Sprintf(body, bytes.TrimPrefix(bytes.Repeat([]byte(","+p.one), n), []byte(",")))
			_, err := lm.Generate(t.Context(), p.model,
				[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "?")})
			if fmt.Sprint(err) != want {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	}
}

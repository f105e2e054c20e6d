package lm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
)

// streaming is a provider whose stream is a function.
type streaming func(ctx context.Context, o llms.CallOptions) (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (s streaming) GenerateContent(ctx context.Context, _ []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	return s(ctx, Options(options))
}

// Call implements [llms.Model].
func (s streaming) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func reply(text string) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: "stop"}}}
}

// Chunks that a provider sends after it returned are dropped.
func TestStreamEndsWithAsk(t *testing.T) {
	t.Parallel()
	over, done := make(chan struct{}), make(chan error)
	late := streaming(func(ctx context.Context, o llms.CallOptions) (*llms.ContentResponse, error) {
		err := o.StreamingFunc(ctx, []byte("in time"))
		go func() {
			<-over
			done <- errors.Join(o.StreamingFunc(ctx, []byte("late")), o.StreamingReasoningFunc(ctx, []byte("late"), nil))
		}()
		return reply("in time"), err
	})
	heard := ""
	hear := func(chunk string) { heard += chunk }
	if _, err := Ask(t.Context(), late, Call{OnText: hear, OnReasoning: hear}, hello); err != nil {
		t.Fatal(err)
	}
	close(over)
	if err := <-done; err == nil || heard != "in time" {
		t.Errorf("heard %q, %v", heard, err)
	}
}

// Chunks arrive one at a time, even if the provider sends them concurrently.
func TestStreamIsSerial(t *testing.T) {
	t.Parallel()
	busy := streaming(func(ctx context.Context, o llms.CallOptions) (*llms.ContentResponse, error) {
		done := make(chan error)
		for range 8 {
			go func() { done <- o.StreamingFunc(ctx, []byte("x")) }()
		}
		for range 8 {
			if err := <-done; err != nil {
				return nil, err
			}
		}
		return reply("xxxxxxxx"), nil
	})
	n := 0
	if _, err := Ask(t.Context(), busy, Call{OnText: func(string) { n++ }}, hello); err != nil || n != 8 {
		t.Errorf("heard %d, %v", n, err)
	}
}

// Chunks without text are dropped, and the caller's slice of options is not changed.
func TestStreamOptions(t *testing.T) {
	t.Parallel()
	options := make([]llms.CallOption, 1, 9)
	options[0] = llms.WithMaxTokens(7)
	zero := 0.0
	model := streaming(func(ctx context.Context, o llms.CallOptions) (*llms.ContentResponse, error) {
		if o.MaxTokens != 7 {
			t.Errorf("options %+v", o)
		}
		return reply("x"), o.StreamingFunc(ctx, nil)
	})
	if _, err := Ask(t.Context(), model,
		Call{Temperature: &zero, OnText: func(chunk string) { t.Errorf("heard %q", chunk) }}, hello, options...); err != nil {
		t.Fatal(err)
	}
	if options[:2][1] != nil {
		t.Error("the caller's options were changed")
	}
}

// Streaming functions in the caller's options still work.
func TestStreamChain(t *testing.T) {
	t.Parallel()
	heard := ""
	enough := errors.New("enough")
	options := []llms.CallOption{
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			heard += "theirs " + string(chunk) +
				";"
			return enough
		}),
		llms.WithStreamingReasoningFunc(func(_ context.Context, thought, text []byte) error {
			heard += "theirs " + string(thought) + "/" + string(text) + ";"
			return nil
		}),
	}
	model := streaming(func(ctx context.Context, o llms.CallOptions) (*llms.ContentResponse, error) {
		if err := o.StreamingReasoningFunc(ctx, []byte("r"), []byte("x")); err != nil {
			return nil, err
		}
		return nil, o.StreamingFunc(ctx, []byte("x"))
	})
	hear := func(chunk string) { heard += "ours " + chunk + ";" }
	_, err := Ask(t.Context(), model, Call{OnText: hear, OnReasoning: hear}, hello, options...)
	if !errors.Is(err, enough) || heard != "ours r;theirs r/x;ours x;theirs x;" {
		t.Errorf("heard %s, %v", heard, err)
	}
}

func TestThoughtTags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text            string
		truncated       bool
		thought, answer string
	}{
		{"<think>Hm.</think>\n\nParis", false, "Hm.", "Paris"},
		{"\n<thinking>\nHm.\n</thinking>Paris", false, "Hm.", "Paris"},
		{"<think></think>Paris", false, "", "Paris"},
		{"<think>Hm", true, "Hm", ""},
		{"<think>Hm", false, "", "<think>Hm"},
		{"Paris <think>Hm.</think>", false, "", "Paris <think>Hm.</think>"},
		{"<thin", false, "", "<thin"},
	} {
		reason := "stop"
		if c.truncated {
			reason = "length"
		}
		response := &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: c.text, StopReason: reason}}}
		if got := Merge(response); got.Reasoning != c.thought || got.Text != c.answer {
			t.Errorf("%q: got %q and %q", c.text, got.Reasoning, got.Text)
		}
	}
}

// In JSON mode, some models write white space until they reach the token limit. Text that has been
// examined is not examined again with each chunk.
func TestBlanksAtTheHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rest, text, thought string }{
		{"x", "   x", ""},
		{"", "   ", ""},
		{"<thi", "   <thi", ""},
		{"<think>a</think> b", "b", "a"},
	} {
		var text, thought string
		d := &thoughts{onText: func(s string) { text += s }, onThought: func(s string) { thought += s }}
		for range 3 {
			if d.add(" "); d.held != "" {
				t.Errorf("%q is kept and would be examined again", d.held)
			}
		}
		d.add(c.rest)
		if d.end(); text != c.text || thought != c.thought {
			t.Errorf("blanks and %q: got %q and %q", c.rest, text, thought)
		}
	}
}

// FuzzThoughts compares the streamed text with the complete one.
func FuzzThoughts(f *testing.F) {
	for _, text := range []string{"<think>Hm.</think>\n\nParis", " <thinking>a</think></thinking> b", "Paris", "<thin",
		"<think>a</thi", ""} {
		f.Add(text, 1)
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = min(max(size, 1), 1000)
		var said, thought strings.Builder
		d := &thoughts{onText: func(s string) { said.WriteString(s) }, onThought: func(s string) { thought.WriteString(s) }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			d.add(rest[:n])
			rest = rest[n:]
		}
		d.end()
		wantThought, wantText, found := splitThought(text, true)
		if strings.TrimSpace(thought.String()) != wantThought || said.String() != wantText {
			t.Errorf("%q in pieces of %d: got %q and %q, want %q and %q (%v)", text, size, thought.String(), said.String(),
				wantThought, wantText, found)
		}
	})
}

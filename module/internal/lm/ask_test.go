package lm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// model answers as a provider does.
type model func(ctx context.Context) (*llms.ContentResponse, error)

// GenerateContent implements [llms.Model].
func (m model) GenerateContent(ctx context.Context, _ []llms.MessageContent,
	_ ...llms.CallOption) (*llms.ContentResponse, error) {
	return m(ctx)
}

// Call implements [llms.Model].
func (m model) Call(context.Context, string, ...llms.CallOption) (string, error) { return "", nil }

func says(choices ...*llms.ContentChoice) model {
	return func(context.Context) (*llms.ContentResponse, error) {
		return &llms.ContentResponse{Choices: choices}, nil
	}
}

type info = map[string]any

var hello = []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hello?")}

func TestAsk(t *testing.T) {
	t.Parallel()
	anthropic := info{"InputTokens": 10, "OutputTokens": 3}
	for _, c := range []struct {
		name  string
		model model
		want  Reply
	}{
		{"openai", says(&llms.ContentChoice{Content: "a", ReasoningContent: "r", StopReason: "stop",
			GenerationInfo: info{"PromptTokens": 10, "CompletionTokens": 3, "TotalTokens": 13}}),
			Reply{Text: "a", Reasoning: "r", Usage: Usage{Input: 10, Output: 3}, ended: true}},
		{"ollama", says(&llms.ContentChoice{Content: "a", GenerationInfo: info{"PromptTokens": 10, "CompletionTokens": 3}}),
			Reply{Text: "a", Usage: Usage{Input: 10, Output: 3}}},
		{"googleai", says(&llms.ContentChoice{Content: "a", StopReason: "FinishReasonMaxTokens",
			GenerationInfo: info{"input_tokens": int32(10), "output_tokens": int32(3), "PromptTokens": int32(10),
				"CompletionTokens": int32(3)}}),
			Reply{Text: "a", Truncated: true, Usage: Usage{Input: 10, Output: 3}, ended: true}},
		{"bedrock", says(&llms.ContentChoice{Content: "a", StopReason: "LENGTH",
			GenerationInfo: info{"input_tokens": int64(10), "output_tokens": 3.0}}),
			Reply{Text: "a", Truncated: true, Usage: Usage{Input: 10, Output: 3}, ended: true}},
		{"anthropic, a choice for each block, all with the usage", says(
			&llms.ContentChoice{StopReason: "end_turn", GenerationInfo: anthropic},
			&llms.ContentChoice{Content: "a", StopReason: "end_turn", GenerationInfo: anthropic},
			nil,
			&llms.ContentChoice{Content: "b", StopReason: "end_turn", GenerationInfo: anthropic}),
			Reply{Text: "a\nb", Usage: Usage{Input: 10, Output: 3}, ended: true}},
		{"anthropic, cut off", says(&llms.ContentChoice{Content: "a", StopReason: "max_tokens"}),
			Reply{Text: "a", Truncated: true, ended: true}},
		{"no usage, or an implausible one", says(&llms.ContentChoice{Content: "a", GenerationInfo: info{"PromptTokens": "many"}}),
			Reply{Text: "a"}},
		{"openai, with thoughts",
			says(&llms.ContentChoice{Content: "a", ReasoningContent: "r", StopReason: "stop",
				GenerationInfo: info{"PromptTokens": 10, "CompletionTokens": 8, "TotalTokens": 18, "ReasoningTokens": 5,
					"ThinkingTokens": 5, "ThinkingContent": "r", "PromptCachedTokens": 4}}),
			Reply{Text: "a", Reasoning: "r", Usage: Usage{Input: 10, Output: 8, Reasoning: 5, CachedInput: 4}, ended: true}},
		{"googleai, thoughts only in the total",
			says(&llms.ContentChoice{Content: "a", StopReason: "FinishReasonStop",
				GenerationInfo: info{"PromptTokens": int32(10), "CompletionTokens": int32(3), "TotalTokens": int32(20),
					"ThinkingTokens": 0, "CacheReadInputTokens": int32(4)}}),
			Reply{Text: "a", Usage: Usage{Input: 10, Output: 10, Reasoning: 7, CachedInput: 4}, ended: true}},
		{"anthropic, thoughts in tags",
			says(&llms.ContentChoice{Content: "<thinking>r</thinking>\n\na", StopReason: "end_turn",
				GenerationInfo: info{"ThinkingContent": "r", "OutputContent": "a", "InputTokens": 10, "OutputTokens": 3}}),
			Reply{Text: "a", Reasoning: "r", Usage: Usage{Input: 10, Output: 3}, ended: true}},
		{"openai, a stream that was cut",
			says(&llms.ContentChoice{Content: "a", GenerationInfo: info{"PromptTokens": 0, "TotalTokens": 0,
				"CompletionAcceptedPredictionTokens": 0}}),
			Reply{Text: "a", Truncated: true}},
		{"from a cache", says(&llms.ContentChoice{Content: "a", StopReason: "stop",
			GenerationInfo: info{CachedKey: true, "PromptTokens": 10}}),
			Reply{Text: "a", Cached: true, ended: true}},
		{"nothing said", says(&llms.ContentChoice{StopReason: "stop"}), Reply{ended: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Ask(t.Context(), c.model, Call{}, hello)
			got.StopReason = "" // as the provider calls it
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestAskFails(t *testing.T) {
	t.Parallel()
	down := errors.New("503")
	for want, m := range map[string]llms.Model{
		"the model: the model is nil; pass a model": nil,
		"the model: 503": model(func(context.Context) (*llms.ContentResponse, error) {
			return nil,
				down
		}),
		"the model: the response is empty": model(func(context.Context) (*llms.ContentResponse, error) {
			return nil, nil
		}),
	} {
		if _, err := Ask(t.Context(), m, Call{}, hello); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Ask(t.Context(), says(), Call{}, hello); err == nil {
		t.Error("a response without choices is not an error")
	}
	if _, err := Ask(t.Context(), model(func(context.Context) (*llms.ContentResponse, error) { return nil, down }),
		Call{}, hello); !errors.Is(err, down) {
		t.Error("the model's error is not wrapped")
	}
}

// spoken is an error type that is not a pointer.
type spoken struct{ text string }

func (s *spoken) Error() string { return s.text }

// Providers return typed nils as errors. Some of these panic when Error is called, others when
// their fields are read.
func TestErrorsThatPanic(t *testing.T) {
	t.Parallel()
	for _, nothing := range []error{(*spoken)(nil), (*net.OpError)(nil), (*llms.Error)(nil),
		fmt.Errorf("network: %w", (*net.OpError)(nil))} {
		_, err := Ask(t.Context(), model(func(context.Context) (*llms.ContentResponse, error) { return nil, nothing }),
			Call{}, hello)
		if e, ok := errors.AsType[*Error](err); !ok || !e.MaybeCharged || !errors.As(err, new(*PanicError)) ||
			err.Error() != "the model: the provider panicked: runtime error: invalid memory address or nil pointer dereference" {
			t.Errorf("%T: got %v", nothing, err)
		}
	}
}

func TestAskWhenDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user disconnected")
	partial := model(func(context.Context) (*llms.ContentResponse, error) {
		cancel(why)
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "half an ans",
			GenerationInfo: info{"PromptTokens": 7}}}}, nil
	})
	got, err := Ask(ctx, partial, Call{}, hello)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("error %v is not that of ctx", err)
	}
	if !reflect.DeepEqual(got, Reply{Usage: Usage{Input: 7}}) {
		t.Errorf("got %+v, want only what it cost", got)
	}
	never := model(func(context.Context) (*llms.ContentResponse, error) {
		t.Error("the model was called although ctx is done")
		return nil, nil
	})
	if _, err := Ask(ctx, never, Call{}, hello); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestAskDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	slow := model(func(ctx context.Context) (*llms.ContentResponse, error) {
		<-ctx.Done()
		return nil, errors.New("read: connection reset")
	})
	if _, err := Ask(ctx, slow, Call{}, hello); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// If several replies were requested, the first one is returned and all are paid for.
func TestAlternatives(t *testing.T) {
	t.Parallel()
	usage := info{"PromptTokens": 10, "CompletionTokens": 6}
	model := says(&llms.ContentChoice{Content: "a", StopReason: "stop", GenerationInfo: usage},
		&llms.ContentChoice{Content: "b", StopReason: "length", GenerationInfo: usage})
	got, err := Ask(t.Context(), model, Call{}, hello, llms.WithN(2))
	if want := (Reply{Text: "a", Usage: Usage{Input: 10, Output: 6}, StopReason: "stop", ended: true}); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSampling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options []llms.CallOption
		given   bool
	}{
		{nil, false},
		{[]llms.CallOption{nil, llms.WithMaxTokens(3)}, false},
		{[]llms.CallOption{llms.WithTemperature(0)}, true},
		{[]llms.CallOption{llms.WithOptions(llms.CallOptions{})}, true}, // which sets the function
	} {
		if got := SamplingOf(c.options); (got.Temperature != nil) != c.given {
			t.Errorf("got %+v", got)
		}
	}
}

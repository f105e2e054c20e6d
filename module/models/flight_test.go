package models_test

import (
	"context"
	"errors"
	"math"
	"net"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// panics is a model that panics.
type panics struct{ llms.Model }

// GenerateContent implements [llms.Model].
func (panics) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse,
	error) {
	panic("at the model")
}

func TestCachePanic(t *testing.T) {
	t.Parallel()
	_, err := ask(t.Context(), newCache(t, nil).Model(panics{}, "a"))
	if err == nil || err.Error() != "the model: it panicked: at the model" ||
		*failure(t, err) != (models.Error{MaybeCharged: true, Err: failure(t, err).Err}) {
		t.Errorf("got %v", err)
	}
}

// A cache makes calls in its own goroutine, where a panic would end the process. An error that is a
// typed nil may panic, too.
func TestCacheErrorPanics(t *testing.T) {
	t.Parallel()
	_, err := ask(t.Context(), newCache(t, nil).Model(script((*net.OpError)(nil)), "a"))
	if !errors.As(err, new(*models.PanicError)) {
		t.Errorf("got %v", err)
	}
}

// Callers that share a call get separate copies of the reply.
func TestCacheSharesCopies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			time.Sleep(time.Second)
			return llmtest.Reply{}, nil
		})
		model := newCache(t, nil).Model(calling{inner}, "a")
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				got, err := model.GenerateContent(t.Context(), question("Capital?"))
				if err != nil {
					t.Error(err)
					return
				}
				c := got.Choices[0]
				if c.Content != "Paris" || c.ToolCalls[0].FunctionCall.Arguments != "{}" || c.FuncCall.Name != "f" ||
					c.GenerationInfo["mine"] != nil {
					t.Errorf("got %+v", *c)
				}
				c.Content, c.ToolCalls[0].FunctionCall.Arguments, c.FuncCall.Name, c.GenerationInfo["mine"] = "Rome", "mine", "g",
					true
			})
		}
		wg.Wait()
		if n := len(inner.Requests()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}

// calling is a model whose replies use all fields that are pointers, maps or slices.
type calling struct{ llms.Model }

// GenerateContent implements [llms.Model].
func (c calling) GenerateContent(ctx context.Context, messages []llms.MessageContent,
	options ...llms.CallOption) (*llms.ContentResponse, error) {
	if _, err := c.Model.GenerateContent(ctx, messages, options...); err != nil {
		return nil, err
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: "Paris", FuncCall: &llms.FunctionCall{Name: "f"}, GenerationInfo: map[string]any{},
		ToolCalls: []llms.ToolCall{{ID: "1", FunctionCall: &llms.FunctionCall{Name: "f", Arguments: "{}"}}},
	}}}, nil
}

// If a model calls runtime.Goexit, the call returns an error.
func TestCacheGoexit(t *testing.T) {
	t.Parallel()
	leaves := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		runtime.Goexit()
		return llmtest.Reply{}, nil
	})
	_, err := newCache(t, nil).Model(leaves, "a").GenerateContent(t.Context(), question("Capital?"))
	if e := failure(t, err); e.Kind != models.KindUnknown || !e.MaybeCharged ||
		err.Error() != "the model: the model ended its goroutine without an answer" {
		t.Errorf("got %v", err)
	}
}

// If one of several choices was refused or cut off, none of them is cached.
func TestCacheAlternatives(t *testing.T) {
	t.Parallel()
	for reason, asked := range map[string]int{"stop": 1, "content_filter": 2, "length": 2} {
		inner := serve(t, says(
			`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"},{"message":{"content":"No"},"finish_reason":"`+
				reason+`"}]}`))
		model := newCache(t, nil).Model(openAI.open(t, inner.URL), "a")
		for range 2 {
			if _, err := model.GenerateContent(t.Context(), question("Capital?"), llms.WithN(2)); err != nil {
				t.Fatal(err)
			}
		}
		if len(inner.bodies) != asked {
			t.Errorf("%s: asked %d times, want %d", reason, len(inner.bodies), asked)
		}
	}
}

// A call that cannot be written as JSON is made every time.
func TestCacheInfiniteTemperature(t *testing.T) {
	t.Parallel()
	inner := script()
	model := newCache(t, nil).Model(inner, "a")
	for range 2 {
		if _, err := model.GenerateContent(t.Context(), question("Capital?"), llms.WithTemperature(math.Inf(1))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(inner.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// repeating is a model that repeats the prompt when it is released.
type repeating struct {
	llms.Model
	proceed chan struct{}
}

func (r repeating) GenerateContent(_ context.Context, messages []llms.MessageContent,
	_ ...llms.CallOption) (*llms.ContentResponse, error) {
	<-r.proceed
	text := messages[0].Parts[0].(llms.TextContent).Text
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text, StopReason: "stop"}}}, nil
}

// A caller that has cancelled may change its messages. The cache and the other callers keep the
// original ones.
func TestFlightOwnsItsQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		model := newCache(t, nil).Model(repeating{proceed: proceed}, "")
		mine := question("Capital?")
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error)
		go func() {
			_, err := model.GenerateContent(ctx, mine)
			left <- err
		}()
		synctest.Wait()
		got := make(chan string)
		go func() {
			reply, _ := ask(t.Context(), model)
			got <- reply.Text
		}()
		synctest.Wait()
		cancel()
		if err := <-left; failure(t, err).Kind != models.KindCancelled {
			t.Errorf("got %v", err)
		}
		mine[0].Parts[0] = llms.TextPart("River?")
		close(proceed)
		if text := <-got; text != "Capital?" {
			t.Errorf("asked %q", text)
		}
	})
}

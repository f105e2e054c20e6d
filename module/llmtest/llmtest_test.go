package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

func messages(texts ...string) []llms.MessageContent {
	list := make([]llms.MessageContent, len(texts))
	for i, text := range texts {
		list[i] = llms.TextParts(llms.ChatMessageTypeHuman, text)
	}
	return list
}

func TestScriptEnds(t *testing.T) {
	t.Parallel()
	model := llmtest.New("one")
	if _, err := model.Call(t.Context(), "first"); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ prompt, excerpt string }{
		{"second\x1b", "second\\u001b"},
		{strings.Repeat("é", 1000), strings.Repeat("é", 43) + "\n…\n" + strings.Repeat("é", 149)},
	} {
		_, err := model.GenerateContent(t.Context(), messages(c.prompt))
		want := fmt.Sprintf("llmtest: request %d has no reply: the script contains 1, one for each request; add a "+
			"reply to this request:\n--- human ---\n%s\n", i+2, c.excerpt)
		if err == nil || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	model := llmtest.New("reply")
	sent := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "be brief"),
		llms.TextParts(llms.ChatMessageTypeHuman, "one", "two"),
	}
	if _, err := model.GenerateContent(t.Context(), sent, llms.WithTemperature(0.7)); err != nil {
		t.Fatal(err)
	}
	sent[1].Parts[0] = llms.TextPart("changed afterwards")
	r := model.Requests()[0]
	if want := "--- system ---\nbe brief\n--- human ---\none\ntwo\n"; r.Text() != want {
		t.Errorf("Text: %q, want %q", r.Text(), want)
	}
	if r.Last() != "one\ntwo" || r.N != 1 || r.Options.Temperature != 0.7 {
		t.Errorf("got %+v", r)
	}
	if last := (llmtest.Request{}).Last(); last != "" {
		t.Errorf("Last of nothing: %q", last)
	}
}

func TestReplyDefaults(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 1 {
			return llmtest.Reply{Text: "12345678"}, nil
		}
		return llmtest.Reply{Text: "x", Reasoning: "y", StopReason: "length", InputTokens: 5, OutputTokens: 6}, nil
	})
	for _, want := range []string{
		"12345678 stop map[CompletionTokens:2 PromptTokens:5 writ:model:scripted]",
		"x y length map[CompletionTokens:6 PromptTokens:5 writ:model:scripted]",
	} {
		response, err := model.GenerateContent(t.Context(), messages("hello"))
		if err != nil {
			t.Fatal(err)
		}
		c := response.Choices[0]
		got := strings.Join(strings.Fields(fmt.Sprint(c.Content, " ", c.ReasoningContent, " ", c.StopReason, " ",
			c.GenerationInfo)), " ")
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	const n = 100
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: r.Last()}, nil
	})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			text := fmt.Sprint("question ", i)
			if got, err := model.Call(t.Context(), text); err != nil || got != text {
				t.Errorf("got %q, %v", got, err)
			}
			model.Requests()
		})
	}
	wg.Wait()
	seen := map[int]bool{}
	for _, r := range model.Requests() {
		seen[r.N] = true
	}
	if len(seen) != n {
		t.Errorf("%d different numbers, want %d", len(seen), n)
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waits := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			<-ctx.Done()
			return llmtest.Reply{Text: "too late"}, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := waits.GenerateContent(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := waits.GenerateContent(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if n := len(waits.Requests()); n != 1 {
			t.Errorf("%d requests were recorded; the second came when ctx was done", n)
		}
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "one two", Chunks: []string{"one ", "two"}, Reasoning: "count"}, nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	var heard []string
	hear := llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
		heard = append(heard, string(chunk))
		return nil
	})
	think := llms.WithStreamingReasoningFunc(func(_ context.Context, thought, _ []byte) error {
		heard = append(heard, "("+string(thought)+")")
		return nil
	})
	if _, err := model.GenerateContent(ctx, messages("hello"), hear, think); err != nil ||
		strings.Join(heard, "|") != "(count)|one |two" {
		t.Errorf("heard %q, %v", heard, err)
	}
	enough := errors.New("enough")
	stop := llms.WithStreamingFunc(func(context.Context, []byte) error { cancel(); return enough })
	if _, err := model.GenerateContent(t.Context(), messages("hello"), stop); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if _, err := model.GenerateContent(ctx, messages("hello"), hear); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A model can state capabilities, call tools and reply as a provider does. It shares script and
// requests with the model that it was made from.
func TestCapable(t *testing.T) {
	t.Parallel()
	calls := []llms.ToolCall{{ID: "1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "f", Arguments: "{}"}}}
	said := &models.Message{Provider: "anthropic", Raw: json.RawMessage(`{}`)}
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{ToolCalls: calls, Message: said, Model: "m", ID: "i",
			StopReason: map[int]string{2: "stop"}[r.N]}, nil
	})
	can := models.Capabilities{Schema: true, Tools: true}
	able := model.With(can)
	if got := models.CapabilitiesOf(able); got != can {
		t.Errorf("it can %+v", got)
	}
	params := models.Params{Effort: "low"}
	for _, reason := range []string{"tool_calls", "stop"} {
		response, err := able.GenerateContent(models.WithParams(t.Context(), params), messages("hello"))
		if err != nil {
			t.Fatal(err)
		}
		want := &llms.ContentChoice{StopReason: reason, ToolCalls: calls, GenerationInfo: map[string]any{
			"PromptTokens": 5, "CompletionTokens": 0, "writ:message": said, "writ:model": "m", "writ:id": "i",
		}}
		if got := response.Choices[0]; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if got := model.Requests(); len(got) != 2 || !reflect.DeepEqual(got[1].Params, params) {
		t.Errorf("the requests are %+v", got)
	}
}

func Example() {
	model := llmtest.New("Paris", "Rome")
	for _, country := range []string{"France", "Italy", "Spain"} {
		capital, err := model.Call(context.Background(), "The capital of "+country+"?")
		fmt.Println(capital, err)
	}
	fmt.Println(model.Requests()[1].Last())
	// Output:
	// Paris <nil>
	// Rome <nil>
	//  llmtest: request 3 has no reply: the script contains 2, one for each request; add a reply to this request:
	// --- human ---
	// The capital of Spain?
	//
	// The capital of Italy?
}

// A model can reply with a function, which can inspect the request, fail, be slow, or cut the reply
// off.
func ExampleFunc() {
	model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if strings.Contains(r.Last(), "Atlantis") {
			return llmtest.Reply{}, errors.New("503: overloaded")
		}
		return llmtest.Reply{Text: "Par", StopReason: "length"}, nil
	})
	fmt.Println(model.Call(context.Background(), "The capital of France?"))
	fmt.Println(model.Call(context.Background(), "The capital of Atlantis?"))
	// Output:
	// Par <nil>
	//  503: overloaded
}

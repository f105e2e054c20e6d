package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/models"
)

// acme is a model behind a protocol of its own.
type acme struct{ url, model string }

// Capabilities tells the modules which forms of a reply they may ask for.
func (a acme) Capabilities() models.Capabilities {
	return models.Capabilities{Model: a.model, Schema: true, Thinking: true}
}

// GenerateContent makes one request.
func (a acme) GenerateContent(
	ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption,
) (*llms.ContentResponse, error) {
	var call llms.CallOptions
	for _, option := range options {
		option(&call)
	}
	var prompt []string
	for _, m := range messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llms.TextContent:
				prompt = append(prompt, string(m.Role)+": "+p.Text)
			case models.Message: // an earlier reply
				prompt = append(prompt, string(m.Role)+": "+p.Text)
			default:
				return nil, &models.Error{Kind: models.KindInvalid, Err: fmt.Errorf("acme cannot read a %T", part)}
			}
		}
	}
	params := models.ParamsOf(ctx)
	body, err := json.Marshal(map[string]any{
		"prompt": strings.Join(prompt, "\n"), "schema": params.Schema, "effort": params.Effort, "limit": call.MaxTokens,
	})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("acme answered with status %s", response.Status)
	}
	var reply struct {
		Text, Thought, Stop                string
		Input, Cached, Output, ThoughtSize int
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 8<<20)).Decode(&reply); err != nil {
		return nil, &models.Error{Kind: models.KindTransient, MaybeCharged: true, Err: err}
	}
	if call.StreamingFunc != nil { // this protocol has no streams, so there is one piece
		if err := call.StreamingFunc(ctx, []byte(reply.Text)); err != nil {
			return nil, err
		}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
		Content: reply.Text, ReasoningContent: reply.Thought, StopReason: reply.Stop,
		GenerationInfo: map[string]any{
			"PromptTokens": reply.Input, "PromptCachedTokens": reply.Cached,
			"CompletionTokens": reply.Output, "ReasoningTokens": reply.ThoughtSize, "writ:model": a.model,
		},
	}}}, nil
}

// Call implements llms.Model.
func (a acme) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, a, prompt, options...)
}

// Example_customProvider uses a provider that Writ does not know, which is busy at first.
func Example_customProvider() {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Prompt string
			Schema map[string]any
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Schema == nil || busy {
			busy = false
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"text":"{\"answer\":\"On its way.\",\"tags\":[\"order\"],\"due\":null}","stop":"stop",`+
			`"input":1000,"cached":800,"output":50,"thoughtSize":30}`)
	}))
	defer server.Close()

	ctx := budget.With(context.Background(), budget.Limits{
		Cost:   1,
		Prices: map[string]budget.Price{"acme-1": {Input: 2, CachedInput: 0.2, Output: 8}},
	})
	model := models.Retry(acme{server.URL, "acme-1"}, nil)
	pred, err := module.NewPredict(triage, model, nil).Run(ctx, mail{"Where is my order?"})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%+v\n%+v\n", pred.Output, budget.Of(ctx).Spent())
	// Output:
	// {Answer:On its way. Tags:[order] Due:}
	// 2 calls, 1000 input and 50 output tokens, a cost of 0.00096
}

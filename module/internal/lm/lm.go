// Package lm is the boundary to langchaingo: it asks a model once and makes one
// shape of what its providers return in many.
package lm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// Reply is what a model said.
type Reply struct {
	Text      string
	Reasoning string // of models that keep it apart
	Truncated bool   // cut at the model's limit of tokens
	Usage     Usage
}

// Usage is what one call cost, as far as the provider says.
type Usage struct{ Input, Output int }

// Ask sends messages to a model. The error is ctx's if ctx is done, even where
// the provider returned without one what it had until then. What the call cost
// is returned also beside an error, as far as it is known.
func Ask(ctx context.Context, model llms.Model, messages []llms.MessageContent, options ...llms.CallOption) (Reply, error) {
	if model == nil {
		return Reply{}, errors.New("there is no model; pass one")
	}
	if ctx.Err() != nil {
		return Reply{}, done(ctx)
	}
	response, err := model.GenerateContent(ctx, messages, options...)
	reply := merge(response)
	switch {
	case ctx.Err() != nil:
		return Reply{Usage: reply.Usage}, done(ctx)
	case err != nil:
		return Reply{Usage: reply.Usage}, fmt.Errorf("the model: %w", err)
	case response == nil || len(response.Choices) == 0:
		return Reply{}, errors.New("the model returned nothing at all")
	}
	return reply, nil
}

// done is why ctx is done: its error, and the cause if it has another.
func done(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	return context.Cause(ctx)
}

// merge joins the choices: some providers return one for each block of content
// and repeat the usage in every one.
func merge(response *llms.ContentResponse) Reply {
	var reply Reply
	if response == nil {
		return reply
	}
	var text []string
	for _, c := range response.Choices {
		if c == nil {
			continue
		}
		if c.Content != "" {
			text = append(text, c.Content)
		}
		reply.Reasoning += c.ReasoningContent
		reply.Truncated = reply.Truncated || truncated(c.StopReason)
		usage := usageOf(c.GenerationInfo)
		reply.Usage.Input = max(reply.Usage.Input, usage.Input)
		reply.Usage.Output = max(reply.Usage.Output, usage.Output)
	}
	reply.Text = strings.Join(text, "\n")
	return reply
}

// truncated knows the names that providers give to the limit of tokens: openai,
// mistral and bedrock's say length, anthropic's, cohere's and nova's max_tokens,
// googleai FinishReasonMaxTokens. ollama never says.
func truncated(reason string) bool {
	switch strings.ToLower(strings.ReplaceAll(reason, "_", "")) {
	case "length", "modellength", "maxtokens", "maxoutputtokens", "finishreasonmaxtokens", "modelcontextwindowexceeded":
		return true
	}
	return false
}

// usageOf reads the token counts under the names that providers give them.
func usageOf(info map[string]any) Usage {
	return Usage{
		Input:  count(info, "PromptTokens", "InputTokens", "input_tokens"),
		Output: count(info, "CompletionTokens", "OutputTokens", "output_tokens"),
	}
}

func count(info map[string]any, names ...string) int {
	for _, name := range names {
		switch n := info[name].(type) {
		case int:
			return n
		case int32:
			return int(n)
		case int64:
			return int(n)
		case float64:
			return int(n)
		}
	}
	return 0
}

package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// completion is a response, or a piece of a streamed one.
type completion struct {
	ID      string
	Model   string
	Choices []choice
	Usage   *usage
}

type choice struct {
	Index   int
	Message json.RawMessage
	Delta   json.RawMessage
	Reason  string `json:"finish_reason"`
}

type usage struct {
	Input  int `json:"prompt_tokens"`
	Output int `json:"completion_tokens"`
	Total  int `json:"total_tokens"`
	Hit    int `json:"prompt_cache_hit_tokens"` // deepseek's name for the cached tokens
	Prompt struct {
		Cached int `json:"cached_tokens"`
		Write  int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Completion struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// message has the decoded fields of an assistant message, or of a piece of one.
type message struct {
	Content          text
	Refusal          text
	ReasoningContent text `json:"reasoning_content"` // sent by deepseek, xai, vllm
	Reasoning        text // sent by openrouter, groq, together, vllm
	ToolCalls        []struct {
		ID       string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
	} `json:"tool_calls"`
}

// thinking returns the reasoning.
func (m message) thinking() string {
	return cmp.Or(m.ReasoningContent.said, m.Reasoning.said, m.Content.thought)
}

// text is a string or, from mistral, a list of chunks. Anything else is not an error,
// because it is kept in the raw message.
type text struct{ said, thought string }

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &t.said) == nil {
		return nil
	}
	var chunks []struct {
		Text     string
		Thinking []struct{ Text string }
	}
	if json.Unmarshal(raw, &chunks) == nil {
		var said, thought strings.Builder
		for _, c := range chunks {
			said.WriteString(c.Text)
			for _, piece := range c.Thinking {
				thought.WriteString(piece.Text)
			}
		}
		t.said, t.thought = said.String(), thought.String()
	}
	return nil
}

// response converts the completion to langchaingo's form.
func (c *completion) response(provider string, answer *wire.Answer) (*llms.ContentResponse, error) {
	response := &llms.ContentResponse{}
	for _, choice := range c.Choices {
		switch choice.Reason {
		case "error", "insufficient_system_resource": // sent by openrouter and mistral; by deepseek
			return nil, answer.Strange("a part of a reply, which ended with %q; try again", choice.Reason)
		}
		var m message
		if len(choice.Message) == 0 || string(choice.Message) == "null" {
			return nil, answer.Missing("a message")
		}
		choice.Message = withIDs(choice.Message)
		if err := json.Unmarshal(choice.Message, &m); err != nil {
			return nil, answer.Malformed(choice.Message, err)
		}
		response.Choices = append(response.Choices, c.choice(provider, choice, m))
	}
	if len(response.Choices) == 0 {
		return nil, answer.Missing("choices")
	}
	return response, nil
}

// withIDs adds missing ids to tool calls, so that results can refer to them.
func withIDs(message json.RawMessage) json.RawMessage {
	var whole map[string]any
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	if decoder.Decode(&whole) != nil {
		return message
	}
	calls, _ := whole["tool_calls"].([]any)
	missing := false
	for i, c := range calls {
		if call, ok := c.(map[string]any); ok && (call["id"] == nil || call["id"] == "") {
			call["id"], missing = fmt.Sprintf("call_%d", i+1), true
		}
	}
	if !missing {
		return message
	}
	named, err := json.Marshal(whole)
	if err != nil {
		return message
	}
	return named
}

func (c *completion) choice(provider string, choice choice, m message) *llms.ContentChoice {
	out := &llms.ContentChoice{
		Content: m.Content.said, ReasoningContent: m.thinking(), StopReason: choice.Reason, GenerationInfo: c.info(),
	}
	if m.Refusal.said != "" {
		out.Content, out.StopReason = m.Refusal.said, "refusal"
	}
	out.GenerationInfo[lm.MessageKey] = &lm.Message{
		TextContent: llms.TextContent{Text: out.Content}, Provider: provider, Raw: choice.Message,
	}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, llms.ToolCall{
			ID: call.ID, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: call.Function.Name, Arguments: arguments(call.Function.Arguments)},
		})
	}
	return out
}

// arguments returns a tool call's arguments, which are JSON in a string or, from some servers, plain JSON. Missing
// arguments are an empty object.
func arguments(raw json.RawMessage) string {
	var quoted string
	if len(raw) > 0 && json.Unmarshal(raw, &quoted) != nil {
		return string(raw)
	}
	if strings.TrimSpace(quoted) == "" {
		return "{}"
	}
	return quoted
}

func (c *completion) info() map[string]any {
	info := map[string]any{lm.ModelKey: c.Model, lm.IDKey: c.ID}
	if u := c.Usage; u != nil {
		info["PromptTokens"] = u.Input
		info["CompletionTokens"] = u.Output
		info["TotalTokens"] = u.Total
		info["ReasoningTokens"] = u.Completion.Reasoning
		info["PromptCachedTokens"] = max(u.Prompt.Cached, u.Hit)
		info["CacheCreationInputTokens"] = u.Prompt.Write
	}
	return info
}

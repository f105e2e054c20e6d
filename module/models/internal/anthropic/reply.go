package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// reply is a message that the model wrote.
type reply struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Content    json.RawMessage `json:"content"` // an array of blocks, kept as received
	StopReason string          `json:"stop_reason"`
	Usage      usage           `json:"usage"`
}

type usage struct {
	Input         int `json:"input_tokens"` // without cached tokens
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	Output        int `json:"output_tokens"`
	Details       struct {
		Thinking int `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// received is a block of content that the model wrote.
type received struct {
	Type, Text, Thinking, ID, Name string
	Input                          json.RawMessage
}

// response converts the reply for the caller.
func (r *reply) response() (*llms.ContentResponse, error) {
	var text, thoughts strings.Builder
	var blocks []received
	if err := json.Unmarshal(r.Content, &blocks); err != nil {
		return nil, err
	}
	choice := &llms.ContentChoice{StopReason: r.StopReason}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			text.WriteString(b.Text)
		case "thinking":
			thoughts.WriteString(b.Thinking)
		case "tool_use":
			choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: b.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: b.Name, Arguments: string(b.Input)}})
		}
	}
	choice.Content, choice.ReasoningContent = text.String(), thoughts.String()
	u := r.Usage
	choice.GenerationInfo = map[string]any{
		"PromptTokens":             u.Input + u.CacheRead + u.CacheCreation,
		"CompletionTokens":         u.Output,
		"ReasoningTokens":          u.Details.Thinking,
		"PromptCachedTokens":       u.CacheRead,
		"CacheCreationInputTokens": u.CacheCreation,
		lm.ModelKey:                r.Model,
		lm.IDKey:                   r.ID,
	}
	if len(blocks) > 0 {
		choice.GenerationInfo[lm.MessageKey] = &lm.Message{
			TextContent: llms.TextContent{Text: choice.Content}, Provider: provider, Raw: r.Content}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

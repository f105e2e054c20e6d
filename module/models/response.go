package models

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
)

// response is a reply as it is stored.
type response []choice

type choice struct {
	Text       string             `json:"text,omitempty"`
	Reasoning  string             `json:"reasoning,omitempty"`
	StopReason string             `json:"stop_reason,omitempty"`
	ToolCalls  []toolCall         `json:"tool_calls,omitempty"`
	FuncCall   *llms.FunctionCall `json:"function_call,omitempty"`
	Message    *Message           `json:"message,omitempty"`
	Info       map[string]any     `json:"info,omitempty"`
}

// toolCall replaces [llms.ToolCall], which loses its function when it is read from JSON.
type toolCall struct {
	ID       string             `json:"id"`
	Type     string             `json:"type"`
	Function *llms.FunctionCall `json:"function,omitempty"`
}

// responseOf converts a provider's response. It keeps the info's plain values, such as usage, reasoning, model and id.
// A message with invalid JSON is dropped, since it cannot be sent back.
func responseOf(r *llms.ContentResponse) response {
	list := response{}
	for _, c := range r.Choices {
		if c == nil {
			continue
		}
		kept := choice{Text: c.Content, Reasoning: c.ReasoningContent, StopReason: c.StopReason,
			FuncCall: c.FuncCall, Info: plainInfo(c.GenerationInfo)}
		if m, ok := c.GenerationInfo[lm.MessageKey].(*Message); ok && m != nil && json.Valid(m.Raw) {
			kept.Message = m
		}
		for _, call := range c.ToolCalls {
			kept.ToolCalls = append(kept.ToolCalls, toolCall{call.ID, call.Type, call.FunctionCall})
		}
		list = append(list, kept)
	}
	return list
}

func plainInfo(info map[string]any) map[string]any {
	plain := map[string]any{}
	for name, value := range info {
		switch v := value.(type) {
		case string, bool, int, int32, int64:
			plain[name] = v
		case float64:
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				plain[name] = v
			}
		}
	}
	return plain
}

// provider returns the response in the form of langchaingo.
func (r response) provider() *llms.ContentResponse {
	answer := &llms.ContentResponse{}
	for _, c := range r {
		given := &llms.ContentChoice{Content: c.Text, ReasoningContent: c.Reasoning, StopReason: c.StopReason,
			FuncCall: c.FuncCall, GenerationInfo: c.Info}
		if c.Message != nil {
			given.GenerationInfo = withInfo(given.GenerationInfo, lm.MessageKey, c.Message)
		}
		for _, call := range c.ToolCalls {
			given.ToolCalls = append(given.ToolCalls,
				llms.ToolCall{ID: call.ID, Type: call.Type, FunctionCall: call.Function})
		}
		answer.Choices = append(answer.Choices, given)
	}
	return answer
}

// cached returns the response, marked as free.
func (r response) cached() *llms.ContentResponse {
	answer := r.provider()
	for _, c := range answer.Choices {
		maps.DeleteFunc(c.GenerationInfo, func(name string, value any) bool {
			_, text := value.(string)
			return !text && name != lm.MessageKey || name == lm.FailedKey // no model has failed this time
		})
		c.GenerationInfo = withInfo(c.GenerationInfo, lm.CachedKey, true)
	}
	return answer
}

// withInfo sets a member of info, which may be nil.
func withInfo(info map[string]any, name string, value any) map[string]any {
	if info == nil {
		info = map[string]any{}
	}
	info[name] = value
	return info
}

// UnmarshalJSON converts whole numbers back to ints.
func (c *choice) UnmarshalJSON(text []byte) error {
	type plain choice
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	for name, value := range c.Info {
		if n, ok := value.(float64); ok && n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			c.Info[name] = int(n)
		}
	}
	return nil
}

// stream passes the response to the streaming functions, in one piece.
func (r response) stream(ctx context.Context, options []llms.CallOption) error {
	o := lm.Options(options)
	for _, c := range r {
		thought, _ := c.Info["ThinkingContent"].(string)
		if c.Reasoning != "" {
			thought = c.Reasoning
		}
		if o.StreamingReasoningFunc != nil && thought != "" {
			if err := o.StreamingReasoningFunc(ctx, []byte(thought), nil); err != nil {
				return fmt.Errorf("the streaming function returned an error: %w", err)
			}
		}
		if o.StreamingFunc != nil && c.Text != "" {
			if err := o.StreamingFunc(ctx, []byte(c.Text)); err != nil {
				return fmt.Errorf("the streaming function returned an error: %w", err)
			}
		}
	}
	return nil
}

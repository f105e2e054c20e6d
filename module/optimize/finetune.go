package optimize

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/evaluate"
	"github.com/writ-go/writ/module/internal/lm"
)

// Good returns the trajectories of the runs with at least the given score.
func Good(r *evaluate.Report, threshold float64) (list []module.Trajectory) {
	for _, one := range r.Results {
		if one.Err == "" && one.Score.Value >= threshold && one.Trajectory != nil {
			list = append(list, *one.Trajectory)
		}
	}
	return list
}

// WriteChats writes trajectories as training data for a model, in the chat format of OpenAI: JSON Lines with the
// "messages" of a conversation, and its "tools" if it has any. It returns the number of lines. If paths of predictors
// are given, only their conversations are written.
//
// WriteChats writes a line for each run that gave an answer, including runs within runs. Of several attempts, it writes
// only the one that was chosen. Demos, replies that could not be used and programs that failed are part of the
// conversation, but have the "weight" 0, so that the model does not learn to write them.
//
//	report, err := evaluate.Evaluate(ctx, m, examples, metric, nil)
//	…
//	n, err := optimize.WriteChats(file, optimize.Good(report, 1))
func WriteChats(w io.Writer, trajectories []module.Trajectory, paths ...string) (n int, err error) {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, t := range trajectories {
		for _, run := range runsIn(t) {
			last := run.Steps[len(run.Steps)-1]
			if last.Answer == nil || len(paths) > 0 && !slices.Contains(paths, last.Predictor) {
				continue
			}
			if err := out.Encode(chatOf(run, last)); err != nil {
				return n, fmt.Errorf("optimize: cannot write the chats: %w", err)
			}
			n++
		}
	}
	return n, nil
}

// runsIn returns the runs in a trajectory that have steps and led to its answer.
func runsIn(t module.Trajectory) (list []module.Trajectory) {
	if len(t.Steps) > 0 {
		list = append(list, t)
	}
	runs := t.Runs
	if t.Chosen >= 1 && t.Chosen <= len(runs) {
		runs = runs[t.Chosen-1 : t.Chosen]
	}
	for _, run := range runs {
		list = append(list, runsIn(run)...)
	}
	return list
}

// chat is a line of the training data.
type chat struct {
	Messages []chatMessage `json:"messages"`
	Tools    []llms.Tool   `json:"tools,omitempty"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content,omitempty"` // a string, or a list of text and image parts
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Weight     *int       `json:"weight,omitempty"`
}

type chatCall struct {
	ID       string             `json:"id"`
	Type     string             `json:"type"`
	Function *llms.FunctionCall `json:"function"`
}

// chatOf returns the conversation of a run: the prompt of its last step, and the reply.
func chatOf(run module.Trajectory, last module.Step) chat {
	c := chat{Tools: last.Tools}
	var replies []int // the indices of the replies of the model
	for _, m := range last.Prompt {
		message := messageOf(m)
		if message.Role == "assistant" {
			replies = append(replies, len(c.Messages))
		}
		c.Messages = append(c.Messages, message)
	}
	earlier := run.Steps[:len(run.Steps)-1]
	for i, at := range replies {
		step := len(earlier) - (len(replies) - i) // negative for a demo
		if step < 0 || poor(earlier[step]) {
			c.Messages[at].Weight = new(int)
		}
	}
	answer := chatMessage{Role: "assistant", Content: last.Reply}
	if len(last.Tools) > 0 && !last.Extracted {
		submit := &llms.FunctionCall{Name: "submit", Arguments: string(last.Answer)}
		answer.ToolCalls = []chatCall{{"answer", "function", submit}}
		if last.Reply == "" {
			answer.Content = nil
		}
	}
	c.Messages = append(c.Messages, answer)
	return c
}

// poor reports whether the reply of a step could not be used, or its program failed.
func poor(s module.Step) bool {
	return s.Outcome == nil && s.Observation != "" || s.Outcome != nil && s.Outcome.Failure != nil
}

func messageOf(m llms.MessageContent) chatMessage {
	c := chatMessage{Role: "user"}
	switch m.Role {
	case llms.ChatMessageTypeAI:
		c.Role = "assistant"
	case llms.ChatMessageTypeSystem:
		c.Role = "system"
	case llms.ChatMessageTypeTool:
		c.Role = "tool"
	}
	var parts []map[string]any
	var texts []string
	image := func(url string) {
		parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": url}})
	}
	add := func(text string) {
		texts = append(texts, text)
		parts = append(parts, map[string]any{"type": "text", "text": text})
	}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			add(p.Text)
		case lm.Message:
			add(p.Text)
		case llms.ImageURLContent:
			image(p.URL)
		case llms.BinaryContent:
			image("data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Data))
		case llms.ToolCall:
			c.ToolCalls = append(c.ToolCalls, chatCall{p.ID, "function", p.FunctionCall})
		case llms.ToolCallResponse:
			c.ToolCallID = p.ToolCallID
			add(p.Content)
		}
	}
	switch {
	case len(parts) > len(texts):
		c.Content = parts
	case len(texts) > 0:
		c.Content = strings.Join(texts, "\n")
	}
	return c
}

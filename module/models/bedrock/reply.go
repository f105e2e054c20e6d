package bedrock

import (
	"context"
	"encoding/json"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// reply is a reply that is not streamed.
type reply struct {
	Output struct {
		Message struct{ Content json.RawMessage } // an array of blocks, kept as received
	}
	StopReason string
	Usage      usage
}

type usage struct {
	Input      int `json:"inputTokens"` // without cached tokens
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cacheReadInputTokens"`
	CacheWrite int `json:"cacheWriteInputTokens"`
}

// block is a block of content that the model wrote.
type block struct {
	Text      *string
	Reasoning *struct {
		Text     struct{ Text, Signature string } `json:"reasoningText"`
		Redacted string                           `json:"redactedContent"`
	} `json:"reasoningContent"`
	ToolUse *struct {
		ID    string `json:"toolUseId"`
		Name  string
		Input json.RawMessage
	}
}

// response converts the reply for the caller.
func (r *reply) response(model string, answer *wire.Answer) (*llms.ContentResponse, error) {
	raw := r.Output.Message.Content
	if raw == nil {
		return nil, answer.Missing("content")
	}
	if strings.HasPrefix(r.StopReason, "malformed_") {
		return nil, answer.Strange("a reply that ended with %s; try again", r.StopReason)
	}
	var blocks []block
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, answer.Malformed(raw, err)
	}
	var text, thoughts strings.Builder
	choice := &llms.ContentChoice{StopReason: r.StopReason}
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			text.WriteString(*b.Text)
		case b.Reasoning != nil:
			thoughts.WriteString(b.Reasoning.Text.Text)
		case b.ToolUse != nil:
			choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: b.ToolUse.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: b.ToolUse.Name, Arguments: string(b.ToolUse.Input)}})
		}
	}
	choice.Content, choice.ReasoningContent = text.String(), thoughts.String()
	u := r.Usage
	choice.GenerationInfo = map[string]any{
		"PromptTokens":             u.Input + u.CacheRead + u.CacheWrite,
		"CompletionTokens":         u.Output,
		"PromptCachedTokens":       u.CacheRead,
		"CacheCreationInputTokens": u.CacheWrite,
		lm.ModelKey:                model,
		lm.IDKey:                   answer.Header.Get("X-Amzn-Requestid"),
	}
	if len(blocks) > 0 {
		choice.GenerationInfo[lm.MessageKey] = &lm.Message{
			TextContent: llms.TextContent{Text: choice.Content}, Provider: provider, Raw: raw}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// readStream reads a streamed reply, and passes its text and its thoughts on to the caller.
func readStream(ctx context.Context, answer *wire.Answer, name string,
	o llms.CallOptions) (*llms.ContentResponse, error) {
	s := &stream{options: o}
	err := answer.Each(answer.Frames(ctx, frame), func(e wire.Event) (int, error) {
		err := s.add(ctx, e)
		return s.size, err
	})
	if err != nil {
		return nil, err
	}
	if s.StopReason == "" {
		return nil, answer.Cut()
	}
	if s.Output.Message.Content, err = s.content(); err != nil {
		return nil, answer.Malformed(nil, err)
	}
	return s.response(name, answer)
}

// frame reads an event, which has the name of its type or of its exception.
func frame(r io.Reader) (wire.Event, error) {
	message, err := eventstream.NewDecoder().Decode(r, nil)
	if err != nil {
		return wire.Event{}, err
	}
	name := ""
	for _, header := range []string{":event-type", ":exception-type", ":error-code"} {
		if v := message.Headers.Get(header); v != nil {
			name = v.String()
		}
	}
	return wire.Event{Name: name, Data: message.Payload}, nil
}

// stream assembles a reply from its events.
type stream struct {
	reply
	blocks  []growing
	size    int
	options llms.CallOptions
}

// growing is a block whose pieces are still arriving.
type growing struct {
	kind   string            // "text", "reasoningContent" or "toolUse"
	fields map[string][]byte // what has arrived, by member
}

// event is any event of a stream.
type event struct {
	Index        int `json:"contentBlockIndex"`
	Start, Delta map[string]json.RawMessage
	StopReason   string
	Usage        usage
	Message      string // of an exception
}

// add adds one event, and ignores unknown ones.
func (s *stream) add(ctx context.Context, frame wire.Event) error {
	var e event
	if err := json.Unmarshal(frame.Data, &e); err != nil {
		return wire.Malformedf("%w", err)
	}
	switch frame.Name {
	case "contentBlockStart":
		if e.Index < len(s.blocks) {
			return wire.Malformedf("content block %d begins after %d blocks", e.Index, len(s.blocks))
		}
		return s.grow(ctx, e.Index, e.Start)
	case "contentBlockDelta":
		return s.grow(ctx, e.Index, e.Delta)
	case "messageStop":
		if s.StopReason != "" && s.StopReason != e.StopReason {
			return wire.Malformedf("the reply ended with %q and then with %q", s.StopReason, e.StopReason)
		}
		s.StopReason = e.StopReason
	case "metadata":
		s.Usage = e.Usage
	}
	if !strings.HasSuffix(frame.Name, "Exception") {
		return nil
	}
	err := lm.FromAnswer(0, 0, "bedrock sent a "+frame.Name+": "+e.Message+"; try again", frame.Name)
	err.MaybeCharged = true
	return err
}

// maxBlocks is the maximum number of content blocks in a streamed reply.
const maxBlocks = 10_000

// grow adds a piece to its block, which may begin with it, and passes text and thoughts on to the caller.
func (s *stream) grow(ctx context.Context, index int, piece map[string]json.RawMessage) error {
	for kind, raw := range piece { // there is one
		if kind != "text" && kind != "reasoningContent" && kind != "toolUse" {
			continue
		}
		var text string
		var fields map[string]string
		if json.Unmarshal(raw, &text) == nil {
			fields = map[string]string{"text": text}
		} else if err := json.Unmarshal(raw, &fields); err != nil {
			return wire.Malformedf("%w", err)
		}
		switch n := len(s.blocks); {
		case s.StopReason != "":
			return wire.Malformedf("the reply continues after it ended")
		case index == n && n < maxBlocks:
			s.blocks = append(s.blocks, growing{kind, map[string][]byte{}})
		case index < 0 || index >= n:
			return wire.Malformedf("content block %d follows %d blocks", index, n)
		case s.blocks[index].kind != kind:
			return wire.Malformedf("content block %d is %s and then %s", index, s.blocks[index].kind, kind)
		}
		for name, value := range fields {
			s.blocks[index].fields[name] = append(s.blocks[index].fields[name], value...)
			s.size += len(value)
		}
		if kind == "text" {
			return wire.Tell(ctx, s.options, "", fields["text"])
		}
		return wire.Tell(ctx, s.options, fields["text"], "")
	}
	return nil
}

// content returns the blocks in the form of an unstreamed reply. A truncated tool input is wrapped in an object, so
// that it can be sent back.
func (s *stream) content() (json.RawMessage, error) {
	content := []object{}
	for _, b := range s.blocks {
		f := object{}
		for name, value := range b.fields {
			f[name] = string(value)
		}
		switch {
		case b.kind == "text":
			content = append(content, f)
		case b.kind == "toolUse":
			if input := b.fields["input"]; len(input) == 0 {
				f["input"] = object{}
			} else if json.Valid(input) {
				f["input"] = json.RawMessage(input)
			} else {
				f["input"] = object{"INVALID_JSON": string(input)}
			}
			content = append(content, object{"toolUse": f})
		case f["redactedContent"] != nil:
			content = append(content, object{"reasoningContent": f})
		default:
			content = append(content, object{"reasoningContent": object{"reasoningText": f}})
		}
	}
	return json.Marshal(content)
}

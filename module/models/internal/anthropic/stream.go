package anthropic

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// stream assembles a reply from its events.
type stream struct {
	reply
	blocks  []*growing
	size    int // bytes of the reply so far
	ended   bool
	options llms.CallOptions
}

// growing is a block of content whose deltas are still arriving.
type growing struct {
	start  map[string]json.RawMessage // the block in its first event
	deltas map[string][]byte          // the bytes that arrived later, by field
}

// event is any event of a stream.
type event struct {
	Type    string
	Index   int
	Message json.RawMessage            // message_start
	Block   map[string]json.RawMessage `json:"content_block"`
	Usage   json.RawMessage            // message_delta
	Delta   struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		Citation                        json.RawMessage
		StopReason                      string `json:"stop_reason"`
	}
}

// maxBlocks is the maximum number of content blocks in a streamed reply.
const maxBlocks = 10_000

// add adds one event. It ignores unknown events, as the API's documentation asks.
func (s *stream) add(ctx context.Context, data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return wire.Malformedf("%w", err)
	}
	if d := e.Delta; e.Type == "content_block_delta" {
		s.size += len(d.Text) + len(d.Thinking) + len(d.Signature) + len(d.PartialJSON) + len(d.Citation)
	} else {
		s.size += len(data)
	}
	switch e.Type {
	case "message_start":
		if err := json.Unmarshal(e.Message, &s.reply); err != nil {
			return wire.Malformedf("%w", err)
		}
	case "content_block_start":
		if e.Index != len(s.blocks) || e.Index >= maxBlocks || e.Block == nil {
			return wire.Malformedf("content block %d follows %d blocks", e.Index, len(s.blocks))
		}
		s.blocks = append(s.blocks, &growing{e.Block, map[string][]byte{}})
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(s.blocks) {
			return wire.Malformedf("content block %d has not begun", e.Index)
		}
		return s.grow(ctx, s.blocks[e.Index].deltas, &e)
	case "message_delta":
		s.StopReason = e.Delta.StopReason
		if e.Usage != nil { // a missing field keeps its value from message_start
			if err := json.Unmarshal(e.Usage, &s.Usage); err != nil {
				return wire.Malformedf("%w", err)
			}
		}
	case "message_stop":
		s.ended = true
	}
	return nil
}

// grow appends a delta to its block and passes text and thoughts on to the caller.
func (s *stream) grow(ctx context.Context, deltas map[string][]byte, e *event) error {
	switch d := e.Delta; d.Type {
	case "text_delta":
		deltas["text"] = append(deltas["text"], d.Text...)
		return wire.Tell(ctx, s.options, "", d.Text)
	case "thinking_delta":
		deltas["thinking"] = append(deltas["thinking"], d.Thinking...)
		return wire.Tell(ctx, s.options, d.Thinking, "")
	case "signature_delta":
		deltas["signature"] = append(deltas["signature"], d.Signature...)
	case "input_json_delta":
		deltas["input"] = append(deltas["input"], d.PartialJSON...)
	case "citations_delta":
		if deltas["citations"] != nil {
			deltas["citations"] = append(deltas["citations"], ',')
		}
		deltas["citations"] = append(deltas["citations"], d.Citation...)
	}
	return nil
}

// whole returns the reply in the form of an unstreamed one.
func (s *stream) whole() (*reply, error) {
	r, content := s.reply, make([]json.RawMessage, len(s.blocks))
	for i, b := range s.blocks {
		raw, err := b.whole()
		if err != nil {
			return nil, err
		}
		content[i] = raw
	}
	raw, err := json.Marshal(content)
	r.Content = raw
	return &r, err
}

func (b *growing) whole() (json.RawMessage, error) {
	for field, delta := range b.deltas {
		var err error
		switch field {
		case "input":
			b.start[field], err = input(delta, b.start[field])
		case "citations":
			b.start[field] = slices.Concat([]byte("["), delta, []byte("]"))
		default:
			var before string
			_ = json.Unmarshal(b.start[field], &before) // usually empty or missing
			b.start[field], err = json.Marshal(before + string(delta))
		}
		if err != nil {
			return nil, err
		}
	}
	return json.Marshal(b.start)
}

// input returns a tool call's input. Truncated input is wrapped in an object, as the API's documentation recommends for
// sending it back.
func input(delta, start json.RawMessage) (json.RawMessage, error) {
	switch {
	case len(delta) == 0:
		return start, nil
	case json.Valid(delta):
		return delta, nil
	}
	return json.Marshal(map[string]string{"INVALID_JSON": string(delta)})
}

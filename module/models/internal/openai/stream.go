package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// stream reads a streamed response and passes it to the call's streaming functions. It fills c as if the response had
// not been streamed.
func (c *completion) stream(ctx context.Context, answer *wire.Answer, call llms.CallOptions) error {
	var parts assembly
	done := false
	for event, err := range answer.Events(ctx) {
		if err != nil {
			return err
		}
		if string(event.Data) == "[DONE]" {
			done = true
			break
		}
		var piece completion
		if err := json.Unmarshal(event.Data, &piece); err != nil {
			return answer.Malformed(event.Data, err)
		}
		c.ID, c.Model = cmp.Or(c.ID, piece.ID), cmp.Or(c.Model, piece.Model)
		if piece.Usage != nil {
			c.Usage = piece.Usage
		}
		for _, delta := range piece.Choices {
			if err := c.add(&parts, delta); err != nil {
				return answer.Malformed(event.Data, err)
			}
			answer.Size = parts.size
			if err := tell(ctx, call, delta); err != nil {
				return err
			}
		}
	}
	// Some servers omit [DONE]: then the reply is complete if every choice has a finish reason.
	if slices.ContainsFunc(c.Choices, func(c choice) bool { return c.Reason == "" }) || !done && len(c.Choices) == 0 {
		return answer.Cut()
	}
	for i := range c.Choices {
		c.Choices[i].Message = parts.message(i)
	}
	return nil
}

// add adds a piece of a choice.
func (c *completion) add(parts *assembly, piece choice) error {
	if piece.Index < 0 || piece.Index >= maxItems {
		return errors.New("the index of the choice is out of range")
	}
	for len(c.Choices) <= piece.Index {
		c.Choices = append(c.Choices, choice{Index: len(c.Choices)})
	}
	if piece.Reason != "" {
		c.Choices[piece.Index].Reason = piece.Reason
	}
	return parts.add(piece.Index, piece.Delta)
}

// tell passes on a piece's text. Only the first of several choices is streamed.
func tell(ctx context.Context, call llms.CallOptions, piece choice) error {
	var m message
	if piece.Index != 0 || json.Unmarshal(piece.Delta, &m) != nil {
		return nil
	}
	return wire.Tell(ctx, call, m.thinking(), m.Content.said)
}

const (
	maxItems    = 1000       // choices, and items of a list
	maxCompared = 50_000_000 // comparisons of list pieces with their items
	perValue    = 64         // bytes that a value takes in addition to its text
)

// assembly builds messages from their pieces. It keeps unknown fields, because providers need them back.
type assembly struct {
	messages []map[string]any
	size     int  // bytes kept
	compared int  // items compared
	crowded  bool // a list has more than maxItems items, or pieces were compared too often
}

func (a *assembly) add(index int, delta json.RawMessage) error {
	for len(a.messages) <= index {
		a.messages = append(a.messages, map[string]any{"role": "assistant", "content": nil})
	}
	decoder := json.NewDecoder(bytes.NewReader(delta))
	decoder.UseNumber()
	var piece map[string]any
	if len(delta) > 0 {
		if err := decoder.Decode(&piece); err != nil {
			return err
		}
	}
	a.object(a.messages[index], piece)
	if a.crowded {
		return fmt.Errorf("a list has more than %d items, or comes in too many pieces", maxItems)
	}
	return nil
}

func (a *assembly) object(into, piece map[string]any) {
	for name, value := range piece {
		into[name] = a.joined(name, into[name], value)
	}
}

// grows reports whether the string in the field with this name arrives in pieces. Other strings, such as ids,
// arrive whole, and some servers repeat them.
func grows(name string) bool {
	switch name {
	case "content", "text", "thinking", "reasoning", "reasoning_content", "refusal", "summary", "arguments":
		return true
	}
	return false
}

// growing is a string that arrives in pieces.
type growing struct{ strings.Builder }

// MarshalJSON implements [json.Marshaler].
func (g *growing) MarshalJSON() ([]byte, error) { return json.Marshal(g.String()) }

// joined appends the next piece to a value.
func (a *assembly) joined(name string, old, piece any) any {
	if piece == nil {
		return old
	}
	if old == nil {
		a.size += len(name) + perValue
	}
	switch piece := piece.(type) {
	case json.Number:
		a.size += len(piece)
	case string:
		if list, ok := old.([]any); ok {
			return a.place(list, map[string]any{"type": "text", "text": piece})
		}
		a.size += len(piece)
		if grows(name) {
			whole, ok := old.(*growing)
			if !ok {
				whole = &growing{}
			}
			whole.WriteString(piece)
			return whole
		}
		if piece == "" && old != nil {
			return old
		}
		if old, ok := old.(string); ok {
			a.size -= len(old)
		}
	case map[string]any:
		whole, ok := old.(map[string]any)
		if !ok {
			whole = map[string]any{}
		}
		a.object(whole, piece)
		return whole
	case []any:
		list, _ := old.([]any)
		if said, ok := old.(*growing); ok && said.Len() > 0 {
			list = []any{map[string]any{"type": "text", "text": said}}
		}
		for _, item := range piece {
			if list = a.place(list, item); a.crowded {
				break
			}
		}
		return list
	}
	return piece
}

// place adds an item to the item that it continues, or appends it to the list.
func (a *assembly) place(list []any, item any) []any {
	piece, _ := item.(map[string]any)
	for i := len(list) - 1; i >= 0 && piece != nil; i-- {
		a.compared++
		whole, ok := list[i].(map[string]any)
		if ok && continues(whole, piece, i == len(list)-1) {
			a.object(whole, piece)
			a.crowded = a.crowded || a.compared > maxCompared
			return list
		}
	}
	if len(list) >= maxItems || a.compared > maxCompared {
		a.crowded = true
		return list
	}
	return append(list, a.joined("", nil, item))
}

// continues reports whether a piece belongs to an item: both have the same index or, if the piece has no index, the
// item is the last one and of the same type. A new id begins a new item.
func continues(whole, piece map[string]any, last bool) bool {
	if id, _ := piece["id"].(string); id != "" && whole["id"] != id {
		return false
	}
	if index, ok := piece["index"]; ok {
		return equal(whole["index"], index)
	}
	return last && piece["function"] == nil && (piece["type"] == nil || equal(piece["type"], whole["type"])) ||
		last && !named(piece) && piece["function"] != nil
}

// equal reports whether two values are the same number or string.
func equal(one, other any) bool {
	switch one := one.(type) {
	case json.Number:
		return one == other
	case string:
		return one == other
	}
	return false
}

// named reports whether a piece of a tool call has the function's name, which only the first piece has.
func named(piece map[string]any) bool {
	function, _ := piece["function"].(map[string]any)
	name, _ := function["name"].(string)
	return name != ""
}

// message returns the JSON of a complete message.
func (a *assembly) message(index int) json.RawMessage {
	if index >= len(a.messages) {
		return nil
	}
	calls, _ := a.messages[index]["tool_calls"].([]any)
	for _, c := range calls {
		if call, ok := c.(map[string]any); ok {
			delete(call, "index") // the index belongs to the stream, not to the call
		}
	}
	raw, err := json.Marshal(a.messages[index])
	if err != nil {
		return nil // it was decoded from JSON
	}
	return raw
}

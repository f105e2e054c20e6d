package mcptools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/internal/jsonscan"
	"github.com/writ-go/writ/internal/jsonvalue"
	"github.com/writ-go/writ/signature/schema"
	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/mcptools/internal/message"
)

// callResult is a tools/call result as the server wrote it.
type callResult struct {
	Content           []json.RawMessage
	StructuredContent json.RawMessage
	IsError           bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *callResult) UnmarshalJSON(data []byte) error {
	return jsonscan.Object(data, jsonscan.Fields{
		"content": &a.Content, "structuredContent": &a.StructuredContent, "isError": &a.IsError,
	})
}

// result converts a server's result to the type that the tool's declaration states.
func (r *remote) result(raw json.RawMessage) (json.RawMessage, error) {
	var result callResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, r.invalid(nil, "the call was made, but its result is malformed: %v", err)
	}
	result.StructuredContent = jsonscan.Present(result.StructuredContent)
	if result.IsError {
		text, _ := result.text()
		return nil, r.reported(text, result.StructuredContent)
	}
	limit := r.server.o.MaxResult
	if result.exceeds(limit) {
		return nil, r.tooLarge(&message.SizeError{Limit: limit})
	}
	value := result.untyped
	if r.typed {
		value = result.declared
	}
	data := value()
	if len(data) > limit {
		return nil, r.tooLarge(&message.SizeError{Size: len(data), Limit: limit})
	}
	data = bytes.Clone(data) // do not keep the whole message in memory
	if r.typed {
		return r.check(&result, data)
	}
	return data, nil
}

// exceeds reports whether the decoded content certainly exceeds the limit. One decoded byte may take six encoded bytes,
// as in \u0041.
func (a *callResult) exceeds(limit int) bool {
	size := 0
	for _, block := range a.Content {
		size += len(block)
	}
	return size/6 > limit && a.StructuredContent == nil
}

// check validates a tool's result against its output schema.
func (r *remote) check(result *callResult, value json.RawMessage) (json.RawMessage, error) {
	const mismatch = "the call was made, but its result does not match the output schema: "
	if result.StructuredContent == nil && !json.Valid(value) {
		text, _ := result.text()
		var data json.RawMessage
		if text != "" {
			data = json.RawMessage(jsonvalue.Text(text))
		}
		return nil, r.invalid(data, mismatch+"there is no structured content, and the text is not JSON")
	}
	output := r.output()
	if output == nil {
		return value, nil
	}
	if message.TooManyValues(value) {
		err := &message.SizeError{Limit: message.MaxDecoded, Unit: "JSON values"}
		return nil, r.invalid(value, "the call was made, but %v; ask for less", err)
	}
	if findings := output.Validate(value); len(findings) > 0 {
		return nil, r.invalid(value, mismatch+"%s", schema.Summary(findings))
	}
	return value, nil
}

// invalid returns the error for a call that was made and whose result cannot be passed on. Unless it
// is too large, data is part of the error, because it may still help the program.
func (r *remote) invalid(data json.RawMessage, format string, args ...any) error {
	te := &tools.ToolError{Kind: tools.KindInvalidResult, Message: fmt.Sprintf(format, args...), Data: r.bounded(data)}
	return te.WithCause(r.named(errors.New(te.Message)))
}

// tooLarge returns the error for a call that was made and whose result is too large.
func tooLarge(size *message.SizeError) *tools.ToolError {
	text := "the call was made, but " + size.Error() + "; ask for less"
	return &tools.ToolError{Kind: tools.KindTooLarge, Message: text}
}

func (r *remote) tooLarge(size *message.SizeError) error {
	return tooLarge(size).WithCause(r.named(size))
}

// untyped returns the result from a tool without an output schema, in one of the forms that its declaration allows.
// Most servers send structured content and its JSON as text.
func (a *callResult) untyped() json.RawMessage {
	text, all := a.text()
	switch {
	case a.StructuredContent != nil && (len(a.Content) == 0 || all && sameJSON(text, a.StructuredContent)):
		return a.StructuredContent
	case a.StructuredContent != nil:
		both := struct {
			Text   string            `json:"text"`
			Data   json.RawMessage   `json:"data"`
			Blocks []json.RawMessage `json:"blocks,omitempty"` // if some are not text
		}{Text: text, Data: a.StructuredContent}
		if !all {
			both.Blocks = a.Content
		}
		return json.RawMessage(jsonvalue.Text(both))
	case all:
		return json.RawMessage(jsonvalue.Text(text))
	}
	return json.RawMessage(jsonvalue.Text(a.Content))
}

// maxCompared is the maximum size in bytes of text that is compared with structured content.
const maxCompared = 1 << 20

// sameJSON reports whether a string is the JSON of a value, however it is formatted.
func sameJSON(text string, value json.RawMessage) bool {
	if len(text) > maxCompared || message.TooManyValues([]byte(text)) || message.TooManyValues(value) {
		return false
	}
	one, err := jsonvalue.Decode([]byte(text), message.MaxNesting, false)
	other, otherErr := jsonvalue.Decode(value, message.MaxNesting, false)
	return err == nil && otherErr == nil && reflect.DeepEqual(one.Value, other.Value)
}

// declared returns the result of a tool with an output schema. The result may violate the schema.
func (a *callResult) declared() json.RawMessage {
	if a.StructuredContent != nil {
		return a.StructuredContent
	}
	text, _ := a.text()
	return bytes.TrimSpace([]byte(text))
}

// text returns the text of all text blocks, and reports whether there are no other blocks.
func (a *callResult) text() (string, bool) {
	var texts []string
	all := true
	for _, raw := range a.Content {
		var kind string
		var text *string
		err := jsonscan.Object(raw, jsonscan.Fields{"type": &kind, "text": &text})
		if err == nil && kind == "text" && text != nil {
			texts = append(texts, *text)
		} else {
			all = false
		}
	}
	return strings.Join(texts, "\n"), all
}

// rpcPrefix matches what version 1 of the TypeScript SDK puts before an error's text.
var rpcPrefix = regexp.MustCompile(`^MCP error -\d+: `)

// reported converts an error that the server reports, in a result or as a JSON-RPC error.
func (r *remote) reported(text string, data json.RawMessage) *tools.ToolError {
	text = rpcPrefix.ReplaceAllString(text, "")
	te := &tools.ToolError{Kind: r.reportedKind(text), Message: text, Data: r.bounded(data)}
	if te.Kind == tools.KindInvalidResult {
		te.Message = "the call was made, but the server refused its result: " + text
	}
	if te.Message = r.server.secrets.Hide(message.Truncate(te.Message)); te.Message == "" {
		te.Message = "the tool failed and gave no reason"
	}
	return te
}

// reportedKind recognizes the exact messages with which the official SDKs reject this tool or its arguments before the
// tool runs, and its result afterward. With any other text, the tool may have had an effect, whatever the JSON-RPC
// code: SDKs and tools use the same codes for all of these errors.
func (r *remote) reportedKind(text string) string {
	switch {
	case slices.Contains([]string{
		"Tool " + r.name + " not found", "Tool " + r.name + " disabled",
		"Tool " + r.name + " requires task augmentation (taskSupport: 'required')",
		"Unknown tool: " + r.name, "Unknown tool: '" + r.name + "'", fmt.Sprintf("unknown tool %q", r.name),
	}, text):
		return tools.KindUnknownTool
	case strings.HasPrefix(strings.TrimPrefix(text, "Input validation error: "),
		"Invalid arguments for tool "+r.name+": "):
		return tools.KindInvalidArguments
	case strings.HasPrefix(text, "Output validation error: "), strings.HasPrefix(text, "Invalid tools/call result: "),
		text == "Tool "+r.name+" has an output schema but no structured content was provided",
		strings.HasPrefix(text, "Invalid structured content for tool "+r.name+": "):
		return tools.KindInvalidResult
	}
	return tools.KindFailed
}

// bounded returns a copy of the data, or nil if it is too large to pass on.
func (r *remote) bounded(data json.RawMessage) json.RawMessage {
	if len(data) > r.server.o.MaxResult {
		return nil
	}
	return bytes.Clone(data)
}

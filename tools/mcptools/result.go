package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/writ-go/writ/tools"
)

// callResult is the result of tools/call as the server wrote it.
type callResult struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	IsError           bool              `json:"isError"`
}

// result makes of a server's answer what the tool's declaration says.
func (r *remote) result(raw json.RawMessage) (json.RawMessage, error) {
	var answer callResult
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, r.invalid(nil, "the call was made, but the answer is malformed: %v", err)
	}
	answer.StructuredContent = present(answer.StructuredContent)
	if answer.IsError {
		return nil, answer.failure()
	}
	value, err := r.value(&answer)
	if err != nil {
		return nil, err
	}
	if limit := r.server.o.MaxResult; len(value) > limit {
		return nil, r.invalid(nil, "the call was made, but %v; ask for less", &sizeError{len(value), limit})
	}
	return value, nil
}

func (r *remote) value(answer *callResult) (json.RawMessage, error) {
	if r.typed {
		return r.structured(answer)
	}
	return answer.untyped(), nil
}

// structured returns the result of a tool with an output schema.
func (r *remote) structured(answer *callResult) (json.RawMessage, error) {
	value := answer.StructuredContent
	if value == nil {
		text, _ := answer.text()
		value = bytes.TrimSpace([]byte(text))
		if !json.Valid(value) {
			return nil, r.invalid(quoteSome(text), "the call was made, but its result is not the declared one: there is no structured content, and the text is not JSON")
		}
	}
	output := r.output()
	if output == nil {
		return value, nil
	}
	if findings := output.Validate(value); len(findings) > 0 {
		lines := make([]string, len(findings))
		for i, f := range findings {
			lines[i] = f.String()
		}
		return nil, r.invalid(value, "the call was made, but its result is not the declared one: %s", strings.Join(lines, "; "))
	}
	return value, nil
}

// invalid is the error of a call that was made and whose result cannot be
// passed on. The data, if it is not too large, is what the server sent: the
// effect is done, and the program may still want to read what came of it.
func (r *remote) invalid(data json.RawMessage, format string, args ...any) error {
	te := &tools.ToolError{Kind: tools.KindInvalidResult, Message: fmt.Sprintf(format, args...)}
	if len(data) <= r.server.o.MaxResult {
		te.Data = data
	}
	return te.WithCause(fmt.Errorf("mcp server %q: tool %q: %s", r.server.name, r.name, te.Message))
}

// untyped returns the result of a tool without an output schema.
func (a *callResult) untyped() json.RawMessage {
	if len(a.Content) == 0 {
		if a.StructuredContent != nil {
			return a.StructuredContent
		}
		return json.RawMessage("null")
	}
	if text, ok := a.text(); ok {
		return quote(text)
	}
	return joinArray(a.Content)
}

// text returns the text of all text blocks, and whether there are no others.
func (a *callResult) text() (string, bool) {
	var texts []string
	all := true
	for _, raw := range a.Content {
		var block struct {
			Type string  `json:"type"`
			Text *string `json:"text"`
		}
		if json.Unmarshal(raw, &block) == nil && block.Type == "text" && block.Text != nil {
			texts = append(texts, *block.Text)
		} else {
			all = false
		}
	}
	return strings.Join(texts, "\n"), all
}

// rpcText is how servers on the TypeScript SDK report a JSON-RPC error that
// happened while a tool was called.
var rpcText = regexp.MustCompile(`(?s)^MCP error (-\d+): (.*)$`)

// maxMessage bounds the text of an error, in bytes.
const maxMessage = 16 << 10

// failure is the error that the tool itself reports.
func (a *callResult) failure() error {
	text, _ := a.text()
	te := &tools.ToolError{Kind: tools.KindFailed, Message: text, Data: a.StructuredContent}
	if m := rpcText.FindStringSubmatch(text); m != nil {
		if code, err := strconv.ParseInt(m[1], 10, 64); err == nil {
			te.Kind, te.Message = rpcKind(code, m[2]), m[2]
		}
	}
	if len(te.Message) > maxMessage {
		te.Message = strings.ToValidUTF8(te.Message[:maxMessage], "") + "…"
	}
	if te.Message == "" {
		te.Message = "the tool failed and gave no reason"
	}
	return te
}

// quote returns text as a JSON string, without escapes that only HTML needs.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always encodes
	return bytes.TrimSpace(b.Bytes())
}

// quoteSome is quote, and nil for no text.
func quoteSome(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return quote(text)
}

func joinArray(items []json.RawMessage) json.RawMessage {
	out := []byte("[")
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/writ-go/writ/tools"
)

// callResult is the result of tools/call as the server wrote it.
type callResult struct {
	Content           []json.RawMessage
	StructuredContent json.RawMessage
	IsError           bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *callResult) UnmarshalJSON(data []byte) error {
	return decodeExactly(data, field{"content", &a.Content}, field{"structuredContent", &a.StructuredContent}, field{"isError", &a.IsError})
}

// result makes of a server's answer what the tool's declaration says.
func (r *remote) result(raw json.RawMessage) (json.RawMessage, error) {
	var answer callResult
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, r.invalid(nil, "the call was made, but the answer is malformed: %v", err)
	}
	answer.StructuredContent = present(answer.StructuredContent)
	if answer.IsError {
		return nil, r.reported(&answer)
	}
	limit := r.server.o.MaxResult
	if answer.exceeds(limit) {
		return nil, r.tooLarge(&sizeError{limit: limit})
	}
	value := r.value(&answer)
	if len(value) > limit {
		return nil, r.tooLarge(&sizeError{size: len(value), limit: limit})
	}
	value = bytes.Clone(value) // not the whole message
	if r.typed {
		return r.declared(&answer, value)
	}
	return value, nil
}

// exceeds reports whether the content alone is more than the limit, as far as that can be
// seen before it is decoded: a character may be written as six.
func (a *callResult) exceeds(limit int) bool {
	size := 0
	for _, block := range a.Content {
		size += len(block)
	}
	return size/6 > limit && a.StructuredContent == nil
}

func (r *remote) value(answer *callResult) json.RawMessage {
	if r.typed {
		return answer.typed()
	}
	return answer.untyped()
}

// declared returns the result of a tool with an output schema, if it is as that
// says.
func (r *remote) declared(answer *callResult, value json.RawMessage) (json.RawMessage, error) {
	if answer.StructuredContent == nil && !json.Valid(value) {
		text, _ := answer.text()
		return nil, r.invalid(quoteSome(text), "the call was made, but its result is not the declared one: there is no structured content, and the text is not JSON")
	}
	output := r.output()
	if output == nil {
		return value, nil
	}
	if tooManyToDecode(value) {
		return nil, r.invalid(value, "the call was made, but %v; ask for less", &sizeError{limit: maxDecoded, of: "JSON values"})
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
	te := &tools.ToolError{Kind: tools.KindInvalidResult, Message: fmt.Sprintf(format, args...), Data: r.some(data)}
	return te.WithCause(fmt.Errorf("mcp server %q: tool %q: %s", r.server.name, r.name, te.Message))
}

// tooLarge is the error of a call that was made and whose result is too large.
func tooLarge(size *sizeError) *tools.ToolError {
	return &tools.ToolError{Kind: tools.KindTooLarge, Message: "the call was made, but " + size.Error() + "; ask for less"}
}

func (r *remote) tooLarge(size *sizeError) error { return tooLarge(size).WithCause(r.named(size)) }

// untyped returns the result of a tool without an output schema, as one of the
// forms that such a tool is declared with.
func (a *callResult) untyped() json.RawMessage {
	text, all := a.text()
	switch {
	case a.StructuredContent != nil:
		var blocks json.RawMessage
		if !all {
			blocks = joinArray(a.Content)
		}
		return withData(text, a.StructuredContent, blocks)
	case all:
		return quote(text)
	}
	return joinArray(a.Content)
}

// withData is text with the data that came with it, as the server wrote that, and
// all blocks where some are not text.
func withData(text string, data, blocks json.RawMessage) json.RawMessage {
	out := slices.Concat([]byte(`{"text":`), quote(text), []byte(`,"data":`), data)
	if blocks != nil {
		out = slices.Concat(out, []byte(`,"blocks":`), blocks)
	}
	return append(out, '}')
}

// typed returns what may be the result of a tool with an output schema.
func (a *callResult) typed() json.RawMessage {
	if a.StructuredContent != nil {
		return a.StructuredContent
	}
	text, _ := a.text()
	return bytes.TrimSpace([]byte(text))
}

// text returns the text of all text blocks, and whether there are no others.
func (a *callResult) text() (string, bool) {
	var texts []string
	all := true
	for _, raw := range a.Content {
		var kind string
		var text *string
		if decodeExactly(raw, field{"type", &kind}, field{"text", &text}) == nil && kind == "text" && text != nil {
			texts = append(texts, *text)
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

// reported is the error that the tool itself reports.
func (r *remote) reported(a *callResult) error {
	text, _ := a.text()
	te := &tools.ToolError{Kind: tools.KindFailed, Message: text, Data: r.some(a.StructuredContent)}
	if m := rpcText.FindStringSubmatch(text); m != nil {
		te.Message = m[2]
		if m[1] == "-32602" {
			te.Kind = r.turnedAway(m[2])
		}
	}
	if te.Message = r.server.secrets.hide(cutMessage(te.Message)); te.Message == "" {
		te.Message = "the tool failed and gave no reason"
	}
	return te
}

// turnedAway sorts the text of an error by which the TypeScript SDK can have
// turned the call away before its tool was run. Any other wording is that of
// the tool, which may have done a part.
func (r *remote) turnedAway(text string) string {
	switch {
	case text == "Tool "+r.name+" not found", text == "Tool "+r.name+" disabled":
		return tools.KindUnknownTool
	case strings.HasPrefix(strings.TrimPrefix(text, "Input validation error: "), "Invalid arguments for tool "+r.name+": "):
		return tools.KindInvalidArguments
	}
	return tools.KindFailed
}

// some returns data that is not too large to be passed on.
func (r *remote) some(data json.RawMessage) json.RawMessage {
	if len(data) > r.server.o.MaxResult {
		return nil
	}
	return bytes.Clone(data)
}

func cutMessage(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessage], "") + "…"
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

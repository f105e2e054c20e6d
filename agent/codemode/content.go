package codemode

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/writ-go/writ/internal/jsonvalue"
)

// maxBlocks is the maximum number of content blocks that are extracted from one value.
const maxBlocks = 100

// maxDepth is the maximum nesting depth of values that are searched for content blocks.
const maxDepth = 1000

// takeContent extracts images, audio and resources from a program's value, so that clients can show them and models do
// not read base64. A content block is an object as MCP defines it, such as {type: "image", data, mimeType}, anywhere in
// the value. A short note replaces the block. An incomplete image or audio block stays in the value, and the warning
// says why.
func takeContent(value json.RawMessage) (without json.RawMessage, blocks []mcp.Content, warning string) {
	if !bytes.Contains(value, []byte(`"type"`)) {
		return value, nil, ""
	}
	document, err := jsonvalue.Decode(value, maxDepth, true)
	if err != nil {
		return value, nil, ""
	}
	t := &taker{document: document}
	rest := t.take(document.Value)
	if len(t.blocks) == 0 {
		return value, nil, t.warning
	}
	return document.Encode(rest), t.blocks, t.warning
}

type taker struct {
	document *jsonvalue.Document
	blocks   []mcp.Content
	warning  string
}

// take returns v with notes instead of content blocks.
func (t *taker) take(v any) any {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			v[i] = t.take(item)
		}
	case map[string]any:
		if len(t.blocks) < maxBlocks {
			if block, about := t.block(v); block != nil {
				t.blocks = append(t.blocks, block)
				return fmt.Sprintf("[%s: content block %d of this response]", about, len(t.blocks))
			}
		}
		for _, name := range t.document.Names(v) { // in order, so that the numbers in the notes increase
			v[name] = t.take(v[name])
		}
	}
	return v
}

// block converts an object to a content block and describes the block. It returns nil if the object is
// not a content block. Text blocks stay in the value.
func (t *taker) block(object map[string]any) (mcp.Content, string) {
	fields := blockFields(object)
	if fields == nil {
		return nil, ""
	}
	text, err := json.Marshal(map[string]any{"content": []any{fields}})
	if err != nil {
		return nil, ""
	}
	var parsed mcp.CallToolResult
	about := ""
	if json.Unmarshal(text, &parsed) == nil && len(parsed.Content) == 1 {
		about = describeBlock(parsed.Content[0])
	}
	if about == "" {
		t.warn(object)
		return nil, ""
	}
	return parsed.Content[0], about
}

// blockFields returns the string fields of a content block, or nil if the object cannot be one. Other
// fields, which may be large, are left out.
func blockFields(object map[string]any) map[string]any {
	fields := stringsOf(object, "type", "mimeType", "data", "uri", "name", "title", "description")
	switch object["type"] {
	case "image", "audio":
		if fields["data"] == nil {
			return nil
		}
	case "resource_link":
	case "resource":
		resource, _ := object["resource"].(map[string]any)
		if fields["resource"] = stringsOf(resource, "uri", "mimeType", "text", "blob"); resource["uri"] == nil {
			return nil
		}
	default:
		return nil
	}
	return fields
}

func stringsOf(object map[string]any, names ...string) map[string]any {
	fields := map[string]any{}
	for _, name := range names {
		if text, ok := object[name].(string); ok {
			fields[name] = text
		}
	}
	return fields
}

// warn sets the warning that says why an object that looks like an image or audio is not a content block.
func (t *taker) warn(object map[string]any) {
	_, data := object["data"].(string)
	mimeType, _ := object["mimeType"].(string)
	switch {
	case !data || object["type"] != "image" && object["type"] != "audio":
	case mimeType == "":
		t.warning = fmt.Sprintf("the %s in the result is not shown, because its mimeType is missing", object["type"])
	default:
		t.warning = fmt.Sprintf("the %s in the result is not shown, because its data is not base64", object["type"])
	}
}

// describeBlock describes a complete block. For an incomplete one, it returns "".
func describeBlock(block mcp.Content) string {
	switch b := block.(type) {
	case *mcp.ImageContent:
		return describeData(b.MIMEType, len(b.Data))
	case *mcp.AudioContent:
		return describeData(b.MIMEType, len(b.Data))
	case *mcp.EmbeddedResource:
		if b.Resource != nil && b.Resource.URI != "" {
			return "resource " + cut(b.Resource.URI, 200)
		}
	case *mcp.ResourceLink:
		if b.URI != "" && b.Name != "" {
			return "link to " + cut(b.URI, 200)
		}
	}
	return ""
}

func describeData(mimeType string, size int) string {
	if mimeType == "" || size == 0 {
		return ""
	}
	return fmt.Sprintf("%s, %d bytes", cut(mimeType, 100), size)
}

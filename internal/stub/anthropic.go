package stub

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Anthropic returns a stub of Anthropic's Messages API, at any path that ends in /v1/messages. It sends the replies in
// order. It signs thoughts, and rejects requests that contain changed thoughts.
func Anthropic(o *Options, replies ...Reply) *Server { return newServer(anthropic{}, o, replies) }

type anthropic struct{}

func (anthropic) name() string { return "anthropic" }

func (p anthropic) refuse(r Request, o *Options) (int, string) {
	model, _ := r.Body["model"].(string)
	switch {
	case !strings.HasSuffix(r.Path, "/v1/messages"):
		return http.StatusNotFound, "Not found"
	case r.Header.Get("X-Api-Key") != o.Key:
		return http.StatusUnauthorized, "invalid x-api-key"
	case r.Header.Get("Anthropic-Version") == "":
		return http.StatusBadRequest, "anthropic-version: header is required"
	case len(o.Models) > 0 && !slices.Contains(o.Models, model):
		return http.StatusNotFound, "model: " + model
	}
	return http.StatusBadRequest, thoughtsProblem(r)
}

// thoughtsProblem returns an error message if a request returns changed thoughts, or leaves out the thoughts before
// tool calls.
func thoughtsProblem(r Request) string {
	thinking, _ := r.Body["thinking"].(map[string]any)
	for i, m := range objects(r.Body["messages"]) {
		blocks := objects(m["content"])
		for _, block := range blocks {
			thought, _ := block["thinking"].(string)
			data, _ := block["data"].(string)
			secret, signed, _ := strings.Cut(data, ".")
			if block["type"] == "thinking" && block["signature"] != signature(thought) ||
				block["type"] == "redacted_thinking" && signed != signature(secret) {
				return fmt.Sprintf("messages.%d: Invalid `signature` in `thinking` block", i)
			}
		}
		last := i == len(objects(r.Body["messages"]))-2
		calls := slices.ContainsFunc(blocks, func(b map[string]any) bool { return b["type"] == "tool_use" })
		if last && calls && thinking["type"] == "enabled" && blocks[0]["thinking"] == nil && blocks[0]["data"] == nil {
			return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`", i)
		}
	}
	return ""
}

func (anthropic) turns(r Request) (turns []turn) {
	for _, m := range objects(r.Body["messages"]) {
		var t turn
		for _, block := range objects(m["content"]) {
			switch block["type"] {
			case "tool_use":
				t.calls = append(t.calls, fmt.Sprint(block["id"]))
			case "tool_result":
				t.results = append(t.results, fmt.Sprint(block["tool_use_id"]))
			}
		}
		turns = append(turns, t)
	}
	return turns
}

func (anthropic) schema(r Request) (schema any, strict bool) {
	config, _ := r.Body["output_config"].(map[string]any)
	format, _ := config["format"].(map[string]any)
	return format["schema"], true
}

func (anthropic) failure(status int, message string) any {
	kinds := map[int]string{
		401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	kind := kinds[status]
	switch {
	case kind == "" && status < 500:
		kind = "invalid_request_error"
	case kind == "":
		kind = "api_error"
	}
	return map[string]any{
		"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_1",
	}
}

// signature signs a thought.
func signature(thought string) string {
	sum := sha256.Sum256([]byte(thought))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func (p anthropic) answer(w http.ResponseWriter, r Request, reply Reply) {
	reply = reply.named()
	if r.Body["stream"] == true {
		p.stream(w, r, reply)
		return
	}
	message := p.message(r)
	message["content"] = p.content(reply)
	message["stop_reason"] = p.reason(reply)
	message["usage"] = p.usage(reply)
	writeJSON(w, http.StatusOK, message)
}

func (anthropic) message(r Request) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("msg_%d", r.N), "type": "message", "role": "assistant", "model": r.Body["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
	}
}

func (anthropic) content(reply Reply) []map[string]any {
	content := []map[string]any{}
	if reply.Thinking != "" {
		content = append(content, map[string]any{
			"type": "thinking", "thinking": reply.Thinking, "signature": signature(reply.Thinking)})
	}
	if reply.Redacted != "" {
		content = append(content, map[string]any{
			"type": "redacted_thinking", "data": reply.Redacted + "." + signature(reply.Redacted)})
	}
	if text := reply.Text + reply.Refusal; text != "" {
		content = append(content, map[string]any{"type": "text", "text": text})
	}
	for _, c := range reply.ToolCalls {
		call := map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments)}
		maps.Copy(call, c.Extra)
		content = append(content, call)
	}
	return content
}

func (anthropic) reason(reply Reply) string {
	switch {
	case reply.Truncate:
		return "max_tokens"
	case reply.Refusal != "":
		return "refusal"
	case len(reply.ToolCalls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (anthropic) usage(reply Reply) map[string]any {
	return map[string]any{
		"input_tokens": reply.InputTokens - reply.CachedTokens, "cache_read_input_tokens": reply.CachedTokens,
		"cache_creation_input_tokens": 0, "output_tokens": reply.OutputTokens,
		"output_tokens_details": map[string]any{"thinking_tokens": reply.ReasoningTokens},
	}
}

// stream writes the reply as events.
func (p anthropic) stream(w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	e := anthropicEvents{w}
	message := p.message(r)
	message["usage"] = p.usage(reply)
	e.send("message_start", map[string]any{"message": message})
	e.send("ping", map[string]any{})
	for i, block := range p.content(reply) {
		e.block(i, block)
	}
	if reply.Error != "" {
		e.send("error", map[string]any{"error": map[string]any{"type": reply.Error, "message": reply.Error}})
		return
	}
	e.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": p.reason(reply), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": reply.OutputTokens},
	})
	e.send("message_stop", map[string]any{})
}

// anthropicEvents writes events.
type anthropicEvents struct{ w http.ResponseWriter }

func (e anthropicEvents) send(kind string, fields map[string]any) {
	fields["type"] = kind
	data, _ := json.Marshal(fields)
	fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, data)
	flush(e.w)
}

// block writes the events of a content block: the start, without the streamed members, and then these members
// in pieces.
func (e anthropicEvents) block(index int, block map[string]any) {
	start := maps.Clone(block)
	var deltas []map[string]any
	for _, field := range []string{"thinking", "text"} {
		if text, ok := block[field].(string); ok {
			start[field] = ""
			for _, piece := range pieces(text) {
				deltas = append(deltas, map[string]any{"type": field + "_delta", field: piece})
			}
		}
	}
	if signature, ok := block["signature"]; ok {
		start["signature"] = ""
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": signature})
	}
	if input, ok := block["input"].(json.RawMessage); ok {
		start["input"] = map[string]any{}
		for _, piece := range pieces(string(input)) {
			deltas = append(deltas, map[string]any{"type": "input_json_delta", "partial_json": piece})
		}
	}
	e.send("content_block_start", map[string]any{"index": index, "content_block": start})
	for _, delta := range deltas {
		e.send("content_block_delta", map[string]any{"index": index, "delta": delta})
	}
	e.send("content_block_stop", map[string]any{"index": index})
}

package stub

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Anthropic returns a stub of Anthropic's Messages API, at any path that ends in /v1/messages.
// It gives the replies in order. It signs thoughts and refuses those that come back changed.
func Anthropic(o *Options, replies ...Reply) *Server { return newServer(anthropic{}, o, replies) }

type anthropic struct{}

// anthropicFields are the fields of a request.
var anthropicFields = []string{
	"cache_control", "container", "inference_geo", "max_tokens", "messages", "metadata", "model", "output_config",
	"service_tier", "stop_sequences", "stream", "system", "temperature", "thinking", "tool_choice", "tools",
	"top_k", "top_p",
}

func (p anthropic) refuse(r Request, o *Options) (int, string) {
	model, _ := r.Body["model"].(string)
	switch {
	case !strings.HasSuffix(r.Path, "/v1/messages"):
		return http.StatusNotFound, "Not found"
	case r.Header.Get("X-Api-Key") == "":
		return http.StatusUnauthorized, "x-api-key header is required"
	case r.Header.Get("X-Api-Key") != o.Key:
		return http.StatusUnauthorized, "invalid x-api-key"
	case r.Header.Get("Anthropic-Version") == "":
		return http.StatusBadRequest, "anthropic-version: header is required"
	case r.Body == nil:
		return http.StatusBadRequest, "The request body is not valid JSON"
	case len(o.Models) > 0 && !slices.Contains(o.Models, model):
		return http.StatusNotFound, "model: " + model
	}
	for _, check := range []func(Request, *Options) string{
		anthropicParameters, anthropicThinking, anthropicGeneration, anthropicSystem, anthropicMessages, anthropicSchema,
	} {
		if problem := check(r, o); problem != "" {
			return http.StatusBadRequest, problem
		}
	}
	return 0, ""
}

func anthropicParameters(r Request, o *Options) string {
	for _, name := range []string{"model", "max_tokens", "messages"} {
		if r.Body[name] == nil {
			return name + ": Field required"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Body)) {
		if !slices.Contains(anthropicFields, name) && !slices.Contains(o.Fields, name) {
			return name + ": Extra inputs are not permitted"
		}
	}
	if limit, _ := r.Body["max_tokens"].(float64); limit < 1 || limit > 128_000 {
		return fmt.Sprintf("max_tokens: %v > 128000, which is the maximum allowed number of output tokens for %v",
			r.Body["max_tokens"], r.Body["model"])
	}
	if r.Body["temperature"] != nil && r.Body["top_p"] != nil {
		return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
	}
	if r.Body["tool_choice"] != nil && r.Body["tools"] == nil {
		return "tool_choice: may only be specified while providing tools."
	}
	tools, _ := r.Body["tools"].([]any)
	for i, t := range tools {
		tool, _ := t.(map[string]any)
		if problem := extra(tool, "cache_control", "description", "input_schema", "name", "strict", "type"); problem != "" {
			return fmt.Sprintf("tools.%d.custom.%s", i, problem)
		}
		if name, _ := tool["name"].(string); !toolName(name) {
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		if schema, _ := tool["input_schema"].(map[string]any); schema["type"] != "object" {
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Field required", i)
		}
	}
	return ""
}

// extra returns the complaint about a field that an object must not have, or "".
func extra(object map[string]any, allowed ...string) string {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(allowed, name) {
			return name + ": Extra inputs are not permitted"
		}
	}
	return ""
}

func anthropicThinking(r Request, _ *Options) string {
	thinking, _ := r.Body["thinking"].(map[string]any)
	budget, _ := thinking["budget_tokens"].(float64)
	limit, _ := r.Body["max_tokens"].(float64)
	switch kind := thinking["type"]; {
	case thinking == nil:
		return ""
	case kind != "enabled" && kind != "adaptive" && kind != "disabled":
		return "thinking: Input tag must be one of 'disabled', 'enabled', 'adaptive'"
	case kind != "enabled" && thinking["budget_tokens"] != nil:
		return fmt.Sprintf("thinking.%v.budget_tokens: Extra inputs are not permitted", kind)
	case kind == "enabled" && budget < 1024:
		return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
	case kind == "enabled" && budget >= limit:
		return "`max_tokens` must be greater than `thinking.budget_tokens`."
	case kind != "disabled" && r.Body["temperature"] != nil && r.Body["temperature"] != 1.0:
		return "`temperature` may only be set to 1 when thinking is enabled."
	}
	return ""
}

// Claude 4.5 and older think with a budget; Opus 4.7 and everything from Claude 5 on without.
var (
	budgeted = regexp.MustCompile(`^claude-(3-|[a-z]+-4-([0-5]\b|20))`)
	adaptive = regexp.MustCompile(`^claude-(opus-4-[78]|[a-z]+-5)`)
)

// anthropicGeneration checks what only some generations of Claude accept.
func anthropicGeneration(r Request, _ *Options) string {
	model, _ := r.Body["model"].(string)
	thinking, _ := r.Body["thinking"].(map[string]any)
	config, _ := r.Body["output_config"].(map[string]any)
	switch {
	case budgeted.MatchString(model) && thinking["type"] == "adaptive":
		return "adaptive thinking is not supported on this model"
	case budgeted.MatchString(model) && config["effort"] != nil && !strings.HasPrefix(model, "claude-opus-4-5"):
		return "This model does not support the effort parameter."
	case adaptive.MatchString(model) && thinking["type"] == "enabled":
		return "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and " +
			"\"output_config.effort\" to control thinking behavior."
	case adaptive.MatchString(model) && r.Body["temperature"] != nil:
		return "`temperature` is deprecated for this model."
	case adaptive.MatchString(model) && r.Body["top_p"] != nil:
		return "`top_p` is deprecated for this model."
	}
	return ""
}

func anthropicSystem(r Request, _ *Options) string {
	blocks, _ := r.Body["system"].([]any)
	for i, b := range blocks {
		block, _ := b.(map[string]any)
		if text, _ := block["text"].(string); block["type"] != "text" || text == "" {
			return fmt.Sprintf("system.%d: text content blocks must be non-empty", i)
		}
	}
	return ""
}

func anthropicSchema(r Request, o *Options) string {
	config, _ := r.Body["output_config"].(map[string]any)
	if problem := extra(config, "effort", "format"); problem != "" {
		return "output_config." + problem
	}
	efforts := []any{nil, "low", "medium", "high", "xhigh", "max"}
	if !slices.Contains(efforts, config["effort"]) {
		return "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
	}
	format, _ := config["format"].(map[string]any)
	switch {
	case format == nil || o.Unconstrained:
		return ""
	case o.NoSchema:
		return fmt.Sprintf("output_config.format: %v does not support structured outputs", r.Body["model"])
	case format["type"] != "json_schema":
		return "output_config.format.type: Input should be 'json_schema'"
	}
	if context, problem := violation(format["schema"]); problem != "" {
		return fmt.Sprintf("output_config.format.schema: Invalid schema: in %s, %s", context, problem)
	}
	return ""
}

func (anthropic) schema(r Request) any {
	config, _ := r.Body["output_config"].(map[string]any)
	format, _ := config["format"].(map[string]any)
	return format["schema"]
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

// stream writes the reply as events. The inputs of several tool calls are interleaved.
func (p anthropic) stream(w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	e := anthropicEvents{w}
	message := p.message(r)
	message["usage"] = p.usage(reply)
	e.send("message_start", map[string]any{"message": message})
	e.send("ping", map[string]any{})
	var inputs [][]string
	for i, block := range p.content(reply) {
		inputs = append(inputs, e.block(i, block))
	}
	if reply.Error != "" {
		e.send("error", map[string]any{"error": map[string]any{"type": reply.Error, "message": reply.Error}})
		return
	}
	e.inputs(inputs)
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

func (e anthropicEvents) delta(index int, kind, field, text string) {
	e.send("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: text}})
}

// block writes a block of content, except for the input of a tool, whose pieces it returns.
func (e anthropicEvents) block(i int, block map[string]any) (input []string) {
	start := maps.Clone(block)
	for _, field := range []string{"text", "thinking", "signature"} {
		if start[field] != nil {
			start[field] = ""
		}
	}
	if raw, ok := start["input"].(json.RawMessage); ok {
		start["input"], input = map[string]any{}, pieces(string(raw))
	}
	e.send("content_block_start", map[string]any{"index": i, "content_block": start})
	for _, field := range []string{"thinking", "text"} {
		text, _ := block[field].(string)
		for _, piece := range pieces(text) {
			e.delta(i, field+"_delta", field, piece)
		}
	}
	if signature, ok := block["signature"].(string); ok {
		e.delta(i, "signature_delta", "signature", signature)
	}
	if input == nil {
		e.send("content_block_stop", map[string]any{"index": i})
	}
	return input
}

// inputs writes the inputs of the tool calls, interleaved.
func (e anthropicEvents) inputs(inputs [][]string) {
	for n, more := 0, true; more; n++ {
		more = false
		for i, input := range inputs {
			if n < len(input) {
				more = true
				e.delta(i, "input_json_delta", "partial_json", input[n])
			}
		}
	}
	for i, input := range inputs {
		if input != nil {
			e.send("content_block_stop", map[string]any{"index": i})
		}
	}
}

package stub

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Ollama returns a stub of Ollama's /api/chat and /api/show. It gives the replies in order to
// the former; the latter reports a model that has a context of 32768 tokens, thinks and calls
// tools. A key is required only if Options.Key is set.
func Ollama(o *Options, replies ...Reply) *Server {
	return newServer(ollama{keyed: o != nil && o.Key != ""}, o, replies)
}

type ollama struct{ keyed bool }

const ollamaContext = 32768

// ollamaFields are the fields of a request, ollamaMessage those of its messages, ollamaOptions
// the parameters of the model. Ollama ignores unknown ones; the stub refuses them.
var (
	ollamaFields = []string{
		"format", "keep_alive", "logprobs", "messages", "model", "options", "shift", "stream", "think", "tools",
		"top_logprobs", "truncate",
	}
	ollamaMessage = []string{"content", "images", "role", "thinking", "tool_call_id", "tool_calls", "tool_name"}
	ollamaOptions = []string{
		"frequency_penalty", "min_p", "num_ctx", "num_keep", "num_predict", "presence_penalty", "repeat_penalty", "seed",
		"stop", "temperature", "top_k", "top_p",
	}
)

func (p ollama) refuse(r Request, o *Options) (int, string) {
	model, _ := r.Body["model"].(string)
	switch {
	case !strings.HasSuffix(r.Path, "/api/chat") && !strings.HasSuffix(r.Path, "/api/show"):
		return http.StatusNotFound, "404 page not found"
	case p.keyed && r.Header.Get("Authorization") != "Bearer "+o.Key:
		return http.StatusUnauthorized, "unauthorized"
	case r.Body == nil:
		return http.StatusBadRequest, "invalid character in request body"
	case model == "":
		return http.StatusBadRequest, "model is required"
	case len(o.Models) > 0 && !slices.Contains(o.Models, model):
		return http.StatusNotFound, fmt.Sprintf("model '%s' not found", model)
	case strings.HasSuffix(r.Path, "/api/show"):
		return 0, ""
	}
	for _, check := range []func(Request, *Options) string{ollamaParameters, ollamaMessages, ollamaSchema} {
		if problem := check(r, o); problem != "" {
			return http.StatusBadRequest, problem
		}
	}
	return 0, ""
}

func (ollama) describe(r Request) any {
	if !strings.HasSuffix(r.Path, "/api/show") {
		return nil
	}
	return map[string]any{
		"capabilities": []string{"completion", "tools", "thinking"},
		"model_info":   map[string]any{"general.architecture": "stub", "stub.context_length": ollamaContext},
	}
}

func ollamaParameters(r Request, o *Options) string {
	if problem := extra(r.Body, slices.Concat(ollamaFields, o.Fields)...); problem != "" {
		return problem
	}
	options, _ := r.Body["options"].(map[string]any)
	if problem := extra(options, slices.Concat(ollamaOptions, o.Fields)...); problem != "" {
		return "options." + problem
	}
	switch think := r.Body["think"].(type) {
	case nil, bool:
	case string:
		if !slices.Contains([]string{"high", "medium", "low", "max"}, think) {
			return fmt.Sprintf(`invalid think value: %q (must be "high", "medium", "low", "max", true, or false)`, think)
		}
	default:
		return `think must be a boolean or string ("high", "medium", "low", "max", true, or false)`
	}
	context, _ := options["num_ctx"].(float64)
	if context == 0 {
		context = 4096
	}
	if len(r.Raw)/4 > int(context) && r.Body["truncate"] == false {
		return "the input length exceeds the context length"
	}
	return ""
}

func ollamaMessages(r Request, _ *Options) string {
	messages, _ := r.Body["messages"].([]any)
	for i, item := range messages {
		m, _ := item.(map[string]any)
		if problem := extra(m, ollamaMessage...); problem != "" {
			return fmt.Sprintf("messages.%d.%s", i, problem)
		}
		if role, _ := m["role"].(string); !slices.Contains([]string{"system", "user", "assistant", "tool"}, role) {
			return fmt.Sprintf("invalid role: %s", role)
		}
		if _, isText := m["content"].(string); m["content"] != nil && !isText {
			return "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string"
		}
		calls, _ := m["tool_calls"].([]any)
		for _, c := range calls {
			call, _ := c.(map[string]any)
			function, _ := call["function"].(map[string]any)
			if _, isObject := function["arguments"].(map[string]any); !isObject {
				return "json: cannot unmarshal string into Go struct field ToolCallFunction.arguments of type map"
			}
		}
	}
	return ""
}

func ollamaSchema(r Request, o *Options) string {
	_, isSchema := r.Body["format"].(map[string]any)
	switch {
	case isSchema && o.NoSchema:
		return "failed to parse grammar: the schema in format is not supported"
	case isSchema, r.Body["format"] == nil, r.Body["format"] == "json":
		return ""
	}
	return fmt.Sprintf(`invalid format: %q; expected "json" or a valid JSON Schema object`, r.Body["format"])
}

func (ollama) schema(r Request) any {
	if schema, ok := r.Body["format"].(map[string]any); ok {
		return schema
	}
	return nil
}

func (ollama) failure(_ int, message string) any { return map[string]any{"error": message} }

func (p ollama) answer(w http.ResponseWriter, r Request, reply Reply) {
	if r.Body["stream"] != false {
		p.stream(w, r, reply)
		return
	}
	message := p.message(reply.Text, reply.Thinking)
	if calls := p.calls(reply); calls != nil {
		message["tool_calls"] = calls
	}
	writeJSON(w, http.StatusOK, p.last(r, reply, message))
}

// message returns a message. Like Ollama, it leaves out an empty thought.
func (ollama) message(text, thinking string) map[string]any {
	m := map[string]any{"role": "assistant", "content": text}
	if thinking != "" {
		m["thinking"] = thinking
	}
	return m
}

func (ollama) calls(reply Reply) (calls []any) {
	for i, c := range reply.ToolCalls {
		call := map[string]any{"function": map[string]any{
			"index": i, "name": c.Name, "arguments": json.RawMessage(c.Arguments)}}
		if c.ID != "" { // older versions have none
			call["id"] = c.ID
		}
		maps.Copy(call, c.Extra)
		calls = append(calls, call)
	}
	return calls
}

func (ollama) last(r Request, reply Reply, message map[string]any) map[string]any {
	reason := "stop"
	if reply.Truncate {
		reason = "length"
	}
	return map[string]any{
		"model": r.Body["model"], "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true,
		"done_reason": reason, "prompt_eval_count": reply.InputTokens, "eval_count": reply.OutputTokens,
	}
}

func (p ollama) stream(w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	line := func(value map[string]any) {
		data, _ := json.Marshal(value)
		fmt.Fprintf(w, "%s\n", data)
		flush(w)
	}
	chunk := func(message map[string]any) {
		line(map[string]any{
			"model": r.Body["model"], "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
	}
	for _, piece := range pieces(reply.Thinking) {
		chunk(p.message("", piece))
	}
	for _, piece := range pieces(reply.Text) {
		chunk(p.message(piece, ""))
	}
	if reply.Error != "" {
		line(map[string]any{"error": reply.Error})
		return
	}
	for _, call := range p.calls(reply) {
		message := p.message("", "")
		message["tool_calls"] = []any{call}
		chunk(message)
	}
	line(p.last(r, reply, p.message("", "")))
}

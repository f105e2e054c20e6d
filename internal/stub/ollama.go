package stub

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Ollama returns a stub of Ollama's /api/chat and /api/show. At /api/chat, it sends the replies in order. At
// /api/show, it reports a model that has a context of 32768 tokens, thinks and calls tools. A key is required
// only if Options.Key is set.
func Ollama(o *Options, replies ...Reply) *Server {
	return newServer(ollama{keyed: o != nil && o.Key != ""}, o, replies)
}

type ollama struct{ keyed bool }

func (ollama) name() string { return "ollama" }

const ollamaContext = 32768

func (p ollama) refuse(r Request, o *Options) (int, string) {
	model, _ := r.Body["model"].(string)
	switch {
	case !strings.HasSuffix(r.Path, "/api/chat") && !strings.HasSuffix(r.Path, "/api/show"):
		return http.StatusNotFound, "404 page not found"
	case p.keyed && r.Header.Get("Authorization") != "Bearer "+o.Key:
		return http.StatusUnauthorized, "unauthorized"
	case len(o.Models) > 0 && !slices.Contains(o.Models, model):
		return http.StatusNotFound, fmt.Sprintf("model '%s' not found", model)
	case strings.HasSuffix(r.Path, "/api/show"):
		return 0, ""
	}
	options, _ := r.Body["options"].(map[string]any)
	context, _ := options["num_ctx"].(float64)
	if context == 0 {
		context = 4096
	}
	if len(r.Raw)/4 > int(context) && r.Body["truncate"] == false {
		return http.StatusBadRequest, "the input length exceeds the context length"
	}
	return 0, ""
}

// turns returns nothing: Ollama does not require results.
func (ollama) turns(Request) []turn { return nil }

// describe returns the response of /api/show.
func (ollama) describe() any {
	return map[string]any{
		"capabilities": []string{"completion", "tools", "thinking"},
		"model_info":   map[string]any{"general.architecture": "stub", "stub.context_length": ollamaContext},
	}
}

func (ollama) schema(r Request) (schema any, strict bool) {
	if s, ok := r.Body["format"].(map[string]any); ok {
		return s, false
	}
	return nil, false
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

// message returns a message. Like Ollama, it leaves out the thought if the thought is empty.
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
		if c.ID != "" { // older versions do not send ids
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

package stub

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// OpenAI returns a stub of OpenAI's chat completions, at any path that ends in /chat/completions. It sends the
// replies in order.
func OpenAI(o *Options, replies ...Reply) *Server { return newServer(openAI{}, o, replies) }

type openAI struct{}

func (openAI) name() string { return "openai" }

func (openAI) refuse(r Request, o *Options) (int, string) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if strings.Contains(r.Path, "/openai/") && key == "" { // Azure's header for keys
		key = r.Header.Get("Api-Key")
	}
	model, _ := r.Body["model"].(string)
	switch {
	case !strings.HasSuffix(r.Path, "/chat/completions"):
		return http.StatusNotFound, fmt.Sprintf("Invalid URL (POST %s)", r.Path)
	case key != o.Key:
		return http.StatusUnauthorized, fmt.Sprintf("Incorrect API key provided: %s. "+
			"You can find your API key at https://platform.openai.com/account/api-keys.", key)
	case len(o.Models) > 0 && !slices.Contains(o.Models, model):
		return http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)
	}
	return 0, ""
}

func (openAI) turns(r Request) (turns []turn) {
	for _, m := range objects(r.Body["messages"]) {
		var t turn
		if m["role"] == "tool" {
			t.results = append(t.results, fmt.Sprint(m["tool_call_id"]))
		}
		for _, call := range objects(m["tool_calls"]) {
			t.calls = append(t.calls, fmt.Sprint(call["id"]))
		}
		turns = append(turns, t)
	}
	return turns
}

func (openAI) schema(r Request) (schema any, strict bool) {
	format, _ := r.Body["response_format"].(map[string]any)
	wrapped, _ := format["json_schema"].(map[string]any)
	return wrapped["schema"], wrapped["strict"] == true
}

func (openAI) failure(status int, message string) any {
	kind, code := "invalid_request_error", any(nil)
	switch {
	case status == http.StatusUnauthorized:
		code = "invalid_api_key"
	case status == http.StatusNotFound:
		code = "model_not_found"
	case status == http.StatusTooManyRequests:
		kind, code = "requests", "rate_limit_exceeded"
	case status >= 500:
		kind = "server_error"
	}
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}}
}

func (p openAI) answer(w http.ResponseWriter, r Request, reply Reply) {
	reply = reply.named()
	if r.Body["stream"] == true {
		p.stream(w, r, reply)
		return
	}
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil, "annotations": []any{}}
	if reply.speaks() {
		message["content"] = reply.Text
	}
	if reply.Refusal != "" {
		message["refusal"] = reply.Refusal
	}
	if reply.Thinking != "" {
		message["reasoning_content"] = reply.Thinking
	}
	var calls []any
	for _, c := range reply.ToolCalls {
		calls = append(calls, openAICall(c, c.Arguments))
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	body := openAIFrame(r, "chat.completion")
	choice := map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": openAIReason(reply)}
	body["choices"] = []any{choice}
	body["usage"] = openAIUsage(reply)
	writeJSON(w, http.StatusOK, body)
}

// speaks reports whether a reply has content, possibly an empty string.
func (r Reply) speaks() bool { return r.Text != "" || len(r.ToolCalls) == 0 && r.Refusal == "" }

func openAICall(c ToolCall, arguments string) map[string]any {
	function := map[string]any{"name": c.Name, "arguments": arguments}
	call := map[string]any{"id": c.ID, "type": "function", "function": function}
	maps.Copy(call, c.Extra)
	return call
}

func openAIFrame(r Request, object string) map[string]any {
	id := fmt.Sprintf("chatcmpl-%d", r.N)
	return map[string]any{"id": id, "object": object, "created": 1, "model": r.Body["model"]}
}

func openAIReason(reply Reply) string {
	switch {
	case reply.Truncate:
		return "length"
	case len(reply.ToolCalls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func openAIUsage(reply Reply) map[string]any {
	return map[string]any{
		"prompt_tokens": reply.InputTokens, "completion_tokens": reply.OutputTokens,
		"total_tokens":              reply.InputTokens + reply.OutputTokens,
		"prompt_tokens_details":     map[string]any{"cached_tokens": reply.CachedTokens},
		"completion_tokens_details": map[string]any{"reasoning_tokens": reply.ReasoningTokens},
	}
}

// stream writes the reply in pieces.
func (openAI) stream(w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices []any, usage any) {
		frame := openAIFrame(r, "chat.completion.chunk")
		frame["choices"], frame["usage"] = choices, usage
		data, _ := json.Marshal(frame)
		fmt.Fprintf(w, "data: %s\n\n", data)
		flush(w)
	}
	delta := func(delta map[string]any, reason any) {
		send([]any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": reason}}, nil)
	}
	first := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	if reply.speaks() {
		first["content"] = ""
	}
	delta(first, nil)
	for _, part := range []struct{ field, text string }{
		{"reasoning_content", reply.Thinking}, {"content", reply.Text}, {"refusal", reply.Refusal},
	} {
		for _, piece := range pieces(part.text) {
			delta(map[string]any{part.field: piece}, nil)
		}
	}
	for i, c := range reply.ToolCalls {
		call := openAICall(c, "")
		call["index"] = i
		delta(map[string]any{"tool_calls": []any{call}}, nil)
		for _, piece := range pieces(c.Arguments) {
			function := map[string]any{"arguments": piece}
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": function}}}, nil)
		}
	}
	if reply.Error != "" {
		data, _ := json.Marshal(openAI{}.failure(http.StatusInternalServerError, reply.Error))
		fmt.Fprintf(w, "data: %s\n\n", data)
		return
	}
	delta(map[string]any{}, openAIReason(reply))
	if options, _ := r.Body["stream_options"].(map[string]any); options["include_usage"] == true {
		send([]any{}, openAIUsage(reply))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

package stub

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// OpenAI returns a stub of OpenAI's chat completions, at any path that ends in
// /chat/completions. It gives the replies in order.
func OpenAI(o *Options, replies ...Reply) *Server { return newServer(openAI{}, o, replies) }

type openAI struct{}

// openAIFields are the fields of a request, openAIMessage those of its messages.
var (
	openAIFields = []string{
		"audio", "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "messages", "metadata",
		"modalities", "model", "n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
		"reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream",
		"stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity",
	}
	openAIMessage = []string{
		"annotations", "audio", "content", "function_call", "name", "refusal", "role", "tool_call_id", "tool_calls",
	}
)

func (openAI) refuse(r Request, o *Options) (int, string) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	model, _ := r.Body["model"].(string)
	switch {
	case !strings.HasSuffix(r.Path, "/chat/completions"):
		return http.StatusNotFound, fmt.Sprintf("Invalid URL (POST %s)", r.Path)
	case key == "":
		return http.StatusUnauthorized, "You didn't provide an API key. You need to provide your API key in an " +
			"Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
	case key != o.Key:
		return http.StatusUnauthorized, fmt.Sprintf("Incorrect API key provided: %s. "+
			"You can find your API key at https://platform.openai.com/account/api-keys.", key)
	case r.Body == nil:
		return http.StatusBadRequest, "We could not parse the JSON body of your request."
	case model == "":
		return http.StatusBadRequest, "you must provide a model parameter"
	case len(o.Models) > 0 && !slices.Contains(o.Models, model):
		return http.StatusNotFound, fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", model)
	}
	for _, check := range []func(Request, *Options) string{openAIParameters, openAIMessages, openAISchema} {
		if problem := check(r, o); problem != "" {
			return http.StatusBadRequest, problem
		}
	}
	return 0, ""
}

func openAIParameters(r Request, o *Options) string {
	for _, name := range slices.Sorted(maps.Keys(r.Body)) {
		switch {
		case name == "max_tokens" && !slices.Contains(o.Fields, name):
			return "Unsupported parameter: 'max_tokens' is not supported with this model. Use " +
				"'max_completion_tokens' instead."
		case !slices.Contains(openAIFields, name) && !slices.Contains(o.Fields, name):
			return "Unrecognized request argument supplied: " + name
		}
	}
	if r.Body["stream_options"] != nil && r.Body["stream"] != true {
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}
	if r.Body["tool_choice"] != nil && r.Body["tools"] == nil {
		return "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
	}
	tools, _ := r.Body["tools"].([]any)
	for i, t := range tools {
		tool, _ := t.(map[string]any)
		function, _ := tool["function"].(map[string]any)
		name, _ := function["name"].(string)
		if !toolName(name) {
			return fmt.Sprintf("Invalid 'tools[%d].function.name': string does not match pattern. "+
				"Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", i)
		}
	}
	return ""
}

func toolName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

// orphan is the error of a tool's result that answers no call.
const orphan = "Invalid parameter: messages with role 'tool' must be a response to a " +
	"preceeding message with 'tool_calls'." //nolint:misspell // OpenAI's own spelling

// openAIMessages checks the messages, and that each tool call is answered.
func openAIMessages(r Request, o *Options) string {
	messages, _ := r.Body["messages"].([]any)
	if len(messages) == 0 {
		return "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array " +
			"instead."
	}
	var open []string // calls that no message has answered yet
	for i, item := range messages {
		m, _ := item.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(openAIMessage, name) && !slices.Contains(o.Fields, name) {
				return fmt.Sprintf("Unknown parameter: 'messages[%d].%s'.", i, name)
			}
		}
		role, _ := m["role"].(string)
		id, _ := m["tool_call_id"].(string)
		switch {
		case role == "tool" && !slices.Contains(open, id):
			return orphan
		case role == "tool":
			open = slices.DeleteFunc(open, func(s string) bool { return s == id })
		case len(open) > 0:
			return unanswered(open)
		case !slices.Contains([]string{"system", "developer", "user", "assistant"}, role):
			return fmt.Sprintf("Invalid value: '%s'. Supported values are: "+
				"'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", role)
		case m["content"] == nil && m["tool_calls"] == nil:
			return fmt.Sprintf("Invalid value for 'content': expected a string, got null. (messages.[%d].content)", i)
		}
		calls, _ := m["tool_calls"].([]any)
		for k, c := range calls {
			call, _ := c.(map[string]any)
			if call["index"] != nil {
				return fmt.Sprintf("Unknown parameter: 'messages[%d].tool_calls[%d].index'.", i, k)
			}
			open = append(open, fmt.Sprint(call["id"]))
		}
	}
	if len(open) > 0 {
		return unanswered(open)
	}
	return ""
}

func unanswered(ids []string) string {
	return "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
		"'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(ids, ", ")
}

func openAISchema(r Request, o *Options) string {
	format, _ := r.Body["response_format"].(map[string]any)
	if format["type"] != "json_schema" || o.Unconstrained {
		return ""
	}
	if o.NoSchema {
		return "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
	}
	wrapped, _ := format["json_schema"].(map[string]any)
	if wrapped["name"] == nil {
		return "Missing required parameter: 'response_format.json_schema.name'."
	}
	if wrapped["strict"] == true {
		if context, problem := violation(wrapped["schema"]); problem != "" {
			return fmt.Sprintf("Invalid schema for response_format '%s': In context=%s, %s",
				wrapped["name"], context, problem)
		}
	}
	return ""
}

func (openAI) schema(r Request) any {
	format, _ := r.Body["response_format"].(map[string]any)
	wrapped, _ := format["json_schema"].(map[string]any)
	return wrapped["schema"]
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

// speaks reports whether a reply has a text, if only an empty one.
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

// stream writes the reply in pieces, those of several tool calls in turn.
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
	}
	for n, more := 0, true; more; n++ {
		more = false
		for i, c := range reply.ToolCalls {
			if list := pieces(c.Arguments); n < len(list) {
				more = true
				function := map[string]any{"arguments": list[n]}
				delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": function}}}, nil)
			}
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

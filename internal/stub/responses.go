package stub

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Responses returns a stub of OpenAI's Responses API, at any path that ends in /responses. It sends the replies in
// order. It encrypts reasoning, and refuses reasoning that it cannot read or that is not followed by what the model
// wrote next. Models whose name begins with gpt-4 do not reason.
func Responses(o *Options, replies ...Reply) *Server { return newServer(responses{}, o, replies) }

type responses struct{ openAI }

func (responses) name() string { return "responses" }

func (responses) refuse(r Request, o *Options) (int, string) {
	if !strings.HasSuffix(r.Path, "/responses") {
		return http.StatusNotFound, fmt.Sprintf("Invalid URL (POST %s)", r.Path)
	}
	r.Path += "/chat/completions"
	if status, message := (openAI{}).refuse(r, o); message != "" {
		return status, message
	}
	return http.StatusBadRequest, cmp.Or(unreasoned(r), strictTools(r))
}

// unreasoned returns an error message if the model does not reason, or if the order or the content of the reasoning
// items is wrong.
func unreasoned(r Request) string {
	if model := fmt.Sprint(r.Body["model"]); strings.HasPrefix(model, "gpt-4") {
		switch {
		case slices.Contains(list(r.Body["include"]), any("reasoning.encrypted_content")):
			return "Encrypted content is not supported with this model."
		case r.Body["reasoning"] != nil:
			return "Unsupported parameter: 'reasoning.effort' is not supported with this model."
		}
	}
	items := append(objects(r.Body["input"]), map[string]any{})
	seen := ""
	for i, item := range items[:len(items)-1] {
		id := fmt.Sprint(item["id"])
		next := items[i+1]
		switch _, of, reasoned := strings.Cut(id, "-"); {
		case item["type"] != "reasoning":
			if reasoned && seen != of {
				return fmt.Sprintf("Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.",
					id, item["type"], of)
			}
			continue
		case item["encrypted_content"] == nil && r.Body["store"] == false:
			return fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false.", id)
		case item["encrypted_content"] != nil && item["encrypted_content"] != signature(id):
			return fmt.Sprintf("The encrypted content for item %s could not be verified.", id)
		case next["type"] != "function_call" && next["role"] != "assistant":
			return fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", id)
		}
		seen = id
	}
	return ""
}

// strictTools returns an error message if the parameters of a strict function are not strict. Functions are strict
// unless they say otherwise.
func strictTools(r Request) string {
	for _, tool := range objects(r.Body["tools"]) {
		if tool["strict"] == false || tool["parameters"] == nil {
			continue
		}
		if problem := cmp.Or(violation("strict", tool["parameters"]), incomplete(tool["parameters"])); problem != "" {
			return fmt.Sprintf("Invalid schema for function '%s': %s", tool["name"], problem)
		}
	}
	return ""
}

func (responses) turns(r Request) (turns []turn) {
	written := false // whether the last turn is the model's
	for _, item := range objects(r.Body["input"]) {
		model := item["type"] == "function_call" || item["type"] == "reasoning" || item["role"] == "assistant"
		if !model || !written {
			turns = append(turns, turn{})
		}
		written = model
		switch t := &turns[len(turns)-1]; item["type"] {
		case "function_call":
			t.calls = append(t.calls, fmt.Sprint(item["call_id"]))
		case "function_call_output":
			t.results = append(t.results, fmt.Sprint(item["call_id"]))
		}
	}
	return turns
}

func (responses) schema(r Request) (schema any, strict bool) {
	text, _ := r.Body["text"].(map[string]any)
	format, _ := text["format"].(map[string]any)
	return format["schema"], format["strict"] == true
}

func (p responses) answer(w http.ResponseWriter, r Request, reply Reply) {
	reply = reply.named()
	if r.Body["stream"] == true {
		p.stream(w, r, reply)
		return
	}
	writeJSON(w, http.StatusOK, p.response(r, reply, p.output(r, reply)))
}

// response returns a response, with the tools of the request as the provider repeats them.
func (responses) response(r Request, reply Reply, output []map[string]any) map[string]any {
	body := map[string]any{
		"id": fmt.Sprintf("resp_%d", r.N), "object": "response", "created_at": 1, "model": r.Body["model"],
		"status": "completed", "error": nil, "incomplete_details": nil, "output": output, "tools": r.Body["tools"],
		"usage": map[string]any{
			"input_tokens": reply.InputTokens, "output_tokens": reply.OutputTokens,
			"total_tokens":          reply.InputTokens + reply.OutputTokens,
			"input_tokens_details":  map[string]any{"cached_tokens": reply.CachedTokens},
			"output_tokens_details": map[string]any{"reasoning_tokens": reply.ReasoningTokens},
		},
	}
	if reply.Truncate {
		body["status"], body["incomplete_details"] = "incomplete", map[string]any{"reason": "max_output_tokens"}
	}
	return body
}

// output returns the items of a reply. The ids of items that follow from reasoning end with the reasoning's id.
func (responses) output(r Request, reply Reply) []map[string]any {
	items, suffix := []map[string]any{}, ""
	if reply.Thinking != "" {
		id := fmt.Sprintf("rs_%d", r.N)
		thought := map[string]any{"type": "reasoning", "id": id,
			"summary": []any{map[string]any{"type": "summary_text", "text": reply.Thinking}}}
		if slices.Contains(list(r.Body["include"]), any("reasoning.encrypted_content")) {
			thought["encrypted_content"] = signature(id)
		}
		items, suffix = append(items, thought), "-"+id
	}
	content := map[string]any{"type": "output_text", "text": reply.Text, "annotations": []any{}}
	if reply.Refusal != "" {
		content = map[string]any{"type": "refusal", "refusal": reply.Refusal}
	}
	if reply.speaks() || reply.Refusal != "" {
		items = append(items, map[string]any{"type": "message", "id": fmt.Sprintf("msg_%d%s", r.N, suffix),
			"role": "assistant", "status": "completed", "content": []any{content}})
	}
	for i, c := range reply.ToolCalls {
		call := map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d_%d%s", r.N, i, suffix),
			"call_id": c.ID, "name": c.Name, "arguments": c.Arguments, "status": "completed"}
		maps.Copy(call, c.Extra)
		items = append(items, call)
	}
	return items
}

// stream writes the reply as events.
func (p responses) stream(w http.ResponseWriter, r Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream")
	n := 0
	send := func(kind string, fields map[string]any) {
		fields["type"], fields["sequence_number"] = kind, n
		data, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		n++
		flush(w)
	}
	begun := p.response(r, reply, nil)
	begun["status"], begun["usage"] = "in_progress", nil
	send("response.created", map[string]any{"response": begun})
	output := p.output(r, reply)
	for i, item := range output {
		send("response.output_item.added", map[string]any{"output_index": i, "item": begin(item)})
		kind, text := "response.function_call_arguments", fmt.Sprint(item["arguments"])
		switch item["type"] {
		case "reasoning":
			kind, text = "response.reasoning_summary_text", reply.Thinking
		case "message":
			kind, text = "response.output_text", reply.Text
			if reply.Refusal != "" {
				kind, text = "response.refusal", reply.Refusal
			}
		}
		for _, piece := range pieces(text) {
			send(kind+".delta", map[string]any{"output_index": i, "item_id": item["id"], "delta": piece})
		}
		if reply.Error != "" && item["type"] == "message" {
			send("error", map[string]any{"code": "server_error", "message": reply.Error, "param": nil})
			return
		}
		send("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	whole := p.response(r, reply, output)
	send("response."+fmt.Sprint(whole["status"]), map[string]any{"response": whole})
}

// begin returns an item as it is before its content arrives.
func begin(item map[string]any) map[string]any {
	item = maps.Clone(item)
	for name, empty := range map[string]any{"summary": []any{}, "content": []any{}, "arguments": ""} {
		if item[name] != nil {
			item[name] = empty
		}
	}
	delete(item, "encrypted_content")
	return item
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

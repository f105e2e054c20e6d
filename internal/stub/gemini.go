package stub

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Gemini returns a stub of generateContent and streamGenerateContent, at the paths of the Gemini API and of Vertex AI.
// It sends the replies in order. It signs function calls and the ends of replies, and rejects requests that contain a
// changed signature or, if the model is of version 3 or later, leave a signature out.
func Gemini(o *Options, replies ...Reply) *Server { return newServer(gemini{}, o, replies) }

type gemini struct{}

// geminiPath matches the paths of both services.
var geminiPath = regexp.MustCompile(
	`^/v1beta(?:1/projects/[^/]+/locations/[^/]+/publishers/google|1/publishers/google)?/models/([^/:]+):(\w+)$`)

func (gemini) name() string { return "gemini" }

func (p gemini) refuse(r Request, o *Options) (int, string) {
	path := geminiPath.FindStringSubmatch(r.Path)
	key := r.Header.Get("X-Goog-Api-Key")
	if strings.Contains(r.Path, "/projects/") {
		key = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	switch {
	case path == nil, path[2] != "generateContent" && path[2] != "streamGenerateContent":
		return http.StatusNotFound, "Not Found"
	case key != o.Key:
		return http.StatusBadRequest, "API key not valid. Please pass a valid API key."
	case len(o.Models) > 0 && !slices.Contains(o.Models, path[1]):
		return http.StatusNotFound, fmt.Sprintf("models/%s is not found for API version v1beta", path[1])
	}
	config, _ := r.Body["generationConfig"].(map[string]any)
	thinking, _ := config["thinkingConfig"].(map[string]any)
	switch version := geminiVersion(path[1]); {
	case thinking != nil && version < 2.5:
		return http.StatusBadRequest, "Unable to submit request because thinking is not supported by this model"
	case thinking["thinkingLevel"] != nil && version < 3:
		return http.StatusBadRequest, "Thinking level is not supported for this model."
	case thinking["thinkingBudget"] == 0.0 && strings.Contains(path[1], "pro"):
		return http.StatusBadRequest, "Budget 0 is invalid. This model only works in thinking mode."
	default:
		return http.StatusBadRequest, signatureProblem(r, version >= 3)
	}
}

func geminiVersion(model string) float64 {
	m := regexp.MustCompile(`^gemini-(\d+(?:\.\d)?)`).FindStringSubmatch(model)
	if m == nil {
		return 3
	}
	version, _ := strconv.ParseFloat(m[1], 64)
	return version
}

// signatureProblem returns an error message if a signature was changed, or a required one is missing. Only the first
// function call of a content has one. They are required from the last message of the user on.
func signatureProblem(r Request, required bool) string {
	contents := objects(r.Body["contents"])
	last := 0
	for i, c := range contents {
		if c["role"] == "user" && !slices.ContainsFunc(objects(c["parts"]), isResponse) {
			last = i
		}
	}
	for i, c := range contents {
		first := true
		for j, part := range objects(c["parts"]) {
			sealed, signed := part["thoughtSignature"]
			call, _ := part["functionCall"].(map[string]any)
			if signed && sealed != "skip_thought_signature_validator" && sealed != sealOf(part) {
				return fmt.Sprintf("contents.%d.parts.%d: Corrupted thought signature.", i, j)
			}
			if call != nil && first && required && i > last && !signed {
				return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. "+
					"Additional data, function call `%v`, position %d.", call["name"], j+1)
			}
			first = first && call == nil
		}
	}
	return ""
}

func isResponse(part map[string]any) bool { return part["functionResponse"] != nil }

// sealOf signs a part.
func sealOf(part map[string]any) string {
	call, _ := part["functionCall"].(map[string]any)
	return signature(fmt.Sprint(call["name"], part["text"] != nil))
}

// turns gives calls and responses the ids of their names, since ids are optional. It makes a result that does not
// follow its calls directly belong to no call, as in the API.
func (gemini) turns(r Request) (turns []turn) {
	for _, c := range objects(r.Body["contents"]) {
		var t turn
		for _, part := range objects(c["parts"]) {
			if call, ok := part["functionCall"].(map[string]any); ok {
				t.calls = append(t.calls, fmt.Sprint(call["name"], " ", call["id"]))
			}
			if response, ok := part["functionResponse"].(map[string]any); ok {
				t.results = append(t.results, fmt.Sprint(response["name"], " ", response["id"]))
			}
		}
		if len(turns) > 0 {
			if before := turns[len(turns)-1].calls; len(t.results) > 0 && len(before) != len(t.results) {
				t.results = append(t.results, fmt.Sprintf("%d calls and %d responses", len(before), len(t.results)))
			}
		}
		turns = append(turns, t)
	}
	return turns
}

func (gemini) schema(r Request) (schema any, strict bool) {
	config, _ := r.Body["generationConfig"].(map[string]any)
	return config["responseJsonSchema"], false
}

func (gemini) failure(status int, message string) any {
	names := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": names[status]}}
}

func (p gemini) answer(w http.ResponseWriter, r Request, reply Reply) {
	if strings.HasSuffix(r.Path, ":streamGenerateContent") {
		p.stream(w, r, reply)
		return
	}
	writeJSON(w, http.StatusOK, p.chunk(r, reply, p.parts(reply), p.reason(reply)))
}

func (gemini) parts(reply Reply) []map[string]any {
	parts := []map[string]any{}
	if reply.Thinking != "" {
		parts = append(parts, map[string]any{"text": reply.Thinking, "thought": true})
	}
	if text := reply.Text + reply.Refusal; text != "" {
		parts = append(parts, map[string]any{"text": text})
	}
	for i, c := range reply.ToolCalls {
		call := map[string]any{"name": c.Name, "args": json.RawMessage(c.Arguments)}
		if c.ID != "" {
			call["id"] = c.ID
		}
		part := map[string]any{"functionCall": call}
		if i == 0 {
			part["thoughtSignature"] = sealOf(part)
		}
		parts = append(parts, part)
	}
	if n := len(parts); n > 0 && len(reply.ToolCalls) == 0 {
		parts[n-1]["thoughtSignature"] = sealOf(parts[n-1])
	}
	return parts
}

func (gemini) reason(reply Reply) string {
	switch {
	case reply.Truncate:
		return "MAX_TOKENS"
	case reply.Refusal != "":
		return "SAFETY"
	}
	return "STOP"
}

// chunk returns a response. A reason of "" means that others follow.
func (gemini) chunk(r Request, reply Reply, parts []map[string]any, reason string) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	usage := map[string]any{
		"promptTokenCount": reply.InputTokens, "candidatesTokenCount": reply.OutputTokens - reply.ReasoningTokens,
		"totalTokenCount": reply.InputTokens + reply.OutputTokens,
	}
	if reply.CachedTokens > 0 {
		usage["cachedContentTokenCount"] = reply.CachedTokens
	}
	if reply.ReasoningTokens > 0 {
		usage["thoughtsTokenCount"] = reply.ReasoningTokens
	}
	return map[string]any{
		"candidates": []any{candidate}, "usageMetadata": usage, "responseId": fmt.Sprintf("resp_%d", r.N),
		"modelVersion": geminiPath.FindStringSubmatch(r.Path)[1],
	}
}

// stream writes the reply in pieces. The signature of a text follows it in a part without text.
func (p gemini) stream(w http.ResponseWriter, r Request, reply Reply) {
	if r.Query != "alt=sse" {
		writeJSON(w, http.StatusOK, []any{p.chunk(r, reply, p.parts(reply), p.reason(reply))})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(body any) {
		data, _ := json.Marshal(body)
		fmt.Fprintf(w, "data: %s\r\n\r\n", data)
		flush(w)
	}
	last := []map[string]any{}
	for _, part := range p.parts(reply) {
		text, _ := part["text"].(string)
		if text == "" {
			send(p.chunk(r, reply, []map[string]any{part}, ""))
			continue
		}
		for _, piece := range pieces(text) {
			one := map[string]any{"text": piece}
			if part["thought"] == true {
				one["thought"] = true
			}
			send(p.chunk(r, reply, []map[string]any{one}, ""))
		}
		if signature, ok := part["thoughtSignature"]; ok {
			last = append(last, map[string]any{"text": "", "thoughtSignature": signature})
		}
	}
	if reply.Error != "" {
		send(p.failure(http.StatusServiceUnavailable, reply.Error))
		return
	}
	send(p.chunk(r, reply, last, p.reason(reply)))
}

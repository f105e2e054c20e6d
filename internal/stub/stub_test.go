package stub_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/stub"
)

// Requests that a provider would refuse are refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	const strict = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	openAI := func(rest string) string { return `{"model":"m","messages":[{"role":"user","content":"?"}` + rest }
	claude := func(rest string) string { return `{"model":"claude-haiku-4-5","max_tokens":9000,` + rest }
	format := func(schema string) string {
		return openAI(`],"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` +
			schema + `}}}`)
	}
	const hi = `"messages":[{"role":"user","content":"?"}]`
	for _, test := range []struct {
		path, body, want string // what the answer contains
	}{
		{"/chat/completions", openAI("]}"), `"content":"{`},
		{"/chat/completions", openAI(`],"max_tokens":1}`), "additional properties 'max_tokens' not allowed"},
		{"/chat/completions", openAI(`],"tool_choice":"auto"}`), "'tools' required"},
		{"/chat/completions", openAI(`,{"role":"assistant","content":null}]}`), "anyOf"},
		{"/chat/completions", openAI(`,{"role":"tool","tool_call_id":"a","content":""}]}`), "belongs to no open tool call"},
		{"/chat/completions", openAI(`,{"role":"assistant","tool_calls":[{"id":"a","function":{}}]}]}`),
			"have no results: a"},
		{"/chat/completions", format(strict), `"content":"{`},
		{"/chat/completions", format(strings.Replace(strict, `["a"]`, `[]`, 1)), "must include every key"},
		{"/chat/completions", format(strings.Replace(strict, `"string"`, `"string","pattern":"x"`, 1)),
			"/properties/a/pattern"},
		{"/chat/completions", "[]", "not a JSON object"},
		{"/v1/messages", claude(hi + "}"), `"text":"{`},
		{"/v1/messages", claude(hi + `,"thinking":{"type":"adaptive"}}`), "/thinking/type"},
		{"/v1/messages", claude(hi + `,"output_config":{"effort":"low"}}`), "/output_config/effort"},
		{"/v1/messages", claude(`"messages":[{"role":"assistant","content":"?"}]}`), "/messages/0/role"},
		{"/v1/messages", claude(`"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`),
			"/messages/0/content"},
		{"/api/chat", `{"model":"m","stream":false,` + hi + `}`, `"content":"{`},
		{"/api/chat", `{"model":"m","think":"none",` + hi + `}`, "/think"},
	} {
		reply := stub.Reply{Text: `{"a":"b"}`}
		mux := http.NewServeMux()
		mux.Handle("/chat/", stub.OpenAI(nil, reply))
		mux.Handle("/v1/", stub.Anthropic(nil, reply))
		mux.Handle("/api/", stub.Ollama(nil, reply))
		r := httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body))
		r.Header = http.Header{
			"Authorization": {"Bearer test-key"}, "X-Api-Key": {"test-key"}, "Anthropic-Version": {"1"},
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if body, _ := io.ReadAll(w.Body); !strings.Contains(string(body), test.want) {
			t.Errorf("%s %s: got %s, want %s", test.path, test.body, body, test.want)
		}
	}
}

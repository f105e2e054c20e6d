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
	responses := func(rest string) string { return `{"model":"m",` + rest + `}` }
	const called = `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
	const outcome = `{"type":"function_call_output","call_id":"a","output":""}`
	const thought = `{"type":"reasoning","id":"rs_1","summary":[],` +
		`"encrypted_content":"DWloTWxIECTBwCQeEIqMmAq0N2hYw0dyEkrUNhnXm7I="}`
	geminiTo := func(model, rest string) (string, string) {
		return "/v1beta/models/" + model + ":generateContent", `{"contents":[{"role":"user","parts":[{"text":"?"}]}` + rest
	}
	const hi = `"messages":[{"role":"user","content":"?"}]`
	type test struct {
		path, body, want string // what the answer contains
	}
	tests := []test{
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
		{"/responses", responses(`"input":"?"`), `"text":"{`},
		{"/responses", responses(`"messages":[]`), "additional properties 'messages' not allowed"},
		{"/responses", responses(`"input":"?","max_output_tokens":9`), "/max_output_tokens"},
		{"/responses", responses(`"input":"?","stop":["x"]`), "additional properties 'stop' not allowed"},
		{"/responses", responses(`"input":"?","include":["reasoning"]`), "/include/0"},
		{"/responses", responses(`"input":[{"role":"tool","content":"x"}]`), "/input/0/role"},
		{"/responses", responses(`"input":[{"role":"user","content":[{"type":"text","text":"x"}]}]`),
			"/input/0/content"},
		{"/responses", responses(`"input":[{"role":"user","content":"?"},` + outcome + `]`), "belongs to no open " +
			"tool call"},
		{"/responses", responses(`"input":[` + called + `]`), "have no results: a"},
		{"/responses", responses(`"input":[` + called + `,` + outcome + `]`), `"text":"{`},
		{"/responses", responses(`"input":[` + thought + `,` + called + `,` + outcome + `]`), `"text":"{`},
		{"/responses", responses(`"input":[` + called + `,` + thought + `,` + outcome + `]`), "without its " +
			"required following"},
		{"/responses", responses(`"input":[` + thought + `,` + thought + `,` + called + `,` + outcome + `]`),
			"without its required following"},
		{"/responses", responses(`"input":[{"type":"message","id":"msg_1-rs_1","role":"assistant","content":"x"}]`),
			"without its required 'reasoning' item: 'rs_1'"},
		{"/responses",
			responses(`"store":false,"input":[{"type":"reasoning","id":"rs_1","summary":[]},` + called + `]`),
			"not persisted"},
		{"/responses", responses(`"input":[` + strings.Replace(thought, "DW", "XX", 1) + `,` + called + `]`),
			"could not be verified"},
		{"/responses", responses(`"input":[` + strings.Replace(thought, `,"summary":[]`, "", 1) + `,` + called + `,` +
			outcome + `]`), "/input/0"},
		{"/responses", responses(`"input":"?","text":{"format":{"type":"json_schema","name":"n","strict":true,` +
			`"schema":` +
			strings.Replace(strict, `["a"]`, `[]`, 1) + `}}`), "must include every key"},
		{"/responses", responses(`"input":"?","tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]`),
			"Invalid schema for function 'f'"},
		{"/responses", responses(`"input":"?","tools":[{"type":"function","function":{"name":"f"}}]`), "/tools/0"},
		{"/responses", strings.Replace(responses(`"input":"?","include":["reasoning.encrypted_content"]`), `"m"`,
			`"gpt-4.1"`, 1), "Encrypted content is not supported"},
		{"/api/chat", `{"model":"m","stream":false,` + hi + `}`, `"content":"{`},
		{"/api/chat", `{"model":"m","think":"none",` + hi + `}`, "/think"},
	}
	const (
		response = `{"functionResponse":{"name":"now","response":{"a":1}}}`
		now      = `,{"role":"model","parts":[{"functionCall":{"name":"now"}}]}`
		unsigned = `,{"role":"model","parts":[{"functionCall":{"name":"now"},` +
			`"thoughtSignature":"skip_thought_signature_validator"}]}`
		noon   = `,{"role":"user","parts":[` + response + `]}`
		twice  = `,{"role":"user","parts":[` + response + `,` + response + `]}`
		hello  = `,{"role":"user","parts":[{"text":"?"}]}`
		config = `],"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":`
	)
	for _, g := range []struct{ model, rest, want string }{
		{"gemini-3-pro", "]}", `"text":"{`},
		{"gemini-3-pro", `],"system":""}`, "additional properties 'system' not allowed"},
		{"gemini-3-pro", `,{"role":"assistant","parts":[{"text":"?"}]}]}`, "/contents/1/role"},
		{"gemini-3-pro", `,{"role":"user","parts":[{"text":""}]}]}`, "/contents/1/parts/0"},
		{"gemini-3-pro", noon + "]}", "belongs to no open tool call"},
		{"gemini-3-pro", unsigned + noon + "]}", `"text":"{`},
		{"gemini-3-pro", unsigned + twice + "]}", "belongs to no open tool call"},
		{"gemini-3-pro", unsigned + hello + "]}", "have no results"},
		{"gemini-3-pro", now + noon + "]}", "Function call is missing a thought_signature"},
		{"gemini-2.5-pro", now + noon + "]}", `"text":"{`},
		{"gemini-3-pro", now + noon + hello + "]}", `"text":"{`},
		{"gemini-2.5-pro", strings.Replace(unsigned, "skip", "changed", 1) + noon + "]}", "Corrupted thought signature"},
		{"gemini-3-pro", config + `{"type":"object","properties":{"a":{"const":1}}}}}`, "'const' not allowed"},
		{"gemini-3-pro", config + strict + "}}", `"text":"{`},
		{"gemini-3-pro", `],"generationConfig":{"responseJsonSchema":{}}}`, "'responseMimeType' required"},
		{"gemini-2.5-pro", `],"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}`, "not supported"},
		{"gemini-2.5-pro", `],"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}`, "Budget 0"},
		{"gemini-3-pro", `],"generationConfig":{"thinkingConfig":{"thinkingBudget":9,"thinkingLevel":"LOW"}}}`,
			"/generationConfig/thinkingConfig"},
		{"gemini-3-pro", `],"cachedContent":"a","systemInstruction":{"parts":[{"text":"?"}]}}`, "/systemInstruction"},
	} {
		path, body := geminiTo(g.model, g.rest)
		tests = append(tests, test{path, body, g.want})
	}
	for _, test := range tests {
		reply := stub.Reply{Text: `{"a":"b"}`}
		mux := http.NewServeMux()
		mux.Handle("/chat/", stub.OpenAI(nil, reply))
		mux.Handle("/responses", stub.Responses(nil, reply))
		mux.Handle("/v1beta/", stub.Gemini(nil, reply))
		mux.Handle("/v1/", stub.Anthropic(nil, reply))
		mux.Handle("/api/", stub.Ollama(nil, reply))
		r := httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body))
		r.Header = http.Header{
			"Authorization": {"Bearer test-key"}, "X-Api-Key": {"test-key"}, "Anthropic-Version": {"1"},
			"X-Goog-Api-Key": {"test-key"},
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if body, _ := io.ReadAll(w.Body); !strings.Contains(string(body), test.want) {
			t.Errorf("%s %s: got %s, want %s", test.path, test.body, body, test.want)
		}
	}
}

package stub

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// post sends a body to a stub and returns the status and the body of its answer.
func post(t *testing.T, server *Server, path, key, body string) (int, string) {
	t.Helper()
	s := httptest.NewServer(server)
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.StatusCode, string(raw) + err.Error()
	}
	return answer.StatusCode, strings.TrimSpace(string(raw))
}

const hi = `"model":"m","messages":[{"role":"user","content":"Hi."}]`

func TestOpenAIRefusals(t *testing.T) {
	t.Parallel()
	messages := func(list string) string { return `{"model":"m","messages":[` + list + `]}` }
	schema := func(schema string) string {
		return `{` + hi + `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,` +
			`"schema":` + schema + `}}}`
	}
	called := `{"role":"user","content":"Hi."},{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"}]}`
	const invalid = "Invalid schema for response_format 'answer': In context="
	const must = "'required' is required to be supplied and to be an array including every key in properties. "
	tests := []struct {
		name, body string
		status     int
		want       string
	}{
		{"not JSON", `{`, 400, "We could not parse the JSON body of your request."},
		{"no model", `{}`, 400, "you must provide a model parameter"},
		{"unknown model", `{"model":"x"}`, 404, "The model `x` does not exist or you do not have access to it."},
		{"unknown field", `{` + hi + `,"random_seed":1}`, 400, "Unrecognized request argument supplied: random_seed"},
		{"old field", `{` + hi + `,"max_tokens":1}`, 400,
			"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' " +
				"instead."},
		{"stream options", `{` + hi + `,"stream_options":{}}`, 400,
			"The 'stream_options' parameter is only allowed when 'stream' is enabled."},
		{"tool choice", `{` + hi + `,"tool_choice":"auto"}`, 400,
			"Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."},
		{"tool name", `{` + hi + `,"tools":[{"function":{"name":"a.b"}}]}`, 400, "Invalid 'tools[0].function.name': " +
			"string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."},
		{"no messages", messages(``), 400,
			"Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array " +
				"instead."},
		{"field of a message", messages(`{"role":"user","content":"x","text":"x"}`), 400,
			"Unknown parameter: 'messages[0].text'."},
		{"role", messages(`{"role":"human","content":"x"}`), 400, "Invalid value: 'human'. Supported values are: " +
			"'system', 'assistant', 'user', 'function', 'tool', and 'developer'."},
		{"no content", messages(`{"role":"user"}`), 400,
			"Invalid value for 'content': expected a string, got null. (messages.[0].content)"},
		{"index of a call", messages(`{"role":"assistant","tool_calls":[{"id":"a","index":0}]}`), 400,
			"Unknown parameter: 'messages[0].tool_calls[0].index'."},
		{"result without a call", messages(`{"role":"tool","tool_call_id":"a","content":"1"}`), 400,
			orphan},
		{"call without a result", messages(called + `,{"role":"tool","tool_call_id":"a","content":"1"}`), 400,
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
				"'tool_call_id'. " +
				"The following tool_call_ids did not have response messages: b"},
		{"message before the results", messages(called + `,{"role":"user","content":"1"}`), 400,
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
				"'tool_call_id'. " +
				"The following tool_call_ids did not have response messages: a, b"},
		{"schema of a text", schema(`{"type":"string"}`), 400,
			invalid + `(), schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`},
		{"schema of several", schema(`{"type":"object","anyOf":[]}`), 400, invalid +
			"(), 'anyOf' is not permitted at the top level."},
		{"open schema", schema(`{"type":"object","properties":{}}`), 400,
			invalid + "(), 'additionalProperties' is required to be supplied and to be false."},
		{"optional property", schema(`{"type":"object","properties":{"a":{},"b":{}},"required":["a"],` +
			`"additionalProperties":false}`), 400,
			invalid + "(), " + must + "Missing 'b'."},
		{"required but undeclared", schema(`{"type":"object","properties":{},"required":["a"],` +
			`"additionalProperties":false}`), 400,
			invalid + "(), " + must + "Extra required key 'a' supplied."},
		{"constraint", schema(`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"array",` +
			`"items":{"type":"string",` +
			`"minLength":1}}]}},"required":["a"],"additionalProperties":false}`), 400,
			invalid + "('properties', 'a', 'anyOf', '1', 'items'), 'minLength' is not permitted."},
		{"no items", schema(`{"type":"object","properties":{"a":{"type":"array"}},"required":["a"],` +
			`"additionalProperties":false}`), 400,
			invalid + "('properties', 'a'), array schema missing items."},
		{"reply against the schema", schema(`{"type":"object","properties":{},"additionalProperties":false}`), 501,
			"stub: the reply does not follow the schema; fix it or set Options.Unconstrained: invalid character " +
				"'o' looking for beginning of value"},
		{"good", `{` + hi + `}`, 200, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := OpenAI(&Options{Models: []string{"m"}}, Reply{Text: "ok"})
			status, body := post(t, server, "/v1/chat/completions", "test-key", test.body)
			var got struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err, body)
			}
			if status != test.status || got.Error.Message != test.want {
				t.Errorf("answer %d %s\nwant %d %s", status, got.Error.Message, test.status, test.want)
			}
		})
	}
}

func TestOpenAIAnswers(t *testing.T) {
	t.Parallel()
	const fail = `{"error":{"code":%q,"message":%q,"param":null,"type":"invalid_request_error"}}`
	chunk := func(choices, usage string) string {
		return `data: {"choices":` + choices + `,"created":1,"id":"chatcmpl-1","model":"m",` +
			`"object":"chat.completion.chunk","usage":` + usage + "}\n\n"
	}
	delta := func(delta, reason string) string {
		return chunk(`[{"delta":`+delta+`,"finish_reason":`+reason+`,"index":0,"logprobs":null}]`, "null")
	}
	usage := `{"completion_tokens":20,"completion_tokens_details":{"reasoning_tokens":0},"prompt_tokens":100,` +
		`"prompt_tokens_details":{"cached_tokens":0},"total_tokens":120}`
	call := func(rest string) string { return delta(`{"tool_calls":[{`+rest+`}]}`, "null") }
	calls := Reply{ToolCalls: []ToolCall{{ID: "a", Name: "f", Arguments: `{"x":123456}`}, {ID: "b", Name: "g",
		Arguments: `{}`}}}
	tests := []struct {
		name, path, key, body string
		reply                 Reply
		want                  string
	}{
		{"path", "/chat", "test-key", `{}`, Reply{},
			fmt.Sprintf(fail, "model_not_found", "Invalid URL (POST /chat)")},
		{"wrong key", "/chat/completions", "k", `{}`, Reply{}, fmt.Sprintf(fail, "invalid_api_key",
			"Incorrect API key provided: k. You can find your API key at "+
				"https://platform.openai.com/account/api-keys.")},
		{"whole", "/chat/completions", "test-key", `{` + hi + `}`, Reply{Text: "Hello."},
			`{"choices":[{"finish_reason":"stop","index":0,` +
				`"logprobs":null,"message":{"annotations":[],"content":"Hello.","refusal":null,"role":"assistant"}}],` +
				`"created":1,"id":"chatcmpl-1","model":"m","object":"chat.completion","usage":` + usage + `}`},
		{"cut", "/chat/completions", "test-key", `{` + hi + `}`, Reply{Text: "Hello.", Cut: 12},
			`{"choices":[unexpected EOF`},
		{"streamed", "/chat/completions", "test-key", `{` + hi +
			`,"stream":true,"stream_options":{"include_usage":true}}`, calls,
			delta(`{"content":null,"refusal":null,"role":"assistant"}`, "null") +
				call(`"function":{"arguments":"","name":"f"},"id":"a","index":0,"type":"function"`) +
				call(`"function":{"arguments":"","name":"g"},"id":"b","index":1,"type":"function"`) +
				call(`"function":{"arguments":"{\"x\":12"},"index":0`) +
				call(`"function":{"arguments":"{}"},"index":1`) +
				call(`"function":{"arguments":"3456}"},"index":0`) +
				delta(`{}`, `"tool_calls"`) + chunk("[]", usage) + "data: [DONE]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, got := post(t, OpenAI(nil, test.reply), test.path, test.key, test.body); got != test.want {
				t.Errorf("answer\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestScript gives replies in order, and from a function.
func TestScript(t *testing.T) {
	t.Parallel()
	server := OpenAI(nil, Reply{Status: 429, Header: http.Header{"retry-after": {"1"}}, Body: "slow"})
	if status, body := post(t, server, "/chat/completions", "test-key", `{`+hi+`}`); status != 429 || body != "slow" {
		t.Errorf("answer %d %s", status, body)
	}
	want := `{"error":{"code":null,"message":"stub: request 2, but the script has no more replies","param":null,` +
		`"type":"server_error"}}`
	if status, body := post(t, server, "/chat/completions", "test-key", `{`+hi+`}`); status != 501 || body != want {
		t.Errorf("answer %d %s", status, body)
	}
	if requests := server.Requests(); len(requests) != 2 || requests[1].N != 2 || requests[1].Body["model"] != "m" {
		t.Errorf("requests %+v", requests)
	}
	server = OpenAI(&Options{Answer: func(r Request) Reply { return Reply{Status: 200, Body: r.Path} }})
	if _, body := post(t, server, "/v1/chat/completions", "test-key", `{`+hi+`}`); body != "/v1/chat/completions" {
		t.Errorf("answer %s", body)
	}
}

package stub

import (
	"net/http"
	"strings"
	"testing"
)

func TestOllamaRefusals(t *testing.T) {
	t.Parallel()
	body := func(fields string) string { return `{"model":"m",` + fields + `}` }
	refusals{
		"good":          {body(`"messages":[{"role":"user","content":"Hi."}],"think":"low"`), ""},
		"not JSON":      {`{`, "invalid character in request body"},
		"no model":      {`{}`, "model is required"},
		"unknown model": {`{"model":"x"}`, "model 'x' not found"},
		"unknown field": {body(`"tool_choice":"auto"`), "tool_choice: Extra inputs are not permitted"},
		"option":        {body(`"options":{"think":true}`), "options.think: Extra inputs are not permitted"},
		"think": {body(`"think":"minimal"`),
			`invalid think value: "minimal" (must be "high", "medium", "low", "max", true, or false)`},
		"think of a number": {body(`"think":1`),
			`think must be a boolean or string ("high", "medium", "low", "max", true, or false)`},
		"long": {body(`"truncate":false,"options":{"num_ctx":10},"messages":[{"role":"user","content":"` +
			strings.Repeat("x", 50) + `"}]`), "the input length exceeds the context length"},
		"field of a message": {body(`"messages":[{"role":"user","parts":[]}]`),
			"messages.0.parts: Extra inputs are not permitted"},
		"role": {body(`"messages":[{"role":"human"}]`), "invalid role: human"},
		"content": {body(`"messages":[{"role":"user","content":[]}]`),
			"json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string"},
		"arguments": {body(`"messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":"{}"}}]}]`),
			"json: cannot unmarshal string into Go struct field ToolCallFunction.arguments of type map"},
		"format": {body(`"format":"xml"`), `invalid format: "xml"; expected "json" or a valid JSON Schema object`},
	}.check(t, ollama{}, "/api/chat", nil, Options{Models: []string{"m"}})
	refusals{
		"no schema": {body(`"format":{"type":"object"}`), "failed to parse grammar: the schema in format is not supported"},
	}.check(t, ollama{}, "/api/chat", nil, Options{NoSchema: true})
	refusals{"path": {body(`"a":1`), "404 page not found"}}.check(t, ollama{}, "/v1/chat", nil, Options{})
	refusals{
		"no key": {body(`"a":1`), "unauthorized"},
	}.check(t, ollama{keyed: true}, "/api/chat", http.Header{}, Options{Key: "k"})
}

func TestOllamaShow(t *testing.T) {
	t.Parallel()
	status, body := post(t, Ollama(nil), "/api/show", "", `{"model":"m"}`)
	const want = `{"capabilities":["completion","tools","thinking"],` +
		`"model_info":{"general.architecture":"stub","stub.context_length":32768}}`
	if status != http.StatusOK || body != want {
		t.Errorf("%d: %s", status, body)
	}
}

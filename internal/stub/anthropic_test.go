package stub

import (
	"encoding/json"
	"net/http"
	"testing"
)

// refusals are bodies of requests with the message with which a stub refuses each; "" if it does
// not.
type refusals map[string]struct{ body, want string }

// check sends each of them.
func (list refusals) check(t *testing.T, p protocol, path string, header http.Header, o Options) {
	for name, test := range list {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := json.RawMessage(test.body)
			status, got := p.refuse(Request{Path: path, Header: header, Raw: raw, Body: object(raw)}, &o)
			if got != test.want || (status == 0) != (test.want == "") {
				t.Errorf("%d: %s\nnot\n%s", status, got, test.want)
			}
		})
	}
}

// asked is a valid request without its end.
const asked = `{"model":"m","max_tokens":2000,"messages":[{"role":"user","content":"Hi."}]`

func TestAnthropicRefusals(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Api-Key": {"test-key"}, "Anthropic-Version": {"2023-06-01"}}
	schema := func(schema string) string {
		return asked + `,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`
	}
	refusals{
		"good":     {asked + `}`, ""},
		"not JSON": {`{`, "The request body is not valid JSON"},
		"model":    {`{"model":"x"}`, "model: x"},
		"required": {`{"model":"m","messages":[]}`, "max_tokens: Field required"},
		"limit": {`{"model":"m","max_tokens":200000,"messages":[]}`,
			"max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for m"},
		"unknown field": {asked + `,"seed":1}`, "seed: Extra inputs are not permitted"},
		"sampling": {asked + `,"temperature":1,"top_p":1}`,
			"`temperature` and `top_p` cannot both be specified for this model. Please use only one."},
		"tool choice":   {asked + `,"tool_choice":{}}`, "tool_choice: may only be specified while providing tools."},
		"field of tool": {asked + `,"tools":[{"function":{}}]}`, "tools.0.custom.function: Extra inputs are not permitted"},
		"name of tool": {asked + `,"tools":[{"name":"a.b"}]}`,
			"tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"},
		"input of tool": {asked + `,"tools":[{"name":"a"}]}`, "tools.0.custom.input_schema.type: Field required"},
		"thinking": {asked + `,"thinking":{"type":"much"}}`,
			"thinking: Input tag must be one of 'disabled', 'enabled', 'adaptive'"},
		"adaptive budget": {asked + `,"thinking":{"type":"adaptive","budget_tokens":1}}`,
			"thinking.adaptive.budget_tokens: Extra inputs are not permitted"},
		"small budget": {asked + `,"thinking":{"type":"enabled","budget_tokens":1}}`,
			"thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		"large budget": {asked + `,"thinking":{"type":"enabled","budget_tokens":2000}}`,
			"`max_tokens` must be greater than `thinking.budget_tokens`."},
		"cool thoughts": {asked + `,"thinking":{"type":"adaptive"},"temperature":0}`,
			"`temperature` may only be set to 1 when thinking is enabled."},
		"system": {asked + `,"system":[{"type":"text","text":""}]}`, "system.0: text content blocks must be non-empty"},
		"config": {asked + `,"output_config":{"schema":1}}`, "output_config.schema: Extra inputs are not permitted"},
		"effort": {asked + `,"output_config":{"effort":"none"}}`,
			"output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"},
		"format": {asked + `,"output_config":{"format":{"type":"json"}}}`,
			"output_config.format.type: Input should be 'json_schema'"},
		"schema": {schema(`{"type":"object","properties":{}}`), "output_config.format.schema: Invalid schema: in (), " +
			"'additionalProperties' is required to be supplied and to be false."},
	}.check(t, anthropic{}, "/v1/messages", header, Options{Key: "test-key", Models: []string{"m"}})
	refusals{
		"no schema": {schema(`{}`), "output_config.format: m does not support structured outputs"},
	}.check(t, anthropic{}, "/v1/messages", header, Options{Key: "test-key", NoSchema: true})
	refusals{"no key": {asked, "x-api-key header is required"}}.check(t, anthropic{}, "/v1/messages", nil, Options{})
	refusals{"key": {asked, "invalid x-api-key"}}.check(t, anthropic{}, "/v1/messages", header, Options{Key: "other"})
	refusals{"path": {asked, "Not found"}}.check(t, anthropic{}, "/chat/completions", header, Options{})
}

func TestAnthropicGenerations(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Api-Key": {"test-key"}, "Anthropic-Version": {"2023-06-01"}}
	body := func(model, fields string) string {
		return `{"model":"` + model + `","max_tokens":2000,"messages":[{"role":"user","content":"Hi."}],` + fields + `}`
	}
	const (
		budget   = `"thinking":{"type":"enabled","budget_tokens":1024}`
		adaptive = `"thinking":{"type":"adaptive"}`
	)
	refusals{
		"old":          {body("claude-haiku-4-5-20251001", budget), ""},
		"old adaptive": {body("claude-haiku-4-5", adaptive), "adaptive thinking is not supported on this model"},
		"old effort": {body("claude-sonnet-4-20250514", `"output_config":{"effort":"low"}`),
			"This model does not support the effort parameter."},
		"between":          {body("claude-opus-4-6", budget), ""},
		"between adaptive": {body("claude-opus-4-6", adaptive), ""},
		"new":              {body("claude-opus-4-7", adaptive), ""},
		"new budget": {body("claude-sonnet-5-5", budget), `"thinking.type.enabled" is not supported for this model. ` +
			`Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`},
		"new temperature": {body("claude-haiku-5-5", `"temperature":1`), "`temperature` is deprecated for this model."},
		"new top_p":       {body("claude-opus-5", `"top_p":1`), "`top_p` is deprecated for this model."},
	}.check(t, anthropic{}, "/v1/messages", header, Options{Key: "test-key"})
}

func TestAnthropicMessages(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Api-Key": {"test-key"}, "Anthropic-Version": {"2023-06-01"}}
	messages := func(list string) string {
		return `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + list + `]}`
	}
	const (
		user   = `{"role":"user","content":"Hi."}`
		use    = `{"type":"tool_use","id":"a","name":"n","input":{}}`
		result = `{"type":"tool_result","tool_use_id":"a","content":"1"}`
	)
	thought := `{"type":"thinking","thinking":"Hm","signature":"` + signature("Hm") + `"}`
	replied := func(content, next string) string {
		return messages(user + `,{"role":"assistant","content":[` + content + `]},{"role":"user","content":[` + next + `]}`)
	}
	const missing = "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. " +
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	refusals{
		"none": {messages(""), "messages: at least one message is required"},
		"role": {messages(`{"role":"system","content":"x"}`), `messages: Unexpected role "system". ` +
			"The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role."},
		"turns": {messages(user + "," + user),
			`messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row`},
		"first": {messages(`{"role":"assistant","content":"x"}`), `messages: first message must use the "user" role`},
		"empty": {messages(`{"role":"user","content":[]}`),
			"messages.0: all messages must have non-empty content except for the optional final assistant message"},
		"empty text": {messages(`{"role":"user","content":[{"type":"text","text":""}]}`),
			"messages: text content blocks must be non-empty"},
		"block": {messages(`{"role":"user","content":[{"type":"binary"}]}`),
			"messages.0.content.0: Input tag 'binary' found using 'type' does not match any of the expected tags"},
		"field": {messages(`{"role":"user","content":[{"type":"image","url":"x"}]}`),
			"messages.0.content.0.image.url: Extra inputs are not permitted"},
		"call of the user": {messages(`{"role":"user","content":[` + use + `]}`),
			"messages.0: `tool_use` blocks can only be in `assistant` messages"},
		"input": {replied(`{"type":"tool_use","id":"a","name":"n","input":"{}"}`, result),
			"messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		"no result":    {messages(user + `,{"role":"assistant","content":[` + use + `]}`), missing},
		"late result":  {replied(thought+","+use, `{"type":"text","text":"x"},`+result), missing},
		"other result": {replied(thought+","+use, `{"type":"text","text":"x"}`), missing},
		"no call": {messages(`{"role":"user","content":[` + result + `]}`),
			"messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block " +
				"must have a corresponding `tool_use` block in the previous message."},
		"good": {replied(thought+","+use, result), ""},
		"no thought": {replied(use, result), "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, " +
			"but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block " +
			"(preceding the lastmost set of `tool_use` and `tool_result` blocks)."},
		"changed thought": {replied(`{"type":"thinking","thinking":"Hm!","signature":"x"}`, `{"type":"text","text":"x"}`),
			"messages.1.content.0: Invalid `signature` in `thinking` block"},
		"changed secret": {replied(`{"type":"redacted_thinking","data":"x"}`, `{"type":"text","text":"x"}`),
			"messages.1.content.0: Invalid `data` in `redacted_thinking` block"},
	}.check(t, anthropic{}, "/v1/messages", header, Options{Key: "test-key"})
}

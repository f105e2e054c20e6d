package bedrock_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/models/bedrock"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	s := &stub{replies: []reply{{content: `[{"text":"Hi."}]`}}}
	m := open(t, claude, s, &bedrock.Options{MaxTokens: 70, Extra: map[string]any{"serviceTier": nil}})
	ctx := models.WithParams(t.Context(), models.Params{CacheSystem: true})
	_, err := m.GenerateContent(ctx, []llms.MessageContent{
		said(llms.ChatMessageTypeSystem, llms.TextPart("Be brief.")),
		said(llms.ChatMessageTypeHuman, llms.TextPart("Look."), llms.BinaryPart("image/png", []byte("png")),
			llms.BinaryPart("application/pdf", []byte("pdf")), llms.BinaryPart("text/x-go; charset=utf-8", []byte("go"))),
		said(llms.ChatMessageTypeAI,
			models.Message{TextContent: llms.TextPart("I call."), Provider: "openai", Raw: json.RawMessage(`{}`)},
			call("t1", "weather", `{"n":12345678901234567890}`), call("t2", "weather", `{"city":`)),
		result("t1", "rain"), result("t2", " "), human("And?"), human(" "), said(llms.ChatMessageTypeAI, llms.TextPart("")),
		human("Well?"),
	}, weather(), llms.WithToolChoice("required"), llms.WithStopWords([]string{"END"}), llms.WithTemperature(0),
		llms.WithTopP(0.5))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "request", s.bodies[0], `{
		"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
		"messages": [
			{"role": "user", "content": [{"text": "Look."},
				{"image": {"format": "png", "source": {"bytes": "cG5n"}}},
				{"document": {"name": "attachment 2 (document 1)", "format": "pdf", "source": {"bytes": "cGRm"}}},
				{"document": {"name": "attachment 3 (document 2)", "format": "txt", "source": {"bytes": "Z28="}}}]},
			{"role": "assistant", "content": [{"text": "I call."},
				{"toolUse": {"toolUseId": "t1", "name": "weather", "input": {"n": 12345678901234567890}}},
				{"toolUse": {"toolUseId": "t2", "name": "weather", "input": {}}}]},
			{"role": "user", "content": [
				{"toolResult": {"toolUseId": "t1", "content": [{"text": "rain"}]}},
				{"toolResult": {"toolUseId": "t2", "content": [{"text": "(empty)"}]}},
				{"text": "And?"}, {"text": "Well?"}]}
		],
		"toolConfig": {
			"tools": [{"toolSpec": {"name": "weather", "description": "The weather.",
				"inputSchema": {"json": {"type": "object", "properties": {"z": {}, "a": {}}}}}},
				{"cachePoint": {"type": "default"}}],
			"toolChoice": {"any": {}}
		},
		"inferenceConfig": {"maxTokens": 70, "stopSequences": ["END"], "temperature": 0}
	}`)
	if !strings.Contains(s.bodies[0], `"properties":{"z":{},"a":{}}`) || !strings.Contains(s.bodies[0], "12345678901234567890") {
		t.Errorf("the order or a number is lost: %s", s.bodies[0])
	}
	if want := "/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"; s.paths[0] != want {
		t.Errorf("sent to %s", s.paths[0])
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	m := open(t, claude, &stub{}, nil)
	for want, message := range map[string]llms.MessageContent{
		`attachment 1 is of type "application/zip"`: said(llms.ChatMessageTypeHuman, llms.BinaryPart("application/zip", nil)),
		"may have only text":                        said(llms.ChatMessageTypeSystem, llms.BinaryPart("image/png", []byte("x"))),
		"ImageURLContent":                           said(llms.ChatMessageTypeHuman, llms.ImageURLPart("https://example.com/a.png")),
	} {
		_, err := m.GenerateContent(t.Context(), []llms.MessageContent{message})
		e, ok := errors.AsType[*models.Error](err)
		if !ok || e.Kind != models.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Each family of models has its own parameters.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		model, base string
		want        string // additionalModelRequestFields, outputConfig and inferenceConfig
	}{
		{claude, "", `[{"thinking":{"type":"enabled","budget_tokens":8192}},null,{"MaxTokens":24192}]`},
		{"anthropic.claude-opus-4-8-v1", "",
			`[{"thinking":{"type":"adaptive","display":"summarized"}},"medium",{"MaxTokens":16000}]`},
		{"arn:aws:bedrock:eu-west-1:1:application-inference-profile/x", "anthropic.claude-haiku-4-5",
			`[{"thinking":{"type":"enabled","budget_tokens":8192}},null,{"MaxTokens":24192}]`},
		{"us.amazon.nova-pro-v1:0", "", `[null,null,{"Temperature":0.5}]`},
		{"meta.llama4-maverick-17b-instruct-v1:0", "", `[null,null,{"Temperature":0.5}]`},
	} {
		s := &stub{replies: []reply{{content: `[{"text":"Hi."}]`}}}
		m := open(t, test.model, s, &bedrock.Options{Base: test.base})
		ctx := models.WithParams(t.Context(), models.Params{Effort: "medium", CacheSystem: true})
		_, err := m.GenerateContent(ctx, []llms.MessageContent{said(llms.ChatMessageTypeSystem, llms.TextPart("S")),
			human("?")}, llms.WithTemperature(0.5))
		if err != nil {
			t.Errorf("%s: %v", test.model, err)
			continue
		}
		q := s.requests[0]
		var effort any
		if q.OutputConfig != nil {
			effort = q.OutputConfig.Effort
		}
		config := map[string]any{}
		if q.InferenceConfig.MaxTokens != nil {
			config["MaxTokens"] = q.InferenceConfig.MaxTokens
		}
		if q.InferenceConfig.Temperature != nil {
			config["Temperature"] = q.InferenceConfig.Temperature
		}
		got, _ := json.Marshal([]any{q.AdditionalModelRequestFields, effort, config})
		same(t, test.model, string(got), test.want)
		if can := models.CapabilitiesOf(m); can.Caching != (len(q.System) == 2) || can.Thinking != (effort != nil ||
			q.AdditionalModelRequestFields != nil) {
			t.Errorf("%s can %+v", test.model, can)
		}
	}
}

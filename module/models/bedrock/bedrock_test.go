package bedrock_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/module/models/bedrock"
)

const claude = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"

func sum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// open returns a model that is not retried.
func open(t *testing.T, name string, s *stub, o *bedrock.Options) llms.Model {
	t.Helper()
	if o == nil {
		o = &bedrock.Options{}
	}
	o.Config, o.Retry = serve(t, s), &models.RetryOptions{Attempts: 1}
	m, err := bedrock.New(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func human(text string) llms.MessageContent { return llms.TextParts(llms.ChatMessageTypeHuman, text) }

func said(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: role, Parts: parts}
}

func call(id, name, arguments string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: arguments}}
}

func result(id, content string) llms.MessageContent {
	return said(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: id, Content: content})
}

func weather() llms.CallOption {
	return llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "weather", Description: "The weather.", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`),
	}}})
}

// streaming returns options that stream, and the streamed text and thoughts.
func streaming() (options []llms.CallOption, text, thoughts *bytes.Buffer) {
	text, thoughts = &bytes.Buffer{}, &bytes.Buffer{}
	return []llms.CallOption{
		llms.WithStreamingFunc(func(_ context.Context, chunk []byte) error {
			text.Write(chunk)
			return nil
		}),
		llms.WithStreamingReasoningFunc(func(_ context.Context, thought, _ []byte) error {
			thoughts.Write(thought)
			return nil
		}),
	}, text, thoughts
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%s: %v: %s", what, err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// Replies are the same streamed or not, and are sent back as they were received.
func TestTurns(t *testing.T) {
	t.Parallel()
	thought := `{"reasoningContent":{"reasoningText":{"text":"Bergen?","signature":"` + sign("Bergen?") + `"}}}`
	content := `[` + thought + `,{"reasoningContent":{"redactedContent":"c2VjcmV0"}},{"text":"I look."},` +
		`{"toolUse":{"toolUseId":"t1","name":"weather","input":{"city":"Bergen"}}},` +
		`{"toolUse":{"toolUseId":"t2","name":"weather","input":{}}}]`
	stream, text, thoughts := streaming()
	for name, options := range map[string][]llms.CallOption{"whole": nil, "streamed": stream} {
		s := &stub{replies: []reply{{content: content, reason: "tool_use"}, {content: `[{"text":"Rain."}]`}}}
		m := open(t, claude, s, nil)
		got, err := m.GenerateContent(t.Context(), []llms.MessageContent{human("?")}, append(options, weather())...)
		if err != nil {
			t.Fatal(err)
		}
		c := got.Choices[0]
		raw, _ := c.GenerationInfo["writ:message"].(*models.Message)
		delete(c.GenerationInfo, "writ:message")
		info := map[string]any{"PromptTokens": 100, "CompletionTokens": 20, "PromptCachedTokens": 60,
			"CacheCreationInputTokens": 10, "writ:model": claude, "writ:id": "req-1"}
		if c.Content != "I look." || c.ReasoningContent != "Bergen?" || c.StopReason != "tool_use" ||
			len(c.ToolCalls) != 2 || c.ToolCalls[0].FunctionCall.Arguments != `{"city":"Bergen"}` ||
			!reflect.DeepEqual(c.GenerationInfo, info) {
			t.Errorf("%s: got %+v", name, c)
		}
		same(t, name, string(raw.Raw), content)
		_, err = m.GenerateContent(t.Context(), []llms.MessageContent{human("?"),
			said(llms.ChatMessageTypeAI, *raw, c.ToolCalls[0], c.ToolCalls[1]), result("t1", "rain"), result("t2", "sun")},
			options...) // without tools, which Bedrock would reject
		if err != nil {
			t.Fatal(err)
		}
		sent, _ := json.Marshal(s.requests[1].Messages[1].Content[0].ReasoningContent.ReasoningText)
		if tools := s.requests[1].ToolConfig.Tools; len(tools) != 1 || !strings.Contains(tools[0].ToolSpec.Description, "No longer") {
			t.Errorf("%s: declared %+v", name, tools)
		}
		same(t, name, string(sent), `{"Text":"Bergen?","Signature":"`+sign("Bergen?")+`"}`)
	}
	if text.String() != "I look.Rain." || thoughts.String() != "Bergen?" {
		t.Errorf("streamed %q and %q", text, thoughts)
	}
}

// Only Claude gets its reasoning back, and only with a signature.
func TestReasoningSentBack(t *testing.T) {
	t.Parallel()
	reasoning := func(signature string) string {
		return `{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"` + signature + `"}}}`
	}
	for _, test := range []struct {
		model, reasoning string
		want             int // blocks
	}{
		{claude, reasoning(sign("Hm.")), 2},
		{claude, reasoning(""), 1},
		{"us.amazon.nova-2-lite-v1:0", reasoning(sign("Hm.")), 1},
	} {
		s := &stub{replies: []reply{{content: `[{"text":"Hi."}]`}}}
		raw := json.RawMessage(`[` + test.reasoning + `,{"text":"A"},{"text":" "}]`)
		_, err := open(t, test.model, s, nil).GenerateContent(t.Context(), []llms.MessageContent{human("?"),
			said(llms.ChatMessageTypeAI, models.Message{Provider: "bedrock", Raw: raw}), human("?")})
		if err != nil || len(s.requests[0].Messages[1].Content) != test.want {
			t.Errorf("%s: sent %s, %v", test.model, s.bodies, err)
		}
	}
}

// A schema that the model does not support is not sent again.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	for noSchema, want := range map[bool]string{false: "yes yes ", true: "yes no no "} {
		s := &stub{noSchema: noSchema, replies: []reply{{content: `[{"text":"{}"}]`}, {content: `[{"text":"{}"}]`}}}
		m := open(t, claude, s, nil)
		for range 2 {
			if _, err := llms.GenerateFromSinglePrompt(models.WithParams(t.Context(), models.Params{Schema: schema}), m, "?"); err != nil {
				t.Error(err)
			}
		}
		sent := ""
		for _, q := range s.requests {
			sent += map[bool]string{true: "yes ", false: "no "}[q.OutputConfig != nil]
		}
		if sent != want {
			t.Errorf("sent the schema: %s, want %s", sent, want)
		}
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	start := event("messageStart", `{"role":"assistant"}`)
	delta := func(at, text string) frame {
		return event("contentBlockDelta", `{"contentBlockIndex":`+at+`,"delta":{"text":"`+text+`"}}`)
	}
	tool := event("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"n"}}}`)
	stop := event("messageStop", `{"stopReason":"end_turn"}`)
	frames := func(all ...frame) reply { return reply{frames: append([]frame{start}, all...)} }
	type want struct {
		kind    models.Kind
		status  int
		charged bool
		text    string // a part of the message
	}
	broken := func(text string) want { return want{models.KindTransient, 0, true, text} }
	for name, test := range map[string]struct {
		reply  reply
		stream bool
		want   want
	}{
		"throttled": {reply{status: 429, body: `{"message":"Too many requests"}`}, false,
			want{models.KindRateLimited, 429, false, "Too many requests; retry later or less often"}},
		"denied": {reply{status: 403, body: `{"message":"You don't have access to the model."}`}, false,
			want{models.KindAuth, 403, false, "check what the key in the AWS configuration may do"}},
		"too long": {reply{status: 400, body: `{"message":"Input is too long for requested model."}`}, false,
			want{models.KindContextTooLong, 400, false, "shorten the prompt"}},
		"model error": {reply{status: 424, body: `{"message":"The model failed."}`}, false,
			want{models.KindTransient, 424, false, "The model failed.; try again"}},
		"HTML": {reply{status: 200, body: "<html>"}, false, broken("bedrock sent an HTML page")},
		"HTML for a stream": {reply{status: 200, body: "<html>"}, true,
			broken("bedrock sent an HTML page")},
		"no content":     {reply{status: 200, body: `{}`}, false, broken("without content")},
		"strange":        {reply{content: `"x"`}, false, broken("malformed reply")},
		"guardrail":      {reply{content: `[]`, reason: "guardrail_intervened"}, false, want{models.KindRefused, 0, true, "guardrail"}},
		"malformed call": {reply{content: `[]`, reason: "malformed_tool_use"}, false, broken("malformed_tool_use")},
		"throttled in the stream": {frames(exception("throttlingException", `{"message":"Slow down"}`)), true,
			want{models.KindRateLimited, 0, true, "throttlingException: Slow down"}},
		"model failure in the stream": {frames(exception("modelStreamErrorException", `{"message":"Oh"}`)), true,
			broken("modelStreamErrorException: Oh")},
		"server failure in the stream": {frames(exception("internalServerException", `{"message":"Oh"}`)), true,
			broken("internalServerException: Oh")},
		"unknown exception": {frames(exception("newException", `{"message":"Oh"}`)), true,
			want{models.KindUnknown, 0, true, "newException: Oh"}},
		"no end":            {frames(delta("0", "Hi")), true, broken("ended the stream before")},
		"cut frame":         {reply{status: 200, body: "\x00\x00\x01\x00\x00\x00\x00\x10"}, true, broken("ended the stream before")},
		"not JSON":          {frames(event("metadata", `{`)), true, broken("malformed reply")},
		"a gap":             {frames(delta("3", "Hi")), true, broken("content block 3 follows 0 blocks")},
		"negative":          {frames(delta("-1", "Hi")), true, broken("content block -1 follows 0 blocks")},
		"changed its mind":  {frames(tool, delta("0", "Hi")), true, broken("block 0 is toolUse and then text")},
		"begins twice":      {frames(tool, tool), true, broken("content block 0 begins after 1 blocks")},
		"after the end":     {frames(stop, delta("0", "Hi")), true, broken("continues after it ended")},
		"another end":       {frames(stop, event("messageStop", `{"stopReason":"refusal"}`)), true, broken("and then with")},
		"a large event":     {frames(delta("0", strings.Repeat("x", 10<<20))), true, broken("a stream that is too long")},
		"a large reply":     {frames(delta("0", strings.Repeat("x", 5<<20)), stop), true, broken("a reply of more than")},
		"a malformed delta": {frames(event("contentBlockDelta", `{"delta":{"text":5}}`)), true, broken("malformed reply")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var options []llms.CallOption
			if test.stream {
				options, _, _ = streaming()
			}
			m := open(t, claude, &stub{replies: []reply{test.reply}}, nil)
			_, err := m.GenerateContent(t.Context(), []llms.MessageContent{human("?")}, options...)
			e, ok := errors.AsType[*models.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if got := (want{e.Kind, e.Status, e.MaybeCharged, test.want.text}); got != test.want ||
				!strings.Contains(err.Error(), test.want.text) {
				t.Errorf("got %+v: %v\nwant %+v", got, err, test.want)
			}
		})
	}
}

// A tool input that the token limit cut can be sent back, and unknown pieces are ignored.
func TestTruncatedInput(t *testing.T) {
	t.Parallel()
	s := &stub{replies: []reply{{frames: []frame{
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"citation":{"a":1}}}`), event("newEvent", `{}`),
		event("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"t","name":"n"}}}`),
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"a\":"}}}`),
		event("messageStop", `{"stopReason":"max_tokens"}`),
	}}}}
	options, _, _ := streaming()
	got, err := open(t, claude, s, nil).GenerateContent(t.Context(), []llms.MessageContent{human("?")}, options...)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := got.Choices[0].GenerationInfo["writ:message"].(*models.Message)
	same(t, "message", string(raw.Raw), `[{"toolUse":{"toolUseId":"t","name":"n","input":{"INVALID_JSON":"{\"a\":"}}}]`)
}

func TestNew(t *testing.T) {
	for _, variable := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"} {
		t.Setenv(variable, "")
	}
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	for want, open := range map[string]func() (llms.Model, error){
		"bedrock: the model has no name":               func() (llms.Model, error) { return bedrock.New(t.Context(), " ", nil) },
		"bedrock: the AWS configuration has no region": func() (llms.Model, error) { return bedrock.New(t.Context(), "m", nil) },
		"bedrock: the model: the base URL is not valid": func() (llms.Model, error) {
			return bedrock.New(t.Context(), "m", &bedrock.Options{
				Config: &aws.Config{Region: "eu-west-1", BaseEndpoint: aws.String("localhost")}})
		},
	} {
		if _, err := open(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	t.Setenv("AWS_REGION", "eu-west-1")
	for want, o := range map[string]*bedrock.Options{
		"cannot get credentials for bedrock: no AWS credentials were found": {Config: &aws.Config{Region: "eu-west-1"}},
		"cannot get credentials for bedrock: ":                              nil, // no link of the chain has any
	} {
		m, err := bedrock.New(t.Context(), claude, o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = llms.GenerateFromSinglePrompt(t.Context(), m, "?")
		if e, ok := errors.AsType[*models.Error](err); !ok || e.Kind != models.KindAuth || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// An API key replaces the signature.
func TestKey(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-api-key")
	s := &stub{}
	_, err := llms.GenerateFromSinglePrompt(t.Context(), open(t, claude, s, nil), "?")
	if e, ok := errors.AsType[*models.Error](err); !ok || e.Status != 403 || // the stub wants a signature
		s.credentials[0] != "Bearer bedrock-api-key" {
		t.Errorf("got %v, sent %s", err, s.credentials)
	}
}

// A call that takes too long fails. It is not retried here.
func TestAttempt(t *testing.T) {
	t.Parallel()
	_, err := llms.GenerateFromSinglePrompt(t.Context(),
		open(t, claude, &stub{}, &bedrock.Options{Attempt: time.Nanosecond}), "?")
	if e, ok := errors.AsType[*models.Error](err); !ok || e.Kind != models.KindTransient ||
		!strings.Contains(err.Error(), "raise the option Attempt") {
		t.Errorf("got %v", err)
	}
}

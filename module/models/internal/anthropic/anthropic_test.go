package anthropic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/wire"
)

const budgeted = "claude-haiku-4-5" // a model whose thinking has a budget

// serve returns a model whose requests a stub answers.
func serve(t *testing.T, o *stub.Options, replies ...stub.Reply) (*anthropic.Model, *stub.Server) {
	t.Helper()
	s := stub.Anthropic(o, replies...)
	return connect(t, s, nil), s
}

func connect(t *testing.T, h http.Handler, o *wire.Options) *anthropic.Model {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	if o == nil {
		o = &wire.Options{}
	}
	o.Key, o.BaseURL = "test-key", server.URL
	m, err := anthropic.New(budgeted, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(text string) []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
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

func message(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
	return llms.MessageContent{Role: role, Parts: parts}
}

func call(id, name, arguments string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: arguments}}
}

func weather() llms.CallOption {
	return llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "weather", Description: "The weather in a city.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`),
	}}})
}

// replyTest is a reply of a stub and the expected result.
type replyTest struct {
	reply stub.Reply
	want  llms.ContentChoice
}

func replyTests() map[string]replyTest {
	info := func(raw, text string) map[string]any {
		return map[string]any{
			"PromptTokens": 100, "PromptCachedTokens": 60, "CacheCreationInputTokens": 0,
			"CompletionTokens": 20, "ReasoningTokens": 5,
			lm.ModelKey: budgeted, lm.IDKey: "msg_1",
			lm.MessageKey: &lm.Message{
				TextContent: llms.TextContent{Text: text}, Provider: "anthropic", Raw: json.RawMessage(raw)},
		}
	}
	return map[string]replyTest{
		"thoughts": {
			stub.Reply{Thinking: "Let me see: Bhutan.", Redacted: "xyz", Text: "Thimphu."},
			llms.ContentChoice{Content: "Thimphu.", ReasoningContent: "Let me see: Bhutan.", StopReason: "end_turn",
				GenerationInfo: info(`[
					{"type":"thinking","thinking":"Let me see: Bhutan.","signature":"IodpmW0qpe6WYdsvQhAtYTwU4KHH6pUfV3NtiWN+ZjI="},
					{"type":"redacted_thinking","data":"xyz.Ngi8oeROpsTSaOttsCJgJpiSwLQrhrvx53pvoWw8koI="},
					{"type":"text","text":"Thimphu."}]`, "Thimphu.")},
		},
		"tool calls": {
			stub.Reply{Text: "I look.", ToolCalls: []stub.ToolCall{
				{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`},
				{ID: "t2", Name: "weather", Arguments: `{"city":"Bergen"}`},
				{ID: "t3", Name: "now", Arguments: `{}`},
			}},
			llms.ContentChoice{Content: "I look.", StopReason: "tool_use",
				ToolCalls: []llms.ToolCall{
					call("t1", "weather", `{"city":"Oslo"}`), call("t2", "weather", `{"city":"Bergen"}`), call("t3", "now", `{}`),
				},
				GenerationInfo: info(`[
					{"type":"text","text":"I look."},
					{"type":"tool_use","id":"t1","name":"weather","input":{"city":"Oslo"}},
					{"type":"tool_use","id":"t2","name":"weather","input":{"city":"Bergen"}},
					{"type":"tool_use","id":"t3","name":"now","input":{}}]`, "I look.")},
		},
	}
}

func TestReply(t *testing.T) {
	t.Parallel()
	for name, test := range replyTests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.reply.CachedTokens, test.reply.ReasoningTokens = 60, 5
			options, text, thoughts := streaming()
			for _, options := range [][]llms.CallOption{nil, options} {
				m, _ := serve(t, nil, test.reply)
				got, err := m.GenerateContent(t.Context(), ask("?"), options...)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := lm.UsageOf(got), (lm.Usage{Input: 100, Output: 20, Reasoning: 5, CachedInput: 60}); got != want {
					t.Errorf("the usage is %+v, not %+v", got, want)
				}
				same(t, got, llms.ContentResponse{Choices: []*llms.ContentChoice{&test.want}})
			}
			if text.String() != test.want.Content || thoughts.String() != test.want.ReasoningContent {
				t.Errorf("streamed %q and %q", text, thoughts)
			}
		})
	}
}

// same checks that two values have the same JSON.
func same(t *testing.T, got, want any) {
	t.Helper()
	if g, w := indented(t, got), indented(t, want); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

func indented(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	_ = json.Unmarshal(raw, &plain)
	raw, _ = json.MarshalIndent(plain, "", "\t")
	return string(raw)
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	options, _, _ := streaming()
	for _, options := range [][]llms.CallOption{nil, options} {
		m, _ := serve(t, nil, stub.Reply{Refusal: "I will not."})
		response, err := lm.Generate(t.Context(), m, ask("?"), options...)
		e, ok := errors.AsType[*lm.Error](err)
		if !ok || e.Kind != lm.KindRefused || response.Choices[0].Content != "I will not." {
			t.Errorf("response %v, error %v", response, err)
		}
	}
}

// TestTurns checks that thinking blocks are sent back unchanged, even if the conversation was saved
// in between.
func TestTurns(t *testing.T) {
	t.Parallel()
	options, _, _ := streaming()
	for _, options := range [][]llms.CallOption{nil, options} {
		m, _ := serve(t, nil,
			stub.Reply{Thinking: "I need <both> cities & so on.", Redacted: "secret", ToolCalls: []stub.ToolCall{
				{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`},
				{ID: "t2", Name: "weather", Arguments: `{"city":"Bergen"}`},
			}},
			stub.Reply{Thinking: "One more.", ToolCalls: []stub.ToolCall{
				{ID: "t3", Name: "weather", Arguments: `{"city":"Moss"}`}}},
			stub.Reply{Text: "Rain."})
		ctx := lm.WithParams(t.Context(), lm.Params{ThinkingTokens: 2000})
		conversation := ask("Where does it rain?")
		for turn := range 3 {
			response, err := m.GenerateContent(ctx, conversation, append(options, weather())...)
			if err != nil {
				t.Fatal(turn, err)
			}
			choice := response.Choices[0]
			if turn == 2 {
				if choice.Content != "Rain." {
					t.Errorf("the answer is %q", choice.Content)
				}
				break
			}
			saved, err := json.Marshal(choice.GenerationInfo[lm.MessageKey])
			if err != nil {
				t.Fatal(err)
			}
			var reply lm.Message
			if err := json.Unmarshal(saved, &reply); err != nil {
				t.Fatal(err)
			}
			parts := []llms.ContentPart{reply}
			var results []llms.MessageContent
			for _, c := range choice.ToolCalls {
				parts = append(parts, c)
				results = append(results, message(llms.ChatMessageTypeTool,
					llms.ToolCallResponse{ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: "rain"}))
			}
			conversation = append(conversation, message(llms.ChatMessageTypeAI, parts...))
			conversation = append(conversation, results...)
		}
	}
}

func TestExtra(t *testing.T) {
	t.Parallel()
	s := stub.Anthropic(nil, stub.Reply{Text: "Hello."})
	m := connect(t, s, &wire.Options{MaxTokens: 5, Extra: map[string]any{"service_tier": "auto", "max_tokens": 9}})
	if _, err := m.Call(t.Context(), "?"); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"model": budgeted, "max_tokens": 9.0, "service_tier": "auto",
		"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "?"}}}},
	}
	same(t, s.Requests()[0].Body, want)
}

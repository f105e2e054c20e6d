package wire_test

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/openai"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// TestCallIDs continues a conversation that another provider's model began. Its IDs of calls may repeat, as Ollama's
// do, and have other characters or more than this provider accepts.
func TestCallIDs(t *testing.T) {
	t.Parallel()
	messages := hello()
	for _, id := range []string{"call_1", "call_1", "functions.look:0", "call_" + strings.Repeat("a", 40)} {
		f := &llms.FunctionCall{Name: "look", Arguments: "{}"}
		messages = append(messages,
			llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
				lm.Message{Provider: "ollama"}, llms.ToolCall{ID: id, Type: "function", FunctionCall: f}}},
			llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
				llms.ToolCallResponse{ToolCallID: id, Name: "look", Content: "seen"}}})
	}
	compatible := func(dialect string) func(*wire.Options) (llms.Model, error) {
		return func(o *wire.Options) (llms.Model, error) {
			o.Dialect = dialect
			return openai.New("m", o)
		}
	}
	for name, test := range map[string]struct {
		serve func(*stub.Options, ...stub.Reply) *stub.Server
		open  func(*wire.Options) (llms.Model, error)
		ids   string
	}{
		"anthropic": {stub.Anthropic, func(o *wire.Options) (llms.Model, error) { return anthropic.New(budgeted, o) },
			"call_1 call_1 call00002 call00002 call00003 call00003 " + strings.Repeat("call_"+strings.Repeat("a", 40)+" ", 2)},
		"openai": {stub.OpenAI, compatible("openai"), "call_1 call_1 call00002 call00002 functions.look:0 " +
			"functions.look:0 call00004 call00004 "},
		"mistral": {stub.OpenAI, compatible("mistral"), "call00001 call00001 call00002 call00002 call00003 call00003 " +
			"call00004 call00004 "},
		"openai-responses": {stub.Responses, protocols["openai-responses"].open, "call_1 call_1 call00002 call00002 " +
			"functions.look:0 functions.look:0 call00004 call00004 "},
	} {
		stubbed := test.serve(nil, stub.Reply{Text: "Seen."})
		server := httptest.NewServer(stubbed)
		defer server.Close()
		m, err := test.open(&wire.Options{Key: "test-key", BaseURL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.GenerateContent(t.Context(), messages); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := ""
		id := regexp.MustCompile(`"(?:id|call_id|tool_call_id|tool_use_id)":"([^"]+)"`)
		for _, found := range id.FindAllStringSubmatch(string(stubbed.Requests()[0].Raw), -1) {
			got += found[1] + " "
		}
		if got != test.ids {
			t.Errorf("%s: the IDs are %s", name, got)
		}
	}
}

package models_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// TestRealModels calls real providers, which costs a little:
//
//	WRIT_REAL_MODELS="openai:gpt-5.1,ollama:qwen3" go test ./module/models -run RealModels -v
func TestRealModels(t *testing.T) {
	t.Parallel()
	list := os.Getenv("WRIT_REAL_MODELS")
	if list == "" {
		t.Skip("WRIT_REAL_MODELS is not set; set it to models such as openai:gpt-5.1,anthropic:claude-sonnet-4-5")
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, err := models.Open(name, nil)
			if err != nil {
				t.Fatal(err)
			}
			interview{model}.all(t)
		})
	}
}

// TestStubModels makes the same calls to stubs of the providers, through the wrappers.
func TestStubModels(t *testing.T) {
	t.Parallel()
	o := &stub.Options{Fields: []string{"reasoning_content"}, Answer: func(r stub.Request) stub.Reply {
		switch {
		case bytes.Contains(r.Raw, []byte("-17")):
			return stub.Reply{Text: "It is -17."}
		case r.Body["tools"] != nil:
			call := stub.ToolCall{ID: "call_1", Name: "temperature", Arguments: `{"city":"Oslo"}`}
			return stub.Reply{Thinking: "Oslo?", ToolCalls: []stub.ToolCall{call}}
		case r.Body["response_format"] != nil || r.Body["output_config"] != nil || r.Body["format"] != nil ||
			r.Body["generationConfig"] != nil:
			return stub.Reply{Text: `{"city":"Paris","people":null}`}
		}
		return stub.Reply{Text: "Paris"}
	}}
	for name, server := range map[string]http.Handler{
		"openai:gpt-5.1": stub.OpenAI(o), "anthropic:claude-sonnet-4-5": stub.Anthropic(o), "ollama:qwen3:8b": stub.Ollama(o),
		"gemini:gemini-3-pro-preview": stub.Gemini(o), "vertex:gemini-3-flash-preview": stub.Gemini(o),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := opened(t, name, models.OpenOptions{Client: direct(server)})
			for _, w := range wrappers {
				if w.name != "fallback" {
					model = w.wrap(t, model)
				}
			}
			interview{models.Fallback(model)}.all(t)
		})
	}
}

// interview uses all capabilities of a model.
type interview struct{ model llms.Model }

func (m interview) all(t *testing.T) {
	can := models.CapabilitiesOf(m.model)
	t.Logf("it can %+v", can)
	t.Run("text", m.text)
	t.Run("streaming", m.streaming)
	if can.Schema {
		t.Run("schema", m.schema)
	}
	if can.Tools {
		t.Run("tools", m.tools)
	}
}

func (m interview) ask(
	t *testing.T, p models.Params, call lm.Call, messages []llms.MessageContent, options ...llms.CallOption,
) lm.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(models.WithParams(t.Context(), p), 5*time.Minute)
	defer cancel()
	reply, err := lm.Ask(ctx, m.model, call, messages, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%q, %d calls, %s, %s, %+v", reply.Text, len(reply.ToolCalls), reply.StopReason, reply.Model, reply.Usage)
	if reply.Usage.Input == 0 || reply.Usage.Output == 0 || reply.StopReason == "" {
		t.Errorf("the usage is %+v, the reason to stop %q", reply.Usage, reply.StopReason)
	}
	return reply
}

const capital = "What is the capital of France? Answer with one word."

func (m interview) text(t *testing.T) {
	if reply := m.ask(t, models.Params{}, lm.Call{}, question(capital)); !strings.Contains(reply.Text, "Paris") {
		t.Errorf("got %q", reply.Text)
	}
}

func (m interview) streaming(t *testing.T) {
	var h hearing
	reply := m.ask(t, models.Params{}, h.call(), question("Once more: "+capital)) // the other reply is in the cache
	if heard := strings.Join(h.text, ""); heard != reply.Text || !strings.Contains(heard, "Paris") {
		t.Errorf("heard %q of %q", heard, reply.Text)
	}
}

func (m interview) schema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object",
		"properties":{"city":{"type":"string"},"people":{"type":["integer","null"]}},
		"required":["city","people"],"additionalProperties":false}`)
	reply := m.ask(t, models.Params{Schema: schema}, lm.Call{}, question(capital))
	var got struct {
		City   *string `json:"city"`
		People *int    `json:"people"`
	}
	if err := json.Unmarshal([]byte(reply.Text), &got); err != nil || got.City == nil || *got.City != "Paris" {
		t.Errorf("got %q, %v", reply.Text, err)
	}
}

// tools takes two turns. The message of the first reply is sent back unchanged, with the result.
func (m interview) tools(t *testing.T) {
	tool := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "temperature", Description: "The temperature of a city in °C.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},
			"required":["city"],"additionalProperties":false}`),
	}}})
	messages := question("How many °C is it in Oslo? Use the tool, and answer with the number.")
	first := m.ask(t, models.Params{CacheSystem: true}, lm.Call{}, messages, tool)
	if len(first.ToolCalls) == 0 {
		t.Fatalf("it called nothing, and said %q", first.Text)
	}
	said := llms.MessageContent{Role: llms.ChatMessageTypeAI}
	if first.Message != nil {
		said.Parts = append(said.Parts, *first.Message)
	}
	messages = append(messages, said)
	for _, call := range first.ToolCalls {
		messages[1].Parts = append(messages[1].Parts, call)
		result := llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: "-17"}
		messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result}})
	}
	second := m.ask(t, models.Params{CacheSystem: true}, lm.Call{}, messages, tool)
	if !strings.Contains(second.Text, "17") {
		t.Errorf("got %q", second.Text)
	}
}

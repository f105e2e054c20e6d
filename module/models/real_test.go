package models_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// TestRealModels asks real providers, which costs a little:
//
//	WRIT_REAL_MODELS="openai:gpt-5.1,ollama:qwen3" go test ./module/models -run RealModels -v
func TestRealModels(t *testing.T) {
	t.Parallel()
	list := os.Getenv("WRIT_REAL_MODELS")
	if list == "" {
		t.Skip("WRIT_REAL_MODELS is not set; set it to models such as openai:gpt-5.1,anthropic:claude-sonnet-4-5")
	}
	for name := range strings.SplitSeq(list, ",") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, err := models.Open(strings.TrimSpace(name), nil)
			if err != nil {
				t.Fatal(err)
			}
			can := models.CapabilitiesOf(model)
			t.Logf("it can %+v", can)
			real := realModel{model}
			t.Run("text", real.text)
			t.Run("streaming", real.streaming)
			if can.Schema {
				t.Run("schema", real.schema)
			}
			if can.Tools {
				t.Run("tools", real.tools)
			}
		})
	}
}

type realModel struct{ llms.Model }

func (m realModel) ask(t *testing.T, p models.Params, call lm.Call, messages []llms.MessageContent, options ...llms.CallOption) lm.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(models.WithParams(t.Context(), p), 5*time.Minute)
	defer cancel()
	reply, err := lm.Ask(ctx, m.Model, call, messages, options...)
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

func (m realModel) text(t *testing.T) {
	if reply := m.ask(t, models.Params{}, lm.Call{}, question(capital)); !strings.Contains(reply.Text, "Paris") {
		t.Errorf("got %q", reply.Text)
	}
}

func (m realModel) streaming(t *testing.T) {
	var h hearing
	reply := m.ask(t, models.Params{}, h.call(), question(capital))
	if heard := strings.Join(h.text, ""); heard != reply.Text || !strings.Contains(heard, "Paris") {
		t.Errorf("heard %q of %q", heard, reply.Text)
	}
}

func (m realModel) schema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"people":{"type":["integer","null"]}},
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

// tools takes two turns: the reply of the first, as its provider wrote it, goes back
// with the result.
func (m realModel) tools(t *testing.T) {
	tool := llms.WithTools([]llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{
		Name: "temperature", Description: "The temperature of a city in °C.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`),
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
		messages = append(messages, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{
			llms.ToolCallResponse{ToolCallID: call.ID, Name: call.FunctionCall.Name, Content: "-17"},
		}})
	}
	if reply := m.ask(t, models.Params{CacheSystem: true}, lm.Call{}, messages, tool); !strings.Contains(reply.Text, "17") {
		t.Errorf("got %q", reply.Text)
	}
}

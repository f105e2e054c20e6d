package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/effect"
	"github.com/writ-go/writ/internal/place"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// nonZero drops attributes with zero values, so that callers need not check whether a value is known.
func nonZero(list ...attribute.KeyValue) []attribute.KeyValue {
	return slices.DeleteFunc(list, func(a attribute.KeyValue) bool {
		v := reflect.ValueOf(a.Value.AsInterface())
		return !v.IsValid() || v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
	})
}

// content returns an attribute whose value is the text if Options.Contents is set, and otherwise empty.
func (t *Telemetry) content(key attribute.Key, text string) attribute.KeyValue {
	if !t.options.Contents {
		text = ""
	}
	return key.String(text)
}

func (t *Telemetry) requestAttributes(e event.ModelRequest) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.GenAIOperationNameChat, semconv.GenAIProviderNameKey.String(t.options.Provider),
		semconv.GenAIRequestModel(e.Model), attribute.String("writ.predictor", e.Predictor),
		semconv.GenAIRequestMaxTokens(e.Options.MaxTokens), semconv.GenAIRequestTemperature(e.Options.Temperature),
		semconv.GenAIRequestTopP(e.Options.TopP), semconv.GenAIRequestTopK(float64(e.Options.TopK)),
		semconv.GenAIRequestSeed(e.Options.Seed), semconv.GenAIRequestStopSequences(e.Options.StopWords...),
	}
	if e.Schema != nil {
		list = append(list, semconv.GenAIOutputTypeJSON)
	}
	if t.options.Contents {
		list = append(list, semconv.GenAIInputMessagesKey.String(input(e)))
	}
	return list
}

func (t *Telemetry) responseAttributes(e event.ModelResponse) []attribute.KeyValue {
	list := append(tokens(e.Usage), semconv.GenAIResponseModel(e.Model), semconv.GenAIResponseID(e.ID),
		semconv.GenAIResponseFinishReasons(strings.Fields(e.FinishReason)...),
		attribute.Bool("writ.cached", e.Usage.Hits > 0))
	if t.options.Contents && e.Err == nil {
		list = append(list, semconv.GenAIOutputMessagesKey.String(output(e)))
	}
	return list
}

func tokens(u event.Usage) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.GenAIUsageInputTokens(u.InputTokens), semconv.GenAIUsageCacheReadInputTokens(u.CachedTokens),
		semconv.GenAIUsageOutputTokens(u.OutputTokens), semconv.GenAIUsageReasoningOutputTokens(u.ThinkingTokens),
	}
}

// message is a message in the JSON format of the conventions.
type message struct {
	Role   string              `json:"role"`
	Parts  []map[string]string `json:"parts"`
	Finish string              `json:"finish_reason,omitempty"`
}

// roles are the names that the conventions have for langchaingo's roles, if they differ.
var roles = map[llms.ChatMessageType]string{llms.ChatMessageTypeAI: "assistant", llms.ChatMessageTypeHuman: "user"}

// input returns the messages of a request, without images and files.
func input(e event.ModelRequest) string {
	text, _ := event.JSON(event.ModelRequest{Messages: e.Messages}) // always encodes
	var request struct {
		Messages []struct {
			Role llms.ChatMessageType
			Text string
		}
	}
	_ = json.Unmarshal(text, &request)
	list := make([]message, len(request.Messages))
	for i, m := range request.Messages {
		parts := []map[string]string{{"type": "text", "content": m.Text}}
		list[i] = message{Role: cmp.Or(roles[m.Role], string(m.Role)), Parts: parts}
	}
	return encode(list...)
}

// output returns the message of a response.
func output(e event.ModelResponse) string {
	parts := []map[string]string{{"type": "text", "content": e.Text}}
	if e.Thinking != "" {
		parts = append(parts, map[string]string{"type": "reasoning", "content": e.Thinking})
	}
	for _, c := range e.ToolCalls {
		if f := c.FunctionCall; f != nil {
			parts = append(parts, map[string]string{
				"type": "tool_call", "id": c.ID, "name": f.Name, "arguments": f.Arguments,
			})
		}
	}
	return encode(message{Role: "assistant", Parts: parts, Finish: e.FinishReason})
}

func encode(list ...message) string {
	text, _ := json.Marshal(list) // always encodes
	return string(text)
}

// clientAttributes returns the attributes that a request to an MCP server adds to the span of its call. The conventions
// want no span of the request itself if the call has one.
func clientAttributes(r effect.Request) []attribute.KeyValue {
	list := []attribute.KeyValue{
		semconv.McpMethodNameToolsCall, semconv.McpProtocolVersion(r.Protocol), semconv.JSONRPCRequestID(r.ID),
		semconv.RPCResponseStatusCode(r.Code), attribute.String("writ.mcp.server", r.Server),
	}
	switch u := r.URL; {
	case r.Pipe:
		list = append(list, semconv.NetworkTransportPipe)
	case u != nil:
		port, _ := strconv.Atoi(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
		list = append(list, semconv.NetworkTransportTCP, semconv.NetworkProtocolName("http"),
			semconv.ServerAddress(u.Hostname()), semconv.ServerPort(port))
	}
	return list
}

// failure is why a span has an error. The zero value means that it has none.
type failure struct{ kind, message string }

// failureOf describes the error of a run or a model.
func failureOf(err error) failure {
	if err == nil {
		return failure{}
	}
	kind := semconv.ErrorType(err).Value.AsString()
	switch e, ok := errors.AsType[*models.Error](err); {
	case errors.Is(err, context.DeadlineExceeded):
		kind = "timeout"
	case errors.Is(err, context.Canceled):
		kind = "cancelled"
	case errors.Is(err, place.ErrPaused):
		kind = "paused"
	case errors.Is(err, module.ErrMaxIters):
		kind = "max_iters"
	case errors.Is(err, module.ErrNoAnswer):
		kind = "no_answer"
	case ok:
		kind = strings.ReplaceAll(e.Kind.String(), " ", "_")
	}
	return failure{kind, err.Error()}
}

// toolKinds are the kinds of errors that are reported. Handlers may return others.
var toolKinds = []string{
	tools.KindUnknownTool, tools.KindInvalidArguments, tools.KindDenied, tools.KindLimit, tools.KindFailed,
	tools.KindUnavailable, tools.KindTimeout, tools.KindCancelled, tools.KindUnknown, tools.KindInvalidResult,
	tools.KindTooLarge,
}

// failureOfCall describes the error of a tool call.
func failureOfCall(c sandbox.Call) failure {
	switch {
	case c.Pending:
		return failure{kind: "pending"}
	case c.Error == nil:
		return failure{}
	case slices.Contains(toolKinds, c.Error.Kind):
		return failure{c.Error.Kind, c.Error.Message}
	}
	return failure{"_OTHER", c.Error.Message}
}

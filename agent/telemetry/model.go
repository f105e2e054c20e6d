package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module"
	"github.com/writ-go/writ/module/event"
	"github.com/writ-go/writ/module/models"
	"github.com/writ-go/writ/sandbox"
	"github.com/writ-go/writ/tools"
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

func (t *Telemetry) request(r *run, e event.ModelRequest) {
	step := t.atStep(r, e.Origin)
	t.end(r.chat, e.Time, "", "") // its response was not reported
	r.model = e.Model
	list := append(settings(e.Options), semconv.GenAIOperationNameChat,
		semconv.GenAIProviderNameKey.String(t.options.Provider), attribute.String("writ.predictor", e.Predictor))
	if e.Model != "" {
		list = append(list, semconv.GenAIRequestModel(e.Model))
	}
	if e.Schema != nil {
		list = append(list, semconv.GenAIOutputTypeJSON)
	}
	if t.options.Contents {
		list = append(list, semconv.GenAIInputMessagesKey.String(input(e)))
	}
	r.chat = t.start(step.ctx, strings.TrimSpace("chat "+e.Model), e.Time, trace.SpanKindClient, list...)
}

// settings returns the settings of a request that are not zero.
func settings(o llms.CallOptions) (list []attribute.KeyValue) {
	add := func(set bool, a attribute.KeyValue) {
		if set {
			list = append(list, a)
		}
	}
	add(o.MaxTokens != 0, semconv.GenAIRequestMaxTokens(o.MaxTokens))
	add(o.Temperature != 0, semconv.GenAIRequestTemperature(o.Temperature))
	add(o.TopP != 0, semconv.GenAIRequestTopP(o.TopP))
	add(o.TopK != 0, semconv.GenAIRequestTopK(float64(o.TopK)))
	add(o.Seed != 0, semconv.GenAIRequestSeed(o.Seed))
	add(len(o.StopWords) > 0, semconv.GenAIRequestStopSequences(o.StopWords...))
	return list
}

func (t *Telemetry) response(r *run, e event.ModelResponse) {
	s := r.chat
	if s == nil {
		return
	}
	r.chat, r.usage = nil, r.usage.Add(e.Usage)
	list := append(usageAttributes(e.Usage), attribute.Bool("writ.cached", e.Usage.Hits > 0))
	if e.Model != "" {
		list = append(list, semconv.GenAIResponseModel(e.Model))
	}
	if e.ID != "" {
		list = append(list, semconv.GenAIResponseID(e.ID))
	}
	if e.FinishReason != "" {
		list = append(list, semconv.GenAIResponseFinishReasons(e.FinishReason))
	}
	errorType, message := "", ""
	if e.Err != nil {
		errorType, message = errorOf(e.Err), e.Err.Error()
	} else if t.options.Contents {
		list = append(list, semconv.GenAIOutputMessagesKey.String(output(e)))
	}
	t.end(s, e.Time, errorType, message, list...)
	if e.Usage.Hits == 0 {
		t.metrics.chat(s, e, t.options.Provider, r.model, errorType)
	}
}

// usageAttributes returns the counts of tokens that are not zero.
func usageAttributes(u event.Usage) (list []attribute.KeyValue) {
	for _, a := range []attribute.KeyValue{
		semconv.GenAIUsageInputTokens(u.InputTokens), semconv.GenAIUsageCacheReadInputTokens(u.CachedTokens),
		semconv.GenAIUsageOutputTokens(u.OutputTokens), semconv.GenAIUsageReasoningOutputTokens(u.ThinkingTokens),
	} {
		if a.Value.AsInt64() > 0 {
			list = append(list, a)
		}
	}
	return list
}

// content returns the attribute if Options.Contents is set, and the text is not empty.
func (t *Telemetry) content(key attribute.Key, text string) []attribute.KeyValue {
	if !t.options.Contents || text == "" {
		return nil
	}
	return []attribute.KeyValue{key.String(text)}
}

// message is a message in the JSON format of the conventions.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// roles translates roles of langchaingo to those of the conventions.
var roles = map[llms.ChatMessageType]string{
	llms.ChatMessageTypeAI: "assistant", llms.ChatMessageTypeHuman: "user", llms.ChatMessageTypeSystem: "system",
	llms.ChatMessageTypeTool: "tool",
}

// input returns the messages of a request. Of images and files, it has only the type and the size.
func input(e event.ModelRequest) string {
	recorded, _ := event.JSON(event.ModelRequest{Messages: e.Messages}) // always encodes
	var request struct {
		Messages []struct {
			Role        llms.ChatMessageType
			Text        string
			Attachments []string
		}
	}
	_ = json.Unmarshal(recorded, &request)
	list := []message{}
	for _, m := range request.Messages {
		parts := []part{{Type: "text", Content: m.Text}}
		for _, a := range m.Attachments {
			parts = append(parts, part{Type: "attachment", Content: a})
		}
		list = append(list, message{Role: cmp.Or(roles[m.Role], string(m.Role)), Parts: parts})
	}
	return encode(list)
}

// output returns the message of a response.
func output(e event.ModelResponse) string {
	m := message{Role: "assistant", Parts: []part{}, Finish: e.FinishReason}
	if e.Thinking != "" {
		m.Parts = append(m.Parts, part{Type: "reasoning", Content: e.Thinking})
	}
	if e.Text != "" {
		m.Parts = append(m.Parts, part{Type: "text", Content: e.Text})
	}
	for _, c := range e.ToolCalls {
		if f := c.FunctionCall; f != nil {
			m.Parts = append(m.Parts, part{Type: "tool_call", ID: c.ID, Name: f.Name, Arguments: f.Arguments})
		}
	}
	return encode([]message{m})
}

func encode(list []message) string {
	text, _ := json.Marshal(list) // always encodes
	return string(text)
}

// errorOf returns the error.type of the error of a run or a model.
func errorOf(err error) string {
	failure, ok := errors.AsType[*models.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, module.ErrMaxIters):
		return "max_iters"
	case errors.Is(err, module.ErrNoAnswer):
		return "no_answer"
	case ok && failure != nil:
		return strings.ReplaceAll(failure.Kind.String(), " ", "_")
	}
	return semconv.ErrorType(err).Value.AsString()
}

// toolKinds are the kinds of errors that error.type may have. Handlers may return others.
var toolKinds = []string{
	tools.KindUnknownTool, tools.KindInvalidArguments, tools.KindDenied, tools.KindLimit, tools.KindFailed,
	tools.KindUnavailable, tools.KindTimeout, tools.KindCancelled, tools.KindUnknown, tools.KindInvalidResult,
	tools.KindTooLarge,
}

// errorOfCall returns the error.type of a tool call, and the error's message.
func errorOfCall(c sandbox.Call) (errorType, message string) {
	switch {
	case c.Pending:
		return "pending", "the run ended while the call was in progress"
	case c.Error == nil:
		return "", ""
	case slices.Contains(toolKinds, c.Error.Kind):
		return c.Error.Kind, c.Error.Message
	}
	return "_OTHER", c.Error.Message
}

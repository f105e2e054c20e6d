package bedrock_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
)

// stub answers like Bedrock: it checks the signature and the JSON of each request, and sends scripted replies.
type stub struct {
	noSchema bool // the model does not support structured output

	mu       sync.Mutex
	replies  []reply
	requests []request
	bodies   []string
	paths    []string

	credentials []string
}

// reply is a response of the stub: the content blocks of a message, streamed if that was requested, or a whole body.
type reply struct {
	content string
	reason  string // default: end_turn
	status  int
	body    string
	frames  []frame // replace the events of a stream
}

type frame struct{ header, name, data string }

type request struct {
	Messages                     []message
	System                       []textOrCache
	InferenceConfig              *struct{ MaxTokens, Temperature, TopP, StopSequences any }
	AdditionalModelRequestFields map[string]any
	OutputConfig                 *struct {
		Effort     string
		TextFormat *struct {
			Type      string
			Structure struct {
				JSONSchema struct{ Name, Schema string }
			}
		}
	}
	ToolConfig *struct {
		Tools []struct {
			ToolSpec *struct {
				Name, Description string
				InputSchema       struct{ JSON map[string]any }
			}
			CachePoint *cachePoint
		}
		ToolChoice map[string]any
	}
}

type textOrCache struct {
	Text       *string
	CachePoint *cachePoint
}

type cachePoint struct{ Type string }

type message struct {
	Role    string
	Content []contentBlock
}

type contentBlock struct {
	Text             *string
	ReasoningContent *struct {
		ReasoningText   *struct{ Text, Signature string }
		RedactedContent []byte
	}
	ToolUse *struct {
		ToolUseID, Name string
		Input           map[string]any
	}
	ToolResult *struct {
		ToolUseID string
		Content   []struct{ Text string }
	}
	Image *struct {
		Format string
		Source struct{ Bytes []byte }
	}
	Document *struct {
		Name, Format string
		Source       struct{ Bytes []byte }
	}
}

var credential = credentials.NewStaticCredentialsProvider("AKID", "SECRET", "SESSION")

// serve starts a stub, and returns the configuration to call it.
func serve(t *testing.T, s *stub) *aws.Config {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return &aws.Config{Region: "eu-west-1", Credentials: credential, BaseEndpoint: &server.URL}
}

// ServeHTTP implements [http.Handler].
func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q request
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	problem := unsigned(r, body)
	status, kind := http.StatusForbidden, "InvalidSignatureException"
	if problem == "" {
		status, kind = http.StatusBadRequest, "ValidationException"
		if err := decoder.Decode(&q); err != nil {
			problem = "Malformed input request: " + err.Error()
		} else {
			problem = s.invalid(&q)
		}
	}
	s.mu.Lock()
	s.requests, s.bodies = append(s.requests, q), append(s.bodies, string(body))
	s.paths = append(s.paths, r.URL.EscapedPath())
	s.credentials = append(s.credentials, r.Header.Get("Authorization"))
	next := reply{status: 500, body: `{"message":"the script has no more replies"}`}
	if problem == "" && len(s.replies) > 0 {
		next, s.replies = s.replies[0], s.replies[1:]
	}
	s.mu.Unlock()
	if problem != "" {
		next.status, next.body = status, fmt.Sprintf(`{"message":%q}`, problem)
		w.Header().Set("X-Amzn-Errortype", kind)
	}
	w.Header().Set("X-Amzn-Requestid", "req-1")
	switch {
	case next.status != 0:
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	case strings.HasSuffix(r.URL.Path, "/converse-stream"):
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		for _, f := range next.events() {
			_ = eventstream.NewEncoder().Encode(w, eventstream.Message{Payload: []byte(f.data),
				Headers: eventstream.Headers{{Name: f.header, Value: eventstream.StringValue(f.name)}}})
			_ = http.NewResponseController(w).Flush()
		}
	default:
		fmt.Fprintf(w, `{"output":{"message":{"role":"assistant","content":%s}},"stopReason":%q,"usage":%s,`+
			`"metrics":{"latencyMs":1}}`, next.content, next.stop(), usage)
	}
}

const usage = `{"inputTokens":30,"outputTokens":20,"totalTokens":120,"cacheReadInputTokens":60,"cacheWriteInputTokens":10}`

func (r reply) stop() string {
	if r.reason == "" {
		return "end_turn"
	}
	return r.reason
}

// events returns the events of a streamed reply, whose text comes in pieces.
func (r reply) events() []frame {
	if r.frames != nil {
		return r.frames
	}
	var blocks []contentBlock
	if err := json.Unmarshal([]byte(r.content), &blocks); err != nil {
		panic(err)
	}
	all := []frame{event("messageStart", `{"role":"assistant"}`)}
	delta := func(i int, format, text string) {
		for piece := range slices.Chunk([]byte(text), 5) {
			all = append(all, event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"p":"abc","delta":`+format+`}`,
				i, piece)))
		}
	}
	for i, b := range blocks {
		switch {
		case b.Text != nil:
			delta(i, `{"text":%q}`, *b.Text)
		case b.ReasoningContent != nil && b.ReasoningContent.ReasoningText != nil:
			delta(i, `{"reasoningContent":{"text":%q}}`, b.ReasoningContent.ReasoningText.Text)
			delta(i, `{"reasoningContent":{"signature":%q}}`, b.ReasoningContent.ReasoningText.Signature)
		case b.ReasoningContent != nil:
			redacted, _ := json.Marshal(b.ReasoningContent.RedactedContent)
			all = append(all, event("contentBlockDelta",
				fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"reasoningContent":{"redactedContent":%s}}}`, i, redacted)))
		case b.ToolUse != nil:
			all = append(all, event("contentBlockStart",
				fmt.Sprintf(`{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":%q,"name":%q}}}`, i,
					b.ToolUse.ToolUseID, b.ToolUse.Name)))
			input, _ := json.Marshal(b.ToolUse.Input)
			delta(i, `{"toolUse":{"input":%q}}`, string(input))
		}
		all = append(all, event("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i)))
	}
	return append(all, event("messageStop", fmt.Sprintf(`{"stopReason":%q}`, r.stop())),
		event("metadata", `{"usage":`+usage+`,"metrics":{"latencyMs":1}}`))
}

func event(name, data string) frame     { return frame{":event-type", name, data} }
func exception(name, data string) frame { return frame{":exception-type", name, data} }

// unsigned returns what is wrong with a request's signature, or "".
func unsigned(r *http.Request, body []byte) string {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || r.Header.Get("X-Amz-Security-Token") != "SESSION" {
		return "Missing Authentication Token"
	}
	again, _ := http.NewRequest(r.Method, "http://"+r.Host+r.URL.EscapedPath(), bytes.NewReader(body))
	again.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	keys, _ := credential.Retrieve(r.Context())
	_ = v4.NewSigner().SignHTTP(r.Context(), keys, again, sum(body), "bedrock", "eu-west-1", at)
	if again.Header.Get("Authorization") != r.Header.Get("Authorization") {
		return "The request signature we calculated does not match the signature you provided."
	}
	return ""
}

var documentName = regexp.MustCompile(`^[a-zA-Z0-9 ()\[\]-]+$`)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// invalid returns the reason why Bedrock would reject a request, or "".
func (s *stub) invalid(q *request) string {
	blank := func(text string) bool { return strings.TrimSpace(text) == "" }
	for _, b := range q.System {
		if b.Text != nil && blank(*b.Text) {
			return "The text field in the SystemContentBlock object is blank."
		}
	}
	uses, documents := false, map[string]bool{}
	var open []string
	for i, m := range q.Messages {
		switch {
		case m.Role != []string{"user", "assistant"}[i%2]:
			return "A conversation must alternate between user and assistant roles, beginning with a user message."
		case len(m.Content) == 0:
			return fmt.Sprintf("messages.%d: The content field is empty.", i)
		}
		calls, results := []string{}, []string{}
		for _, b := range m.Content {
			switch {
			case b.Text != nil && blank(*b.Text):
				return "The text field in the ContentBlock object is blank."
			case b.Document != nil:
				if name := b.Document.Name; documents[name] || !documentName.MatchString(name) {
					return "Document names must be unique and may have only letters, digits, spaces, hyphens and brackets."
				}
				documents[b.Document.Name] = true
			case b.ToolUse != nil:
				if uses = true; b.ToolUse.Input == nil || !toolName.MatchString(b.ToolUse.Name) {
					return "The format of the value at messages.toolUse is invalid."
				}
				calls = append(calls, b.ToolUse.ToolUseID)
			case b.ToolResult != nil:
				if uses = true; blank(b.ToolResult.Content[0].Text) {
					return "The text field in the ToolResultContentBlock object is blank."
				}
				results = append(results, b.ToolResult.ToolUseID)
			case b.ReasoningContent != nil && b.ReasoningContent.ReasoningText != nil:
				if r := b.ReasoningContent.ReasoningText; r.Signature != sign(r.Text) {
					return "messages: Invalid `signature` in `thinking` block"
				}
			}
		}
		if !slices.Equal(open, results) {
			return fmt.Sprintf("Expected toolResult blocks at messages.%d.content for the following Ids: %v", i, open)
		}
		open = calls
	}
	if len(q.Messages)%2 == 0 {
		return "A conversation must end with a user message."
	}
	return s.invalidConfig(q, uses)
}

// invalidConfig checks what is not in the messages.
func (s *stub) invalidConfig(q *request, usesTools bool) string {
	if usesTools && (q.ToolConfig == nil || len(q.ToolConfig.Tools) == 0) {
		return "The toolConfig field must be defined when using toolUse and toolResult content blocks."
	}
	if q.ToolConfig != nil {
		for _, tool := range q.ToolConfig.Tools {
			if spec := tool.ToolSpec; spec != nil && (!toolName.MatchString(spec.Name) || spec.InputSchema.JSON["type"] != "object") {
				return "The value at toolConfig.tools.toolSpec is invalid."
			}
		}
	}
	thinking, _ := q.AdditionalModelRequestFields["thinking"].(map[string]any)
	if thinking != nil && q.InferenceConfig != nil && q.InferenceConfig.Temperature != nil {
		return "`temperature` may only be set to 1 when thinking is enabled."
	}
	if c := q.OutputConfig; c != nil && c.TextFormat != nil {
		f := c.TextFormat
		if s.noSchema {
			return "This model doesn't support the outputConfig.textFormat field. Remove it and try again."
		}
		if f.Type != "json_schema" || f.Structure.JSONSchema.Name == "" || !json.Valid([]byte(f.Structure.JSONSchema.Schema)) {
			return "The value at outputConfig.textFormat is invalid."
		}
	}
	return ""
}

func sign(text string) string { return "signed-" + sum([]byte(text))[:8] }

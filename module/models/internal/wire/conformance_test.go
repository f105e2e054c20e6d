package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/internal/stub"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models/internal/anthropic"
	"github.com/writ-go/writ/module/models/internal/gemini"
	"github.com/writ-go/writ/module/models/internal/ollama"
	"github.com/writ-go/writ/module/models/internal/openai"
	"github.com/writ-go/writ/module/models/internal/wire"
)

// protocols are the providers, which must behave in the same way.
var protocols = map[string]struct {
	serve    func(*stub.Options, ...stub.Reply) *stub.Server
	open     func(*wire.Options) (llms.Model, error)
	variable string
	schema   string // the member of a request that has the schema
}{
	"openai": {stub.OpenAI, func(o *wire.Options) (llms.Model, error) {
		o.Dialect = "openai"
		return openai.New("gpt-5.1", o)
	},
		"OPENAI_API_KEY", "response_format"},
	"openai-responses": {stub.Responses, func(o *wire.Options) (llms.Model, error) {
		o.Dialect = "openai-responses"
		return openai.NewResponses("gpt-5.1", o)
	},
		"OPENAI_API_KEY", "text"},
	"anthropic": {stub.Anthropic, func(o *wire.Options) (llms.Model, error) { return anthropic.New(budgeted, o) },
		"ANTHROPIC_API_KEY", "output_config"},
	"gemini": {stub.Gemini, func(o *wire.Options) (llms.Model, error) { return gemini.New("gemini-3-pro-preview", o) },
		"GEMINI_API_KEY", "generationConfig"},
	"vertex": {stub.Gemini, func(o *wire.Options) (llms.Model, error) { return gemini.NewVertex("gemini-2.5-flash", o) },
		"GOOGLE_API_KEY", "generationConfig"},
	"ollama": {stub.Ollama, func(o *wire.Options) (llms.Model, error) { return ollama.New("qwen3", o) },
		"OLLAMA_API_KEY", "format"},
}

const budgeted = "claude-haiku-4-5"

// conform runs a test with a model of each provider.
func conform(t *testing.T, o *stub.Options, replies []stub.Reply,
	test func(t *testing.T, name string, m llms.Model, server *stub.Server)) {
	t.Helper()
	for name, p := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stubbed := p.serve(o, replies...)
			server := httptest.NewServer(stubbed)
			t.Cleanup(server.Close)
			m, err := p.open(&wire.Options{Key: "test-key", BaseURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			test(t, name, m, stubbed)
		})
	}
}

func hello() []llms.MessageContent {
	return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "Hello?")}
}

// listen returns options that stream, and what was streamed.
func listen() (options []llms.CallOption, text, thoughts *strings.Builder) {
	text, thoughts = &strings.Builder{}, &strings.Builder{}
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

// checkFailure compares an error except for the one that it wraps, and its text.
func checkFailure(t *testing.T, err error, want lm.Error, text string) {
	t.Helper()
	e, ok := errors.AsType[*lm.Error](err)
	if !ok {
		t.Fatalf("not an *lm.Error: %v", err)
	}
	got := *e
	got.Err = nil
	if got != want || err.Error() != text {
		t.Errorf("got %+v: %s\nwant %+v: %s", got, err, want, text)
	}
}

func TestConformingReplies(t *testing.T) {
	t.Parallel()
	for _, r := range []stub.Reply{
		{Text: "Thimphu <b>is</b> the capital."}, {Thinking: "Hm, Bhutan.", Text: "Thimphu."}, {Text: "Once", Truncate: true},
		{Text: "I look.", ToolCalls: []stub.ToolCall{
			{ID: "t1", Name: "weather", Arguments: `{"city":"Oslo"}`}, {ID: "t2", Name: "now", Arguments: `{}`},
		}},
	} {
		conform(t, nil, []stub.Reply{r, r}, func(t *testing.T, _ string, m llms.Model, _ *stub.Server) {
			options, text, thoughts := listen()
			for _, options := range [][]llms.CallOption{nil, options} {
				got, err := lm.Ask(t.Context(), m, lm.Call{}, hello(), options...)
				if err != nil {
					t.Fatal(err)
				}
				if got.Text != r.Text || got.Reasoning != r.Thinking || got.Truncated != r.Truncate ||
					got.Usage.Input != 100 || got.Usage.Output != 20 || len(got.ToolCalls) != len(r.ToolCalls) {
					t.Errorf("got %+v", got)
				}
				for i, c := range got.ToolCalls {
					want := r.ToolCalls[i]
					if c.ID != want.ID || *c.FunctionCall != (llms.FunctionCall{Name: want.Name, Arguments: want.Arguments}) {
						t.Errorf("got %+v", c)
					}
				}
			}
			if text.String() != r.Text || thoughts.String() != r.Thinking {
				t.Errorf("streamed %q and %q", text, thoughts)
			}
		})
	}
}

func TestConformingFailures(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 100)
	charged := lm.Error{Kind: lm.KindTransient, MaybeCharged: true}
	for name, test := range map[string]struct {
		reply stub.Reply
		want  lm.Error
		text  string // NAME and KEY stand for the provider and its variable
	}{
		"400": {stub.Reply{Status: 400}, lm.Error{Kind: lm.KindInvalid, Status: 400},
			"the model: NAME answered 400 Bad Request: Bad Request; check the model and the options of the request"},
		"401": {stub.Reply{Status: 401}, lm.Error{Kind: lm.KindAuth, Status: 401},
			"the model's provider refuses access: NAME answered 401 Unauthorized: Unauthorized; check the key in KEY"},
		"402": {stub.Reply{Status: 402}, lm.Error{Kind: lm.KindAuth, Status: 402},
			"the model's provider refuses access: NAME answered 402 Payment Required: Payment Required; " +
				"check the credit and the limits of the account"},
		"403": {stub.Reply{Status: 403}, lm.Error{Kind: lm.KindAuth, Status: 403},
			"the model's provider refuses access: NAME answered 403 Forbidden: Forbidden; check what the key in KEY may do"},
		"413": {stub.Reply{Status: 413}, lm.Error{Kind: lm.KindContextTooLong, Status: 413},
			"the prompt is too long for the model: NAME answered 413 Request Entity Too Large: Request Entity Too Large; " +
				"shorten the prompt or use a model with a larger context"},
		"429": {stub.Reply{Status: 429, Header: http.Header{"Retry-After": {"7"}}},
			lm.Error{Kind: lm.KindRateLimited, Status: 429, RetryAfter: 7 * time.Second},
			"the model's rate limit is reached for 7s: NAME answered 429 Too Many Requests: Too Many Requests; " +
				"retry later or less often"},
		"529": {stub.Reply{Status: 529}, lm.Error{Kind: lm.KindTransient, Status: 529},
			"the model: NAME answered 529: Overloaded; try again"},
		"HTML": {stub.Reply{Status: 502, Body: "<html><title>Bad gateway</title>x</html>"},
			lm.Error{Kind: lm.KindTransient, Status: 502, MaybeCharged: true},
			`the model: NAME answered 502 Bad Gateway: an HTML page with the title "Bad gateway"; try again`},
		"HTML with 200": {stub.Reply{Status: 200, Body: "<html>"}, charged,
			"the model: NAME sent an HTML page; check the base URL"},
		"cut": {stub.Reply{Text: long, Cut: 280}, charged, "the model: the reply broke off: unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replies := []stub.Reply{test.reply, test.reply}
			conform(t, nil, replies, func(t *testing.T, name string, m llms.Model, _ *stub.Server) {
				options, _, _ := listen()
				for _, options := range [][]llms.CallOption{nil, options} {
					_, err := m.GenerateContent(t.Context(), hello(), options...)
					words := strings.NewReplacer("NAME", name, "KEY", protocols[name].variable)
					checkFailure(t, err, test.want, words.Replace(test.text))
				}
			})
		})
	}
}

// A stream can be stopped by its context, and by an error of a streaming function.
func TestConformingStops(t *testing.T) {
	t.Parallel()
	r := stub.Reply{Thinking: "Hm.", Text: strings.Repeat("long ", 1000)}
	conform(t, nil, []stub.Reply{r, r, r}, func(t *testing.T, _ string, m llms.Model, _ *stub.Server) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := m.GenerateContent(ctx, hello(), llms.WithStreamingFunc(func(context.Context, []byte) error {
			cancel()
			return nil
		}))
		checkFailure(t, err, lm.Error{Kind: lm.KindCancelled, MaybeCharged: true}, "context canceled")
		enough := errors.New("enough")
		for _, option := range []llms.CallOption{
			llms.WithStreamingFunc(func(context.Context, []byte) error { return enough }),
			llms.WithStreamingReasoningFunc(func(context.Context, []byte, []byte) error { return enough }),
		} {
			if _, err := m.GenerateContent(t.Context(), hello(), option); !errors.Is(err, enough) {
				t.Errorf("got %v", err)
			}
		}
	})
}

// A schema that the provider refuses is not sent to the model again. If the request fails without it, too, the first
// error stands.
func TestConformingSchemas(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],` +
		`"additionalProperties":false}`)
	ada := stub.Reply{Text: `{"name":"Ada"}`}
	for name, test := range map[string]struct {
		options stub.Options
		reply   stub.Reply
		want    string // the reply, or the status of the error
		sent    string // for each request, whether it had the schema
	}{
		"accepted":     {stub.Options{}, ada, ada.Text, "yes yes "},
		"refused":      {stub.Options{NoSchema: true}, ada, ada.Text, "yes no no "},
		"not followed": {stub.Options{Unconstrained: true}, stub.Reply{Text: "It is Ada."}, "It is Ada.", "yes yes "},
		"failing":      {stub.Options{NoSchema: true}, stub.Reply{Status: 500}, "400", "yes no yes no "},
		"down":         {stub.Options{}, stub.Reply{Status: 500}, "500", "yes yes "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replies := []stub.Reply{test.reply, test.reply}
			conform(t, &test.options, replies, func(t *testing.T, name string, m llms.Model, server *stub.Server) {
				ctx := lm.WithParams(t.Context(), lm.Params{Schema: schema})
				for range 2 {
					got, err := lm.Ask(ctx, m, lm.Call{}, hello())
					text := got.Text
					if e, ok := errors.AsType[*lm.Error](err); ok {
						text = strconv.Itoa(e.Status)
					}
					if text != test.want {
						t.Errorf("got %q, %v", text, err)
					}
				}
				sent := ""
				for _, r := range server.Requests() {
					sent += map[bool]string{true: "yes ", false: "no "}[r.Body[protocols[name].schema] != nil]
				}
				if sent != test.sent {
					t.Errorf("sent the schema: %s, want %s", sent, test.sent)
				}
			})
		})
	}
}

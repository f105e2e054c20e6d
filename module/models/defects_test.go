package models_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// The tests of this file, and those of its neighbour about streams, replay, through the real providers and loopback HTTP,
// what the boundary has to mend. They fail where a newer langchaingo behaves
// otherwise, also for the better: look then whether the remedy is still needed.

// Defect 1: a rate limit is a plain error, and the wait is lost.
func TestErrorAnswers(t *testing.T) {
	t.Parallel()
	problem := func(message, kind string) string {
		return fmt.Sprintf(`{"type":"error","error":{"message":%q,"type":%q}}`, message, kind)
	}
	for name, c := range map[string]struct {
		answer        func(http.ResponseWriter, *http.Request)
		with, without models.Error // the transport; without what is read from texts
		text          string
	}{
		"429, seconds": {fails(429, http.Header{"Retry-After": {"20"}}, problem("Slow down.", "rate_limit_error")),
			models.Error{Kind: models.RateLimited, Status: 429, RetryAfter: 20 * time.Second}, models.Error{Kind: models.RateLimited, Status: 429},
			"the model's rate limit is reached, for 20s: API returned unexpected status code: 429: Slow down."},
		"429, milliseconds": {fails(429, http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}}, problem("Slow down.", "")),
			models.Error{Kind: models.RateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond}, models.Error{Kind: models.RateLimited, Status: 429},
			"the model's rate limit is reached, for 1.5s: API returned unexpected status code: 429: Slow down."},
		"429, in the text": {fails(429, nil, problem("Rate limit reached. Please try again in 1m2.5s. Visit us.", "requests")),
			models.Error{Kind: models.RateLimited, Status: 429, RetryAfter: 62500 * time.Millisecond}, models.Error{Kind: models.RateLimited, Status: 429, RetryAfter: 62500 * time.Millisecond},
			"the model's rate limit is reached, for 1m2.5s: API returned unexpected status code: 429: Rate limit reached. Please try again in 1m2.5s. Visit us."},
		"429, a reset": {fails(429, http.Header{"X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"6s"}, "X-Ratelimit-Remaining-Requests": {"9"}, "X-Ratelimit-Reset-Requests": {"1h"}}, problem("Slow down.", "")),
			models.Error{Kind: models.RateLimited, Status: 429, RetryAfter: 6 * time.Second}, models.Error{Kind: models.RateLimited, Status: 429},
			"the model's rate limit is reached, for 6s: API returned unexpected status code: 429: Slow down."},
		"429, no credit": {fails(429, nil, problem("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota")),
			models.Error{Kind: models.Auth, Status: 429}, models.Error{Kind: models.Auth, Status: 429},
			"the model's provider refuses access: API returned unexpected status code: 429: You exceeded your current quota, please check your plan and billing details."},
		"401": {fails(401, nil, problem("Incorrect API key provided.", "")),
			models.Error{Kind: models.Auth, Status: 401}, models.Error{Kind: models.Auth, Status: 401},
			"the model's provider refuses access: API returned unexpected status code: 401: Incorrect API key provided."},
		"400, too long": {fails(400, nil, problem("prompt is too long: 210000 tokens > 200000 maximum", "invalid_request_error")),
			models.Error{Kind: models.ContextTooLong, Status: 400}, models.Error{Kind: models.ContextTooLong, Status: 400},
			"the question is too long for the model: API returned unexpected status code: 400: prompt is too long: 210000 tokens > 200000 maximum"},
		"400, too long by its code": {fails(400, nil, `{"error":{"message":"Reduce the length.","code":"context_length_exceeded"}}`),
			models.Error{Kind: models.ContextTooLong, Status: 400}, models.Error{Kind: models.Invalid, Status: 400},
			"the question is too long for the model: API returned unexpected status code: 400: Reduce the length."},
		"400, a filter": {fails(400, nil, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter"}}`),
			models.Error{Kind: models.Refused, Status: 400}, models.Error{Kind: models.Refused, Status: 400},
			"the model refuses to answer: API returned unexpected status code: 400: The response was filtered due to the prompt triggering Azure OpenAI's content management policy."},
		"400": {fails(400, nil, problem("Unknown parameter: 'x'.", "invalid_request_error")),
			models.Error{Kind: models.Invalid, Status: 400}, models.Error{Kind: models.Invalid, Status: 400},
			"the model: API returned unexpected status code: 400: Unknown parameter: 'x'."},
		"500": {fails(500, nil, problem("Oops.", "api_error")),
			models.Error{Kind: models.Transient, Status: 500}, models.Error{Kind: models.Transient, Status: 500},
			"the model: API returned unexpected status code: 500: Oops."},
		"502, a proxy's page": {fails(502, nil, `<html>Bad Gateway</html>`),
			models.Error{Kind: models.Transient, Status: 502, MaybeCharged: true}, models.Error{Kind: models.Transient, Status: 502, MaybeCharged: true},
			"the model: API returned unexpected status code: 502"},
		"503, plain text": {fails(503, http.Header{"Retry-After": {"3"}}, `try later`),
			models.Error{Kind: models.Transient, Status: 503, RetryAfter: 3 * time.Second}, models.Error{Kind: models.Transient, Status: 503},
			"the model: API returned unexpected status code: 503: try later"},
		"529": {fails(529, nil, problem("Overloaded", "overloaded_error")),
			models.Error{Kind: models.Transient, Status: 529}, models.Error{Kind: models.Transient, Status: 529},
			"the model: API returned unexpected status code: 529: Overloaded"},
	} {
		eachProvider(t, func(t *testing.T, p provider) {
			s := serve(t, c.answer)
			text := strings.ReplaceAll(c.text, "API returned", map[provider]string{openAI: "API returned", anthropicAI: "anthropic: failed to create message: API returned"}[p])
			for _, stream := range []bool{false, true} {
				call := lm.Call{}
				if stream {
					call.OnText = func(chunk string) { t.Errorf("%s: streamed %q", name, chunk) }
				}
				_, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), call, question("Capital?"))
				if e := failure(t, err); !like(e, c.with) || e.Error() != text {
					t.Errorf("%s: with the transport: %+v, %v, want %+v, %s", name, *e, e, c.with, text)
				}
				_, err = lm.Ask(t.Context(), p.open(t, s.URL, nil), call, question("Capital?"))
				if e := failure(t, err); !like(e, c.without) {
					t.Errorf("%s: without the transport: %+v, want %+v", name, *e, c.without)
				}
			}
		})
	}
}

// like compares errors but for the text.
func like(a *models.Error, b models.Error) bool {
	b.Err = a.Err
	return *a == b
}

// A date in Retry-After is a wait until then.
func TestRetryAfterDate(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(90 * time.Minute).UTC().Format(http.TimeFormat)
	s := serve(t, fails(429, http.Header{"Retry-After": {at}}, `{}`))
	_, err := lm.Ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}), lm.Call{}, question("Capital?"))
	if e := failure(t, err); e.RetryAfter < 80*time.Minute || e.RetryAfter > 90*time.Minute {
		t.Errorf("wait %s", e.RetryAfter)
	}
}

// Defect 2: the temperature is always sent, openai's top_p never.
func TestSampling(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	for name, c := range map[string]struct {
		call        lm.Call
		options     []llms.CallOption
		temperature any
		topP        any
	}{
		"nothing asked":        {},
		"the options'":         {lm.Call{}, []llms.CallOption{llms.WithTemperature(0.7), llms.WithTopP(0.9)}, 0.7, 0.9},
		"zero, by the options": {lm.Call{}, []llms.CallOption{llms.WithTemperature(0)}, 0.0, nil},
		"zero, by the call":    {lm.Call{Temperature: &zero}, []llms.CallOption{llms.WithTemperature(0.7)}, 0.0, nil},
		"the call's":           {lm.Call{Temperature: &half, TopP: &half}, nil, 0.5, 0.5},
	} {
		eachProvider(t, func(t *testing.T, p provider) {
			s := serve(t, says(p.reply()))
			if _, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), c.call, question("Capital <of> France?"), c.options...); err != nil {
				t.Fatal(err)
			}
			body := s.last(t)
			if body["temperature"] != c.temperature || body["top_p"] != c.topP {
				t.Errorf("%s: sent temperature %v and top_p %v, want %v and %v", name, body["temperature"], body["top_p"], c.temperature, c.topP)
			}
			if text, _ := json.Marshal(body["messages"]); !strings.Contains(string(text), `Capital \u003cof\u003e France?`) {
				t.Errorf("%s: the messages are %s", name, text)
			}
		})
	}
}

// Without the boundary, the transport leaves requests as they are.
func TestTransportAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, says(openAIReply))
	if _, err := openAI.open(t, s.URL, &models.Transport{}).GenerateContent(t.Context(), question("Capital?")); err != nil {
		t.Fatal(err)
	}
	if body := s.last(t); body["temperature"] != 0.0 {
		t.Errorf("sent %v", body)
	}
}

// Defect 5: a choice for each block of content, the usage repeated in all.
func TestBlocks(t *testing.T) {
	t.Parallel()
	s := serve(t, says(`{"type":"message","content":[{"type":"thinking","thinking":"France?","signature":"x"},{"type":"text","text":"It is"},{"type":"text","text":"Paris."}],
		"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}}`))
	reply, err := lm.Ask(t.Context(), anthropicAI.open(t, s.URL, &models.Transport{}), lm.Call{}, question("Capital?"))
	if err != nil {
		t.Fatal(err)
	}
	want := lm.Usage{Input: 130, Output: 3, CachedInput: 100, CacheWrite: 20}
	if reply.Text != "It is\nParis." || reply.Reasoning != "France?" || reply.Usage != want {
		t.Errorf("got %+v", reply)
	}
}

// Defect 5: of messages that are not a human's, only the first part is sent; one
// without parts panics.
func TestParts(t *testing.T) {
	t.Parallel()
	conversation := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "Be brief.", "Be polite."),
		llms.TextParts(llms.ChatMessageTypeHuman, "Capital?"),
		llms.TextParts(llms.ChatMessageTypeAI, "Of", "what?"),
		llms.TextParts(llms.ChatMessageTypeHuman, "Of France."),
	}
	s := serve(t, says(anthropicReply))
	model := anthropicAI.open(t, s.URL, &models.Transport{})
	if _, err := lm.Ask(t.Context(), model, lm.Call{}, conversation); err != nil {
		t.Fatal(err)
	}
	body := s.last(t)
	messages, _ := json.Marshal(body["messages"])
	want := `[{"content":[{"text":"Capital?","type":"text"}],"role":"user"},{"content":[{"text":"Of\nwhat?","type":"text"}],"role":"assistant"},{"content":[{"text":"Of France.","type":"text"}],"role":"user"}]`
	if body["system"] != "Be brief.\nBe polite." || string(messages) != want {
		t.Errorf("sent %v and %s", body["system"], messages)
	}
	_, err := lm.Ask(t.Context(), model, lm.Call{}, []llms.MessageContent{{Role: llms.ChatMessageTypeAI}})
	if e := failure(t, err); e.Kind != models.Invalid || e.Error() != "the model: message 1 (ai) is empty" {
		t.Errorf("got %v", e)
	}
}

// Defect 6: usage has other names with every provider, and other parts.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := serve(t, says(`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,
		"prompt_tokens_details":{"cached_tokens":80},"completion_tokens_details":{"reasoning_tokens":20}}}`))
	reply, err := lm.Ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}), lm.Call{}, question("Capital?"))
	if want := (lm.Usage{Input: 100, Output: 30, Reasoning: 20, CachedInput: 80}); err != nil || reply.Usage != want {
		t.Errorf("got %+v, %v", reply.Usage, err)
	}
	// Some servers leave thoughts out of what was generated, but not of the total.
	s = serve(t, says(`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10,"total_tokens":130,
		"completion_tokens_details":{"reasoning_tokens":20}}}`))
	reply, err = lm.Ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}), lm.Call{}, question("Capital?"))
	if want := (lm.Usage{Input: 100, Output: 30, Reasoning: 20}); err != nil || reply.Usage != want {
		t.Errorf("got %+v, %v", reply.Usage, err)
	}
}

func TestTruncatedAndRefused(t *testing.T) {
	t.Parallel()
	for reason, body := range map[string]string{
		"length":         `{"choices":[{"message":{"content":"Par"},"finish_reason":"length"}],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`,
		"max_tokens":     strings.Replace(anthropicReply, "end_turn", "max_tokens", 1),
		"content_filter": `{"choices":[{"message":{"content":"Par"},"finish_reason":"content_filter"}],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`,
		"refusal":        strings.Replace(anthropicReply, "end_turn", "refusal", 1),
	} {
		p := openAI
		if strings.Contains(body, "input_tokens") {
			p = anthropicAI
		}
		s := serve(t, says(body))
		reply, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), lm.Call{}, question("Capital?"))
		if reply.Usage != (lm.Usage{Input: 10, Output: 3}) {
			t.Errorf("%s: usage %+v", reason, reply.Usage)
		}
		if reason == "length" || reason == "max_tokens" {
			if err != nil || !reply.Truncated || !strings.HasPrefix("Paris", reply.Text) {
				t.Errorf("%s: got %+v, %v", reason, reply, err)
			}
			continue
		}
		if e := failure(t, err); e.Kind != models.Refused || reply.Text != "" || e.Error() != "the model refuses to answer: it ended the reply: "+reason {
			t.Errorf("%s: got %+v, %v", reason, reply, err)
		}
	}
}

// What openai's models say instead of the answer has a field of its own, which
// the provider drops.
func TestRefusalField(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
		"whole": says(`{"choices":[{"message":{"role":"assistant","content":null,"refusal":"I will not say."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`),
		"streamed": streams(`data: {"choices":[{"delta":{"role":"assistant","content":"","refusal":null}}]}`, `data: {"choices":[{"delta":{"refusal":"I will "}}]}`, `data: {"choices":[{"delta":{"refusal":"not say."}}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`, `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`, `data: [DONE]`),
	} {
		s := serve(t, answer)
		call := lm.Call{}
		if name == "streamed" {
			call.OnText = func(chunk string) { t.Errorf("heard %q", chunk) }
		}
		reply, err := lm.Ask(t.Context(), openAI.open(t, s.URL, &models.Transport{}), call, question("Capital?"))
		if e := failure(t, err); e.Kind != models.Refused || err.Error() != "the model refuses to answer: I will not say." || reply.Usage != (lm.Usage{Input: 10, Output: 3}) {
			t.Errorf("%s: got %v, %+v", name, err, reply.Usage)
		}
	}
}

// Answers that are none.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	eachProvider(t, func(t *testing.T, p provider) {
		half := p.reply()[:len(p.reply())/2]
		events := p.stream()
		begun := strings.Join(events[:len(events)-4], "\n\n") + "\n\n"
		for _, c := range []struct {
			name   string
			answer func(http.ResponseWriter, *http.Request)
			stream bool
			kind   models.Kind
		}{
			{"no JSON", says("Paris"), false, models.Unknown},
			{"no choices", says(`{"choices":[],"content":[],"usage":{}}`), false, models.Transient},
			{"an error in an answer of status 200", says(`{"error":{"message":"Provider returned error","code":502}}`), false, models.Transient},
			{"cut in the answer", cuts("application/json", half), false, models.Transient},
			{"cut in the stream", cuts("text/event-stream", begun), true, models.Transient},
			{"a stream that just ends", streams(events[:len(events)-4]...), true, models.Transient},
			{"an error in the stream", streams(append(events[:3:3], `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, events[len(events)-1])...), true, models.Transient},
			{"a refusal in the stream", streams(append(events[:3:3], `data: {"error":{"message":"Filtered.","code":"content_filter"},"type":"error"}`, events[len(events)-1])...), true, models.Refused},
		} {
			s := serve(t, c.answer)
			call := lm.Call{}
			if c.stream {
				call.OnText = func(string) {}
			}
			reply, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), call, question("Capital?"))
			if err == nil {
				t.Errorf("%s: got %+v", c.name, reply)
				continue
			}
			e := failure(t, err)
			if e.Kind != c.kind || !e.MaybeCharged || reply.Text != "" {
				t.Errorf("%s: got %+v", c.name, *e)
			}
		}
	})
}

// Nobody listens: nothing was charged.
func TestNoServer(t *testing.T) {
	t.Parallel()
	nobody := "http://" + nobodyAt(t)
	eachProvider(t, func(t *testing.T, p provider) {
		_, err := lm.Ask(t.Context(), p.open(t, nobody, &models.Transport{}), lm.Call{}, question("Capital?"))
		if e := failure(t, err); e.Kind != models.Transient || e.MaybeCharged || !strings.HasSuffix(e.Error(), "connect: connection refused") {
			t.Errorf("got %+v, %v", *e, e)
		}
		_, err = lm.Ask(t.Context(), p.open(t, nobody, nil), lm.Call{}, question("Capital?"))
		if e := failure(t, err); e.Kind != models.Transient {
			t.Errorf("without the transport: %+v, %v", *e, e)
		}
	})
}

// nobodyAt is an address at which nobody listens, nor will: it is that of a client. The
// address of a server that was closed may soon be another one's.
func nobodyAt(t *testing.T) string {
	t.Helper()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client.LocalAddr().String()
}

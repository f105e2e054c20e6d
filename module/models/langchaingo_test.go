package models_test

import (
	"context"
	"encoding/json"
	"errors"
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

// The tests in this file call langchaingo's providers over loopback HTTP. Package models has to
// read the kinds of their errors from texts, and to unify their replies.

// The kind of an error is read from its text.
func TestErrorAnswers(t *testing.T) {
	t.Parallel()
	problem := func(message, kind string) string {
		return fmt.Sprintf(`{"type":"error","error":{"message":%q,"type":%q}}`, message, kind)
	}
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		want   models.Error
	}{
		"429, seconds": {fails(429, http.Header{"Retry-After": {"20"}}, problem("Slow down.", "rate_limit_error")),
			models.Error{Kind: models.KindRateLimited, Status: 429}},
		"429, milliseconds": {fails(429, http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"2"}},
			problem("Slow down.", "")),
			models.Error{Kind: models.KindRateLimited, Status: 429}},
		"429, in the text": {fails(429, nil, problem("Rate limit reached. Please try again in 1m2.5s. Visit us.",
			"requests")),
			models.Error{Kind: models.KindRateLimited, Status: 429, RetryAfter: 62500 * time.Millisecond}},
		"429, no credit": {fails(429, nil,
			problem("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota")),
			models.Error{Kind: models.KindAuth, Status: 429}},
		"401": {fails(401, nil, problem("Incorrect API key provided.", "")),
			models.Error{Kind: models.KindAuth, Status: 401}},
		"400, too long": {fails(400, nil, problem("prompt is too long: 210000 tokens > 200000 maximum",
			"invalid_request_error")),
			models.Error{Kind: models.KindContextTooLong, Status: 400}},
		"400, too long by its code": {fails(400, nil,
			`{"error":{"message":"Reduce the length.","code":"context_length_exceeded"}}`),
			models.Error{Kind: models.KindInvalid, Status: 400}},
		"400, a filter": {fails(400, nil,
			`{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management `+
				`policy.","code":"content_filter"}}`),
			models.Error{Kind: models.KindRefused, Status: 400}},
		"400": {fails(400, nil, problem("Unknown parameter: 'x'.", "invalid_request_error")),
			models.Error{Kind: models.KindInvalid, Status: 400}},
		"500": {fails(500, nil, problem("Oops.", "api_error")),
			models.Error{Kind: models.KindTransient, Status: 500}},
		"502, a proxy's page": {fails(502, nil, `<html>Bad Gateway</html>`),
			models.Error{Kind: models.KindTransient, Status: 502, MaybeCharged: true}},
		"503, plain text": {fails(503, http.Header{"Retry-After": {"3"}}, `try later`),
			models.Error{Kind: models.KindTransient, Status: 503}},
		"529": {fails(529, nil, problem("Overloaded", "overloaded_error")),
			models.Error{Kind: models.KindTransient, Status: 529}},
	} {
		eachProvider(t, func(t *testing.T, p provider) {
			s, want := serve(t, c.answer), c.want
			for _, stream := range []bool{false, true} {
				call := lm.Call{}
				if stream {
					call.OnText = func(chunk string) { t.Errorf("%s: streamed %q", name, chunk) }
				}
				_, err := lm.Ask(t.Context(), p.open(t, s.URL), call, question("Capital?"))
				want.Err = failure(t, err).Err
				if e := failure(t, err); *e != want {
					t.Errorf("%s: got %+v, want %+v", name, *e, want)
				}
			}
		})
	}
}

// There may be a choice for each block of content, each with the total usage.
func TestBlocks(t *testing.T) {
	t.Parallel()
	s := serve(t,
		says(`{"type":"message","content":[{"type":"thinking","thinking":"France?","signature":"x"},
		{"type":"text","text":"It is"},{"type":"text","text":"Paris."}],
		"stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":3,
		"cache_read_input_tokens":100,"cache_creation_input_tokens":20}}`))
	reply := mustAsk(t, anthropicAI.open(t, s.URL), lm.Call{}, question("Capital?"))
	want := lm.Usage{Input: 130, Output: 3, CachedInput: 100, CacheWrite: 20}
	if reply.Text != "It is\nParis." || reply.Reasoning != "France?" || reply.Usage != want {
		t.Errorf("got %+v", reply)
	}
}

// Only the first part of a message is sent, unless it is a human's. A message without parts panics.
func TestParts(t *testing.T) {
	t.Parallel()
	conversation := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "Be brief.", "Be polite."),
		llms.TextParts(llms.ChatMessageTypeHuman, "Capital?"),
		llms.TextParts(llms.ChatMessageTypeAI, "Of", "what?"),
		llms.TextParts(llms.ChatMessageTypeHuman, "Of France."),
	}
	s := serve(t, says(anthropicReply))
	model := anthropicAI.open(t, s.URL)
	mustAsk(t, model, lm.Call{}, conversation)
	body := s.last(t)
	messages, _ := json.Marshal(body["messages"])
	want := `[{"content":[{"text":"Capital?","type":"text"}],"role":"user"},{"content":[{"text":"Of\nwhat?",` +
		`"type":"text"}],"role":"assistant"},{"content":[{"text":"Of France.","type":"text"}],"role":"user"}]`
	if body["system"] != "Be brief.\nBe polite." || string(messages) != want {
		t.Errorf("sent %v and %s", body["system"], messages)
	}
	_, err := lm.Ask(t.Context(), model, lm.Call{}, []llms.MessageContent{{Role: llms.ChatMessageTypeAI}})
	if e := failure(t, err); e.Kind != models.KindInvalid || e.Error() != "the model: message 1 (ai) is empty" {
		t.Errorf("got %v", e)
	}
}

// Providers report usage under different names and in different detail.
func TestUsage(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]lm.Usage{
		`{"prompt_tokens":100,"completion_tokens":30,"total_tokens":130,"prompt_tokens_details":{"cached_tokens":80},
			"completion_tokens_details":{"reasoning_tokens":20}}`: {
			Input: 100, Output: 30, Reasoning: 20, CachedInput: 80},
		// Some servers include thinking in the total, but not in the completion tokens.
		`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":130,
			"completion_tokens_details":{"reasoning_tokens":20}}`: {Input: 100, Output: 30, Reasoning: 20},
	} {
		s := serve(t, says(`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"}],"usage":`+usage+`}`))
		if reply := mustAsk(t, openAI.open(t, s.URL), lm.Call{}, question("Capital?")); reply.Usage != want {
			t.Errorf("got %+v, want %+v", reply.Usage, want)
		}
	}
}

func TestTruncatedAndRefused(t *testing.T) {
	t.Parallel()
	for reason, body := range map[string]string{
		"length": `{"choices":[{"message":{"content":"Par"},"finish_reason":"length"}],` +
			`"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`,
		"max_tokens": strings.Replace(anthropicReply, "end_turn", "max_tokens", 1),
		"content_filter": `{"choices":[{"message":{"content":"Par"},"finish_reason":"content_filter"}],` +
			`"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`,
		"refusal": strings.Replace(anthropicReply, "end_turn", "refusal", 1),
	} {
		p := openAI
		if strings.Contains(body, "input_tokens") {
			p = anthropicAI
		}
		s := serve(t, says(body))
		reply, err := lm.Ask(t.Context(), p.open(t, s.URL), lm.Call{}, question("Capital?"))
		if reply.Usage != (lm.Usage{Input: 10, Output: 3}) {
			t.Errorf("%s: usage %+v", reason, reply.Usage)
		}
		if reason == "length" || reason == "max_tokens" {
			if err != nil || !reply.Truncated || !strings.HasPrefix("Paris", reply.Text) {
				t.Errorf("%s: got %+v, %v", reason, reply, err)
			}
			continue
		}
		if e := failure(t, err); e.Kind != models.KindRefused || reply.Text != "" ||
			e.Error() != "the model refuses to answer: the stop reason is "+reason {
			t.Errorf("%s: got %+v, %v", reason, reply, err)
		}
	}
}

// A provider that cannot be reached may be available later.
func TestNoServer(t *testing.T) {
	t.Parallel()
	nobody := "http://" + nobodyAt(t)
	eachProvider(t, func(t *testing.T, p provider) {
		_, err := lm.Ask(t.Context(), p.open(t, nobody), lm.Call{}, question("Capital?"))
		if e := failure(t, err); e.Kind != models.KindTransient {
			t.Errorf("got %+v, %v", *e, e)
		}
	})
}

// nobodyAt returns an address where nothing listens, or will: it is that of a client. The address
// of a closed server may be reused.
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

// Streams of the two providers, with the chunks "Par" and "is".
func (p provider) stream() []string {
	if p == openAI {
		return []string{
			`data: {"choices":[{"delta":{"role":"assistant","content":""}}]}`,
			`data: {"choices":[{"delta":{"reasoning_content":"France?"}}]}`,
			`data: {"choices":[{"delta":{"content":"Par"}}]}`,
			`data: {"choices":[{"delta":{"content":"is"}}]}`,
			`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`,
			`data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}}`,
			`data: [DONE]`,
		}
	}
	return []string{
		`event: message_start` + "\n" +
			`data: {"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}`,
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"France?"}}`,
		`data: {"type":"content_block_stop","index":0}`,
		`data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Par"}}`,
		`data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"is"}}`,
		`data: {"type":"content_block_stop","index":1}`,
		`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
		`data: {"type":"message_stop"}`,
	}
}

// hearing collects a stream. It needs no lock: chunks arrive one at a time, and none after Ask has
// returned.
type hearing struct{ text, reasoning []string }

func (h *hearing) call() lm.Call {
	return lm.Call{
		OnText:      func(chunk string) { h.text = append(h.text, chunk) },
		OnReasoning: func(chunk string) { h.reasoning = append(h.reasoning, chunk) },
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	eachProvider(t, func(t *testing.T, p provider) {
		s := serve(t, streams(p.stream()...))
		var h hearing
		reply := mustAsk(t, p.open(t, s.URL), h.call(), question("Capital?"))
		if reply.Text != "Paris" || reply.Reasoning != "France?" || reply.Usage != (lm.Usage{Input: 10, Output: 3}) ||
			reply.Truncated {
			t.Errorf("got %+v", reply)
		}
		if fmt.Sprint(h.text, h.reasoning) != "[Par is] [France?]" {
			t.Errorf("heard %q, %q", h.text, h.reasoning)
		}
	})
}

// A context that ends in the middle of a stream is reported as a cancelled call.
func TestDeadlineInStream(t *testing.T) {
	t.Parallel()
	eachProvider(t, func(t *testing.T, p provider) {
		events := p.stream()
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				streams(events[:len(events)-4]...)(w, r)
				cancel()
				<-r.Context().Done()
			})
			reply, err := lm.Ask(ctx, p.open(t, s.URL), lm.Call{OnText: func(string) {}}, question("Capital?"))
			if e := failure(t, err); !errors.Is(err, context.Canceled) || e.Kind != models.KindCancelled || !e.MaybeCharged ||
				reply.Text != "" {
				t.Fatalf("got %+v, %v", reply, err)
			}
			s.Close()
		}
	})
}

// A caller that has read enough cancels the context, which ends the call.
func TestStopStream(t *testing.T) {
	t.Parallel()
	eachProvider(t, func(t *testing.T, p provider) {
		ctx, cancel := context.WithCancel(t.Context())
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			events := p.stream()
			streams(events[:len(events)-4]...)(w, r)
			<-r.Context().Done()
		})
		heard := ""
		_, err := lm.Ask(ctx, p.open(t, s.URL), lm.Call{OnText: func(chunk string) { heard += chunk; cancel() }},
			question("Capital?"))
		if e := failure(t, err); e.Kind != models.KindCancelled || heard != "Par" {
			t.Errorf("got %v after %q", err, heard)
		}
	})
}

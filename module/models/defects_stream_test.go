package models_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/models"
)

// Streams of the two providers, in the pieces "Par" and "is".
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
		`event: message_start` + "\n" + `data: {"type":"message_start","message":{"usage":{"input_tokens":10,"output_tokens":1}}}`,
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

// hearing collects a stream. It need not lock: chunks come one at a time, and
// none after Ask returned.
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
		reply, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), h.call(), question("Capital?"))
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "Paris" || reply.Reasoning != "France?" || reply.Usage != (lm.Usage{Input: 10, Output: 3}) || reply.Truncated {
			t.Errorf("got %+v", reply)
		}
		if fmt.Sprint(h.text, h.reasoning) != "[Par is] [France?]" {
			t.Errorf("heard %q, %q", h.text, h.reasoning)
		}
	})
}

// Defect 3: a deadline in the middle of a stream is no error.
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
			reply, err := lm.Ask(ctx, p.open(t, s.URL, nil), lm.Call{OnText: func(string) {}}, question("Capital?"))
			if e := failure(t, err); !errors.Is(err, context.Canceled) || e.Kind != models.Cancelled || !e.MaybeCharged || reply.Text != "" {
				t.Fatalf("got %+v, %v", reply, err)
			}
			s.Close()
		}
	})
}

// Whoever hears enough cancels the context, and that ends the call.
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
		_, err := lm.Ask(ctx, p.open(t, s.URL, &models.Transport{}), lm.Call{OnText: func(chunk string) { heard += chunk; cancel() }}, question("Capital?"))
		if e := failure(t, err); e.Kind != models.Cancelled || heard != "Par" {
			t.Errorf("got %v after %q", err, heard)
		}
	})
}

// Defect 4: a streamed piece of more than 64 KB fails, without the transport.
func TestLongEvent(t *testing.T) {
	t.Parallel()
	eachProvider(t, func(t *testing.T, p provider) {
		long := strings.Repeat("Seine ☕ ", 30_000)
		events := p.stream()
		for i := range events {
			events[i] = strings.Replace(events[i], "Par", long, 1)
		}
		s := serve(t, streams(events...))
		var h hearing
		reply, err := lm.Ask(t.Context(), p.open(t, s.URL, &models.Transport{}), h.call(), question("Capital?"))
		if err != nil || reply.Text != long+"is" || strings.Join(h.text, "") != long+"is" || reply.Truncated {
			t.Errorf("got %d bytes, %d streamed, truncated %v, %v", len(reply.Text), len(strings.Join(h.text, "")), reply.Truncated, err)
		}
		_, err = lm.Ask(t.Context(), p.open(t, s.URL, nil), h.call(), question("Capital?"))
		if e := failure(t, err); !strings.HasSuffix(e.Error(), "token too long") || e.Temporary() {
			t.Errorf("without the transport: %v", e)
		}
	})
}

// An error in a stream leaves no goroutine behind: anthropic's provider would
// wait forever for somebody to take what comes after it. Only this test's are looked
// at: without the transport, that of another test may wait so.
func TestNoLeak(t *testing.T) {
	t.Parallel()
	events := anthropicAI.stream()
	s := serve(t, streams(append(events[:4:4], `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, events[len(events)-1])...))
	pprof.Do(t.Context(), pprof.Labels("test", t.Name()), func(ctx context.Context) {
		_, err := lm.Ask(ctx, anthropicAI.open(t, s.URL, &models.Transport{}), lm.Call{OnText: func(string) {}}, question("Capital?"))
		if e := failure(t, err); e.Kind != models.Transient || err.Error() != "the model: Overloaded" {
			t.Errorf("got %v", err)
		}
	})
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
		if !parsing(t) {
			return
		}
	}
	t.Error("the provider's goroutine is still there")
}

// parsing reports whether a goroutine that inherited the label of a test reads a stream.
func parsing(t *testing.T) bool {
	t.Helper()
	var all strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(strings.Split(all.String(), "\n\n"), func(stack string) bool {
		return strings.Contains(stack, strconv.Quote(t.Name())) && strings.Contains(stack, "parseStreamingMessageResponse")
	})
}

// ollama's provider takes a stream that breaks off for its end.
func TestOllamaStream(t *testing.T) {
	t.Parallel()
	piece := `{"message":{"role":"assistant","content":"Par"},"done":false}` + "\n"
	for _, c := range []struct {
		answer func(http.ResponseWriter, *http.Request)
		want   string
	}{
		{says(piece + `{"message":{"role":"assistant","content":"is"},"done":true,"prompt_eval_count":10,"eval_count":3}` + "\n"), "Paris"},
		{cuts("application/x-ndjson", piece), "the model: unexpected EOF"},
		{fails(http.StatusServiceUnavailable, nil, `{"error":"server busy, please try again"}`), "the model: server busy, please try again"},
	} {
		s := serve(t, c.answer)
		model, err := ollama.New(ollama.WithServerURL(s.URL), ollama.WithModel("qwen3"), ollama.WithHTTPClient(&http.Client{Transport: &models.Transport{}}))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := lm.Ask(t.Context(), model, lm.Call{OnText: func(string) {}}, question("Capital?"))
		if err != nil && (err.Error() != c.want || failure(t, err).Kind != models.Transient) {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if err == nil && (reply.Text != c.want || reply.Usage != lm.Usage{Input: 10, Output: 3}) {
			t.Errorf("got %+v, want %s", reply, c.want)
		}
	}
}

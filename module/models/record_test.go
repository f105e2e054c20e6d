package models_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

func replayed(t *testing.T, recording string, redact models.Redact) llms.Model {
	t.Helper()
	model, err := models.Replay(strings.NewReader(recording), redact)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	inner := counting()
	model := models.Record(inner, &file, nil)
	asks := func(model llms.Model, q string, options ...llms.CallOption) string {
		t.Helper()
		got, err := lm.Ask(t.Context(), model, lm.Call{}, question(q), options...)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got.Text, " ", got.Reasoning, " ", got.Usage)
	}
	first, second, third, warm := asks(model, "one"), asks(model, "two"), asks(model, "one"),
		asks(model, "one", llms.WithTemperature(0.5))
	if first == third || len(inner.Requests()) != 4 {
		t.Fatal("the recorder changed a reply or a call")
	}
	again := replayed(t, file.String(), nil)
	// Calls may come in another order. Equal calls get their replies in the recorded order.
	for _, c := range []struct{ got, want string }{
		{asks(again, "two"), second},
		{asks(again, "one", llms.WithTemperature(0.5)), warm},
		{asks(again, "one"), first},
		{asks(again, "one"), third},
		{asks(again, "one"), "the model: this request was recorded 2 times and is now sent once more; record again"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	var h hearing
	if _, err := lm.Ask(t.Context(), replayed(t, file.String(), nil), h.call(), question("two")); err != nil ||
		fmt.Sprint(h.text, h.reasoning) != "[reply 2] [hm]" {
		t.Errorf("heard %q, %q, %v", h.text, h.reasoning, err)
	}
}

func TestReplayFailures(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	model := models.Record(script(limited(1500*time.Millisecond), errKey), &file, nil)
	for range 2 {
		_, _ = ask(t.Context(), model)
	}
	again := replayed(t, file.String(), nil)
	_, err := ask(t.Context(), again)
	if e := failure(t, err); e.Kind != models.KindRateLimited || e.Status != 429 ||
		e.RetryAfter != 1500*time.Millisecond || e.Err.Error() != "slow down" {
		t.Errorf("got %+v", e)
	}
	_, err = ask(t.Context(), again)
	if e := failure(t, err); e.Kind != models.KindAuth || e.Status != 401 {
		t.Errorf("got %+v", e)
	}
	// A cancelled call is not recorded.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	size := file.Len()
	if _, err := model.GenerateContent(ctx, question("Capital?")); !errors.Is(err, context.Canceled) ||
		file.Len() != size {
		t.Errorf("got %v, and %q", err, file.String()[size:])
	}
	if _, err := again.GenerateContent(ctx, question("Capital?")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A recording contains no secrets and no images, and has one line for each call.
func TestRedact(t *testing.T) {
	t.Parallel()
	secret := func(text string) string { return strings.ReplaceAll(text, "hunter2", "[password]") }
	inner := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 2 {
			return llmtest.Reply{}, errors.New("who told you hunter2?")
		}
		return llmtest.Reply{Text: "It is hunter2.", Reasoning: "hunter2!", InputTokens: 10, OutputTokens: 3}, nil
	})
	var file bytes.Buffer
	model := models.Record(inner, &file, secret)
	messages := []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
		llms.TextPart("Is it hunter2?"), llms.BinaryPart("image/png", []byte("hunter2")),
		llms.ImageURLPart("https://x/?key=hunter2"),
	}}}
	options := []llms.CallOption{llms.WithMetadata(map[string]any{"user": "hunter2"}), llms.WithTemperature(0)}
	for range 2 {
		got, err := model.GenerateContent(t.Context(), messages, options...)
		if err == nil && got.Choices[0].Content != "It is hunter2." {
			t.Errorf("the caller got %+v", got.Choices[0])
		}
	}
	want := `{"request":{"temperature":0,"options":{"metadata":{"user":"[password]"}},"messages":[{"role":"human","parts":[{"text":"Is it [password]?"},{"kind":"binary","value":{"bytes":7,"sha256":"f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7","type":"image/png"}},{"kind":"llms.ImageURLContent","value":{"image_url":{"url":"https://x/?key=[password]"},"type":"image_url"}}]}]},"reply":[{"text":"It is [password].","reasoning":"[password]!","stop_reason":"stop","info":{"CompletionTokens":3,"PromptTokens":10}}]}
{"request":{"temperature":0,"options":{"metadata":{"user":"[password]"}},"messages":[{"role":"human","parts":[{"text":"Is it [password]?"},{"kind":"binary","value":{"bytes":7,"sha256":"f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7","type":"image/png"}},{"kind":"llms.ImageURLContent","value":{"image_url":{"url":"https://x/?key=[password]"},"type":"image_url"}}]}]},"failure":{"kind":"","message":"who told you [password]?"}}
`
	if file.String() != want {
		t.Errorf("got\n%s\nwant\n%s", file.String(), want)
	}
	got, err := replayed(t, want, secret).GenerateContent(t.Context(), messages, options...)
	if err != nil || got.Choices[0].Content != "It is [password]." || got.Choices[0].GenerationInfo["PromptTokens"] != 10 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The error about a call that was not recorded shows how it differs from the most similar one.
func TestReplayMissing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The weather is fine today. ", 10)
	var file bytes.Buffer
	model := models.Record(counting(), &file, nil)
	record := func(messages []llms.MessageContent, call lm.Call, options ...llms.CallOption) {
		t.Helper()
		if _, err := lm.Ask(t.Context(), model, call, messages, options...); err != nil {
			t.Fatal(err)
		}
	}
	record(question("Something else"), lm.Call{})
	record(append(question(long+"What now?"), question("And then?")...), lm.Call{Rollout: 3}, llms.WithMaxTokens(100))
	for _, c := range []struct {
		messages []llms.MessageContent
		call     lm.Call
		options  []llms.CallOption
		want     string
	}{
		{append(question(long+"What else?"), question("And then?")...), lm.Call{Rollout: 3}, nil,
			`message 1 (human): recorded "…is fine today. What now?", now "…is fine today. What else?"; record again`},
		{question(long + "What now?"), lm.Call{Rollout: 3}, nil, "the number of messages: recorded 2, now 1; record again"},
		{append(question(long+"What now?"), question("And then?")...), lm.Call{Rollout: 4},
			[]llms.CallOption{llms.WithMaxTokens(100)},
			"rollout: recorded 3, now 4; record again"},
		{append(question(long+"What now?"), question("And then?")...), lm.Call{Rollout: 3}, nil,
			"max_tokens: recorded 100, now none; record again"},
	} {
		_, err := lm.Ask(t.Context(), replayed(t, file.String(), nil), c.call, c.messages, c.options...)
		want := "the model: this request was not recorded; the most similar one, in line 2, differs in " + c.want
		if e := failure(t, err); e.Kind != models.KindInvalid || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := ask(t.Context(), replayed(t, "\n", nil)); err == nil ||
		err.Error() != "the model: this request was not recorded: the recording is empty" {
		t.Errorf("got %v", err)
	}
}

func TestReplayUnreadable(t *testing.T) {
	t.Parallel()
	for recording, want := range map[string]string{
		"\n{":                         "models: line 2 of the recording: unexpected end of JSON input",
		"{}":                          "models: line 1 of the recording: it has no request, or neither reply nor failure",
		`{"request":{"messages":[]}}`: "models: line 1 of the recording: it has no request, or neither reply nor failure",
	} {
		if _, err := models.Replay(strings.NewReader(recording), nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzReplay(f *testing.F) {
	f.Add(`{"request":{"messages":[{"role":"human","parts":[{"text":"Capital?"}]}]},"reply":[{"text":"Paris",` +
		`"info":{"PromptTokens":1}}]}`)
	f.Add(`{"request":{"rollout":1,"messages":null},"failure":{"kind":"auth","message":"x"}}`)
	f.Fuzz(func(t *testing.T, recording string) {
		model, err := models.Replay(strings.NewReader(recording), strings.ToUpper)
		if err != nil {
			return
		}
		for range 2 {
			if got, err := ask(t.Context(), model); err == nil && got.Text == "" && got.Reasoning == "" &&
				got.Usage == (lm.Usage{}) && !strings.Contains(recording, "stop_reason") && !strings.Contains(recording, "call") {
				t.Errorf("got %+v", got)
			}
		}
	})
}

// full is a writer without space.
type full struct{}

// Write implements [io.Writer].
func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestRecordFails(t *testing.T) {
	t.Parallel()
	_, err := ask(t.Context(), models.Record(script(), full{}, nil))
	if err == nil || err.Error() != "the model: models: the recording: no room" {
		t.Errorf("got %v", err)
	}
	_, err = models.Record(script(), full{}, nil).GenerateContent(t.Context(), question("Capital?"),
		llms.WithMetadata(map[string]any{"a": make(chan int)}))
	if e := failure(t, err); e.Kind != models.KindInvalid {
		t.Errorf("got %v", err)
	}
}

// lines is a writer that accepts only complete lines, one at a time.
type lines struct {
	t    *testing.T
	busy sync.Mutex
	n    int
}

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	if !l.busy.TryLock() {
		l.t.Error("two writes at a time")
	}
	defer l.busy.Unlock()
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		l.t.Errorf("wrote %q", p)
	}
	l.n++
	return len(p), nil
}

func TestRecordConcurrent(t *testing.T) {
	t.Parallel()
	w := &lines{t: t}
	model := models.Record(counting(), w, nil)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { _, _ = ask(t.Context(), model) })
	}
	wg.Wait()
	if w.n != 50 {
		t.Errorf("%d lines", w.n)
	}
}

// Names are redacted, too, and so is the response.
func TestRedactNames(t *testing.T) {
	t.Parallel()
	secret := func(text string) string { return regexp.MustCompile(`secret\d+`).ReplaceAllString(text, "x") }
	inner := told(func() (*llms.ContentResponse, error) {
		return &llms.ContentResponse{Choices: []*llms.ContentChoice{{
			Content: "secret1", StopReason: "secret2", GenerationInfo: map[string]any{"secret3": "secret4"},
			ToolCalls: []llms.ToolCall{{ID: "secret5", Type: "secret6", FunctionCall: &llms.FunctionCall{Name: "secret7",
				Arguments: "secret8"}}},
		}}}, nil
	})
	var file bytes.Buffer
	messages := []llms.MessageContent{{Role: "secret9", Parts: []llms.ContentPart{llms.TextPart("secret10")}}}
	options := []llms.CallOption{
		llms.WithMetadata(map[string]any{"secret11": 1, "secret12": 2, "m": map[string]any{"secret13": "secret14"}}),
		llms.WithSeed(1<<60 + 1),
	}
	if _, err := models.Record(inner, &file, secret).GenerateContent(t.Context(), messages, options...); err != nil {
		t.Fatal(err)
	}
	want := `{"request":{"options":{"metadata":{"m":{"x":"x"},"x":1,"x_":2},"seed":1152921504606846977},` +
		`"messages":[{"role":"x","parts":[{"text":"x"}]}]},` +
		`"reply":[{"text":"x","stop_reason":"x","tool_calls":[{"id":"x","type":"x","function":{"name":"x",` +
		`"arguments":"x"}}],"info":{"x":"x"}}]}` + "\n"
	if file.String() != want {
		t.Errorf("got\n%s\nwant\n%s", file.String(), want)
	}
	if _, err := replayed(t, want, secret).GenerateContent(t.Context(), messages,
		append(options, llms.WithSeed(1<<60))...); err == nil {
		t.Error("a call with another seed was replayed")
	}
	if _, err := replayed(t, want, secret).GenerateContent(t.Context(), messages, options...); err != nil {
		t.Error(err)
	}
}

// Images are not recorded, even inside other parts.
func TestRecordCachedContent(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	part := llms.WithCacheControl(llms.BinaryPart("image/png", []byte("hunter2")), &llms.CacheControl{Type: "ephemeral"})
	messages := []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{part}}}
	if _, err := models.Record(script(), &file, nil).GenerateContent(t.Context(), messages); err != nil {
		t.Fatal(err)
	}
	want := `{"request":{"messages":[{"role":"human","parts":[{"kind":"cached",` +
		`"value":{"cache_control":{"type":"ephemeral"},"part":{"kind":"binary","value":{"bytes":7,` +
		`"sha256":"f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7","type":"image/png"}}}}]}]},` +
		`"reply":[{"text":"Paris","stop_reason":"stop","info":{"CompletionTokens":1,"PromptTokens":16}}]}` + "\n"
	if file.String() != want {
		t.Errorf("got\n%s\nwant\n%s", file.String(), want)
	}
}

// broken is a file that cannot be written.
type broken struct{}

// Write implements [io.Writer].
func (broken) Write([]byte) (int, error) { return 0, errors.New("write |1: broken pipe") }

// An error of the recorder is not an error of the model: the call is not retried, and the response
// is returned.
func TestRecordBroken(t *testing.T) {
	t.Parallel()
	for want, inner := range map[string]*llmtest.Model{
		"the model: models: the recording: write |1: broken pipe": script(),
		"the model: models: the recording: write |1: broken pipe; and the call: the model: API returned unexpected status " +
			"code: 529: Overloaded": script(errOverloaded),
	} {
		got, err := models.Retry(models.Record(inner, broken{}, nil), nil).GenerateContent(t.Context(), question("Capital?"))
		if e := failure(t, err); e.Kind != models.KindUnknown || !e.MaybeCharged || err.Error() != want ||
			len(inner.Requests()) != 1 {
			t.Errorf("got %v, asked %d times", err, len(inner.Requests()))
		}
		if strings.HasSuffix(want, "pipe") && (got == nil || got.Choices[0].Content != "Paris") {
			t.Errorf("the response is lost: %+v", got)
		}
	}
}

// Numbers that JSON does not have are refused, and extreme waits are bounded.
func TestRecordOddNumbers(t *testing.T) {
	t.Parallel()
	_, err := models.Record(script(), io.Discard, nil).GenerateContent(t.Context(), question("Capital?"),
		llms.WithTemperature(math.Inf(1)))
	if failure(t, err).Kind != models.KindInvalid ||
		err.Error() != "the model: models: the temperature is +Inf, which cannot be written as JSON" {
		t.Errorf("got %v", err)
	}
	for range 20 { // always the first of the two
		_, err = models.Record(script(), io.Discard, nil).GenerateContent(t.Context(), question("Capital?"),
			llms.WithTopP(math.Inf(-1)), llms.WithTemperature(math.Inf(1)))
		if err == nil || err.Error() != "the model: models: the temperature is +Inf, which cannot be written as JSON" {
			t.Errorf("got %v", err)
		}
	}
	for after, want := range map[string]time.Duration{"1e300": 365 * 24 * time.Hour, "-5": 0,
		"1.5": 1500 * time.Millisecond} {
		model := replayed(t,
			`{"request":{"messages":[{"role":"human","parts":[{"text":"Capital?"}]}]},"failure":{"kind":"rate `+
				`limited","retry_after":`+after+`,"message":"m"}}`, nil)
		if _, err := ask(t.Context(), model); failure(t, err).RetryAfter != want {
			t.Errorf("%s: got %v", after, err)
		}
	}
}

// Metadata without exported fields has no JSON. Such values cannot be compared, so they are not
// treated as equal.
func TestHiddenMetadata(t *testing.T) {
	t.Parallel()
	inner := script()
	cached := newCache(t, nil).Model(inner, "a")
	for _, secret := range []any{errors.New("one"), errors.New("two"), map[string]any{"in": struct{ a int }{1}}} {
		if _, err := cached.GenerateContent(t.Context(), question("Capital?"),
			llms.WithMetadata(map[string]any{"x": secret})); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(inner.Requests()); n != 3 {
		t.Errorf("asked %d times", n)
	}
	_, err := models.Record(inner, io.Discard, nil).GenerateContent(t.Context(), question("Capital?"),
		llms.WithMetadata(map[string]any{"x": errors.New("one")}))
	if failure(t, err).Kind != models.KindInvalid ||
		err.Error() != "the model: models: the metadata has a *errors.errorString, which has no exported fields and so no "+
			"JSON" {
		t.Errorf("got %v", err)
	}
	plain := map[string]any{"n": 1, "time": time.Now(), "s": struct{ A int }{1}, "e": struct{}{}, "none": nil}
	for range 2 {
		if _, err := cached.GenerateContent(t.Context(), question("Capital?"), llms.WithMetadata(plain)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(inner.Requests()); n != 4 { // the last reply is from the cache
		t.Errorf("asked %d times", n)
	}
}

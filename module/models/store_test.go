package models_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/budget"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

func openStore(t testing.TB, o *models.StoreOptions) *models.Store {
	t.Helper()
	s, err := models.OpenStore(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func newCache(t testing.TB) *models.Store { return openStore(t, nil) }

func openLog(t testing.TB, path string) *models.Store {
	return openStore(t, &models.StoreOptions{Mode: models.Resume, Path: path})
}

// replayed returns a model that answers from a file.
func replayed(t *testing.T, path string, redact func(string) string) llms.Model {
	t.Helper()
	return openStore(t, &models.StoreOptions{Mode: models.Replay, Path: path, Redact: redact}).Model(nil, "")
}

// written returns the path of a file with a text.
func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// counting is a model that numbers its replies.
func counting() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fmt.Sprint("reply ", r.N), Reasoning: "hm", InputTokens: 10, OutputTokens: 3}, nil
	})
}

func TestCacheHit(t *testing.T) {
	t.Parallel()
	cache := newCache(t)
	model := cache.Model(counting(), "a")
	for n, want := range []lm.Reply{
		{Text: "reply 1", Reasoning: "hm", Usage: lm.Usage{Input: 10, Output: 3}},
		{Text: "reply 1", Reasoning: "hm", Cached: true},
		{Text: "reply 1", Reasoning: "hm", Cached: true},
	} {
		got, err := ask(t.Context(), model)
		if err != nil || got.Text != want.Text || got.Reasoning != want.Reasoning || got.Usage != want.Usage ||
			got.Cached != want.Cached {
			t.Errorf("%d: got %+v, %v", n, got, err)
		}
	}
	var h hearing
	if _, err := lm.Ask(t.Context(), model, h.call(), question("Capital?")); err != nil ||
		fmt.Sprint(h.text, h.reasoning) != "[reply 1] [hm]" {
		t.Errorf("heard %q, %q, %v", h.text, h.reasoning, err)
	}
	if got := cache.Stats(); got != (models.StoreStats{Hits: 3, Misses: 1}) {
		t.Errorf("stats %+v", got)
	}
	enough := errors.New("enough")
	stop := llms.WithStreamingFunc(func(context.Context, []byte) error { return enough })
	if _, err := model.GenerateContent(t.Context(), question("Capital?"), stop); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.GenerateContent(ctx, question("Capital?")); failure(t, err).Kind != models.KindCancelled {
		t.Errorf("got %v", err)
	}
}

// Calls are equal unless something differs that the reply depends on. Functions that receive the
// reply do not count.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	inner := counting()
	cache := newCache(t)
	model, other := cache.Model(inner, "a"), cache.Model(inner, "b")
	half := 0.5
	png := func(data string) []llms.MessageContent {
		return []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextPart("Capital?"),
			llms.BinaryPart("image/png", []byte(data))}}}
	}
	asks := []struct {
		ctx      context.Context // or that of the test
		model    llms.Model      // or model
		call     lm.Call
		messages []llms.MessageContent // or a question
		option   llms.CallOption
	}{
		{},
		{model: other},
		{messages: question("Capital!")},
		{call: lm.Call{Rollout: 1}},
		{ctx: lm.WithRollout(t.Context(), 2)},
		{call: lm.Call{Temperature: &half}},
		{option: llms.WithTemperature(0)},
		{option: llms.WithTopP(0.5)},
		{option: llms.WithModel("x")},
		{option: llms.WithMaxTokens(9)},
		{option: llms.WithThinkingMode(llms.ThinkingModeLow)},
		{option: llms.WithMetadata(map[string]any{"a": 1})},
		{messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Capital?")}},
		{messages: append(question("Capital?"), question("")...)},
		{messages: png("one")},
		{messages: png("two")},
	}
	for round := range 2 {
		for i, a := range asks {
			var options []llms.CallOption
			if a.option != nil {
				options = append(options, a.option)
			}
			if a.messages == nil {
				a.messages = question("Capital?")
			}
			got, err := lm.Ask(cmp.Or(a.ctx, t.Context()), cmp.Or(a.model, model), a.call, a.messages, options...)
			if err != nil || got.Text != fmt.Sprint("reply ", i+1) || got.Cached != (round == 1) {
				t.Errorf("round %d, question %d: got %+v, %v", round, i+1, got, err)
			}
		}
	}
	// A call that cannot be written as JSON is made every time.
	for n := range 2 {
		got, err := lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"),
			llms.WithMetadata(map[string]any{"a": make(chan int)}))
		if err != nil || got.Text != fmt.Sprint("reply ", len(asks)+n+1) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}

func TestCacheKeepsOnlyGoodReplies(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]func() (llmtest.Reply, error){
		"an error": func() (llmtest.Reply, error) { return llmtest.Reply{}, errOverloaded },
		"cut off":  func() (llmtest.Reply, error) { return llmtest.Reply{Text: "Par", StopReason: "length"}, nil },
		"a refusal": func() (llmtest.Reply, error) {
			return llmtest.Reply{Text: "Par", StopReason: "content_filter"},
				nil
		},
		"an empty one": func() (llmtest.Reply, error) { return llmtest.Reply{}, nil },
	} {
		inner := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) { return reply() })
		cache := newCache(t)
		model := cache.Model(inner, "a")
		for range 2 {
			_, _ = ask(t.Context(), model)
		}
		if n := len(inner.Requests()); n != 2 || cache.Stats().Hits != 0 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// The memory is bounded. The least recently used replies are forgotten first.
func TestCacheMemory(t *testing.T) {
	t.Parallel()
	inner := counting()
	model := openStore(t, &models.StoreOptions{MaxBytes: 400}).Model(inner, "a")
	for _, q := range strings.Fields("one two one three one two") {
		mustAsk(t, model, lm.Call{}, question(q))
	}
	var asked []string
	for _, r := range inner.Requests() {
		asked = append(asked, r.Last())
	}
	if got := strings.Join(asked, " "); got != "one two three two" {
		t.Errorf("asked %s", got)
	}
}

func TestCacheFile(t *testing.T) {
	t.Parallel()
	o := &models.StoreOptions{Path: filepath.Join(t.TempDir(), "cache")}
	inner := counting()
	for n := range 3 {
		cache := openStore(t, o)
		got, err := ask(t.Context(), cache.Model(inner, "a"))
		if err != nil || got.Text != "reply 1" || got.Cached != (n > 0) {
			t.Errorf("got %+v, %v", got, err)
		}
		cache.Close()
		got, err = lm.Ask(t.Context(), cache.Model(inner, "a"), lm.Call{}, question(fmt.Sprint(n)))
		if s := cache.Stats(); err != nil || got.Cached || s.Err == nil {
			t.Errorf("after Close: %+v, %v, %s", got, err, s)
		}
	}
	if info, err := os.Stat(o.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if file, err := os.ReadFile(o.Path); err != nil || bytes.Contains(file, []byte("Capital?")) {
		t.Errorf("the file contains the request: %s, %v", file, err)
	}
}

// A file of Resume has failures, which a cache does not return.
func TestCacheOfFailures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log := openLog(t, path)
	said(t, log.Model(numbered(), ""), "a", "b", "c")
	log.Close()
	cache := openStore(t, &models.StoreOptions{Path: path})
	if got := said(t, cache.Model(counting(), ""), "a", "b", "c"); strings.Join(got, "|") != "a 1|b 2|reply 1" {
		t.Errorf("got %q", got)
	}
	if got := cache.Stats(); got != (models.StoreStats{Hits: 2, Misses: 1}) {
		t.Errorf("stats %+v", got)
	}
}

// Identical concurrent requests are sent one at a time until one succeeds.
func TestCacheConcurrent(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(cancel func()) error{
		"succeeds":    func(func()) error { return nil },
		"fails":       func(func()) error { return errOverloaded },
		"is canceled": func(cancel func()) error { cancel(); return nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			all := budget.With(t.Context(), budget.Limits{})
			ctx, cancel := context.WithCancel(all)
			defer cancel()
			inner := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
				time.Sleep(time.Second)
				if r.N == 1 {
					return llmtest.Reply{Text: "Paris"}, first(cancel)
				}
				return llmtest.Reply{Text: "Paris"}, nil
			})
			cache := newCache(t)
			model := cache.Model(inner, "a")
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = ask(ctx, model) })
			synctest.Wait()
			for range 4 {
				wg.Go(func() {
					if got, err := ask(all, model); err != nil || got.Text != "Paris" {
						t.Errorf("%s: got %+v, %v", name, got, err)
					}
				})
			}
			leaving, leave := context.WithTimeout(all, time.Second/2)
			defer leave()
			wg.Go(func() {
				if _, err := ask(leaving, model); failure(t, err).Kind != models.KindCancelled || failure(t, err).MaybeCharged {
					t.Errorf("%s: got %v", name, err)
				}
			})
			wg.Wait()
			want := models.StoreStats{Hits: 4, Misses: 1}
			if name != "succeeds" {
				want = models.StoreStats{Hits: 3, Misses: 2}
			}
			if n := len(inner.Requests()); n != want.Misses || cache.Stats() != want || budget.Of(all).Spent().Cached != want.Hits {
				t.Errorf("%s: asked %d times, %+v, spent %s", name, n, cache.Stats(), budget.Of(all).Spent())
			}
		})
	}
}

// If one of several choices was refused or cut off, none of them is cached.
func TestCacheAlternatives(t *testing.T) {
	t.Parallel()
	for reason, asked := range map[string]int{"stop": 1, "content_filter": 2, "length": 2} {
		inner := serve(t, says(
			`{"choices":[{"message":{"content":"Paris"},"finish_reason":"stop"},{"message":{"content":"No"},"finish_reason":"`+
				reason+`"}]}`))
		model := newCache(t).Model(openAI.open(t, inner.URL), "a")
		for range 2 {
			if _, err := model.GenerateContent(t.Context(), question("Capital?"), llms.WithN(2)); err != nil {
				t.Fatal(err)
			}
		}
		if len(inner.bodies) != asked {
			t.Errorf("%s: asked %d times, want %d", reason, len(inner.bodies), asked)
		}
	}
}

// A reply with tool calls is cached completely.
func TestCacheToolCall(t *testing.T) {
	t.Parallel()
	cache := newCache(t)
	inner := serve(t, says(
		`{"choices":[{"message":{"content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"f",`+
			`"arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"}]}`))
	model := cache.Model(openAI.open(t, inner.URL), "a")
	for range 2 {
		got, err := model.GenerateContent(t.Context(), question("Capital?"))
		if err != nil {
			t.Fatal(err)
		}
		c := got.Choices[0]
		if len(c.ToolCalls) != 1 || c.ToolCalls[0].ID != "1" ||
			*c.ToolCalls[0].FunctionCall != (llms.FunctionCall{Name: "f", Arguments: `{"a":1}`}) ||
			c.StopReason != "tool_calls" {
			t.Errorf("got %+v", c)
		}
	}
	if cache.Stats().Hits != 1 {
		t.Errorf("stats %+v", cache.Stats())
	}
}

// said asks questions and returns the replies and errors.
func said(t *testing.T, m llms.Model, questions ...string) (list []string) {
	t.Helper()
	for _, q := range questions {
		reply, err := llms.GenerateFromSinglePrompt(t.Context(), m, q)
		if err != nil {
			reply = err.Error()
		}
		list = append(list, reply)
	}
	return list
}

func TestResume(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log, model := openLog(t, path), numbered()
	questions := []string{"a", "b", "a", "c", "a"}
	before := said(t, log.Model(model, "x"), questions...)
	if want := "a 1|b 2|the model: call 3 fails|c 4|a 5"; strings.Join(before, "|") != want {
		t.Fatalf("got %s, want %s", strings.Join(before, "|"), want)
	}
	log.Close()

	again := openLog(t, path)
	if again.Len() != 5 {
		t.Errorf("the log has %d replies", again.Len())
	}
	// In another order, the occurrences of each question keep theirs.
	m := again.Model(model, "x")
	got := said(t, m, "c", "a", "a", "b", "a", "a")
	if want := "c 4|a 1|the model: call 3 fails|b 2|a 5|the model: call 6 fails"; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
	if got := said(t, again.Model(model, "y"), "a"); got[0] != "a 7" {
		t.Errorf("another label got %s", got)
	}
	if n := len(model.Requests()); n != 7 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A stored reply has its usage. Only Replay charges for it, and exactly what the request used.
func TestResumeKeepsUsage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	paid := budget.Spent{Calls: 2, InputTokens: 8, OutputTokens: 3, Estimated: 1, Unpriced: 2}
	for i, mode := range []models.Mode{models.Resume, models.Resume, models.Replay} {
		log, err := models.OpenStore(&models.StoreOptions{Mode: mode, Path: path})
		if err != nil {
			t.Fatal(err)
		}
		ctx := budget.With(t.Context(), budget.Limits{})
		model := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
			if r.N == 1 {
				return llmtest.Reply{}, brokenOff
			}
			return llmtest.Reply{Text: "yes", StopReason: "length", InputTokens: 7, OutputTokens: 3}, nil
		})
		asked := log.Model(models.Retry(model, &models.RetryOptions{MinWait: 1}), "")
		reply, err := lm.Ask(ctx, asked, lm.Call{}, question("q"))
		if err != nil || reply.Usage != (lm.Usage{Input: 7, Output: 3}) || reply.Cached {
			t.Errorf("got %+v, %v", reply, err)
		}
		want := paid
		if i == 1 {
			want = budget.Spent{}
		}
		if s := budget.Of(ctx).Spent(); s != want {
			t.Errorf("%d: spent %+v", i, s)
		}
		log.Close()
	}
}

func TestResumeRetriesFailures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log, model := openLog(t, path), numbered()
	said(t, log.Model(model, ""), "a", "b", "c")
	if err := log.RetryFailures(); err != nil {
		t.Fatal(err)
	}
	log.Close()
	if got := said(t, openLog(t, path).Model(model, ""), "a", "b", "c"); strings.Join(got, "|") != "a 1|b 2|c 4" {
		t.Errorf("got %q", got)
	}
}

func TestResumeCutOff(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	log := openLog(t, path)
	said(t, log.Model(numbered(), ""), "a", "b")
	log.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		log, kept := openLog(t, path), bytes.Count(whole[:n+1], []byte("\n")) // also without the line's own newline
		if log.Len() != kept {
			t.Fatalf("%d of %d bytes: %d replies, want %d", n, len(whole), log.Len(), kept)
		}
		log.Close()
		rest, _ := os.ReadFile(path)
		if len(rest) > 0 && rest[len(rest)-1] != '\n' {
			t.Fatalf("%d bytes: the incomplete line is still there", n)
		}
	}
}

func TestResumeIsOpenOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	first := openLog(t, path)
	_, err := models.OpenStore(&models.StoreOptions{Mode: models.Resume, Path: path})
	if want := "models: the store " + path + ": another process is using it"; err == nil || err.Error() != want {
		t.Errorf("opened twice: %v; want %s", err, want)
	}
	first.Close()
	openLog(t, path)
}

func TestResumeErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := &models.StoreOptions{Mode: models.Resume, Path: filepath.Join(dir, "missing", "log")}
	if _, err := models.OpenStore(missing); err == nil {
		t.Error("a missing directory is not an error")
	}
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("{\"retry\":true}\nnot JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := models.OpenStore(&models.StoreOptions{Mode: models.Resume, Path: bad}); err == nil ||
		!strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
	log := openLog(t, filepath.Join(dir, "closed"))
	log.Close()
	_, err := llms.GenerateFromSinglePrompt(t.Context(), log.Model(numbered(), ""), "a")
	if e, ok := errors.AsType[*models.Error](err); !ok || !e.MaybeCharged {
		t.Errorf("a reply that cannot be written: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llms.GenerateFromSinglePrompt(ctx, log.Model(numbered(), ""), "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestResumeOfOthers keeps files that are not logs as they are.
func TestResumeOfOthers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"precious":"data"}`, "{\"a\":1}\n{\"b\":2}", "text\n", "{\"question\":\"?\"}\n", "\n{\"precious\":",
		`{"key":"AKIA","secret":"s"}`, "{\"key\":\"mine\"}\n",
	} {
		path := filepath.Join(t.TempDir(), "data.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := models.OpenStore(&models.StoreOptions{Mode: models.Resume, Path: path}); err == nil {
			t.Errorf("%q was opened as a log", text)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%q is now %q (%v)", text, kept, err)
		}
	}
}

// The file is a recording: each line has the request and the reply, without secrets and images.
func TestRedact(t *testing.T) {
	t.Parallel()
	secret := func(text string) string { return regexp.MustCompile(`hunter\d`).ReplaceAllString(text, "[password]") }
	inner := llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N == 2 {
			return llmtest.Reply{}, errors.New("who told you hunter2?")
		}
		return llmtest.Reply{Text: "It is hunter2.", Reasoning: "hunter2!", InputTokens: 10, OutputTokens: 3,
			ToolCalls: []llms.ToolCall{{ID: "hunter3", FunctionCall: &llms.FunctionCall{
				Name: "f", Arguments: `{"p":"hunter4"}`,
			}}},
			Message: &models.Message{Provider: "p", Raw: []byte(`{"p":["hunter5"]}`)}}, nil
	})
	o := &models.StoreOptions{Mode: models.Resume, Path: filepath.Join(t.TempDir(), "file"), Redact: secret}
	model := openStore(t, o).Model(inner, "")
	part := llms.WithCacheControl(llms.BinaryPart("image/png", []byte("hunter2")), &llms.CacheControl{Type: "ephemeral"})
	messages := []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
		llms.TextPart("Is it hunter2?"), part, llms.ImageURLPart("https://x/?key=hunter2"),
	}}}
	options := []llms.CallOption{
		llms.WithMetadata(map[string]any{"user": "hunter2"}), llms.WithTemperature(0), llms.WithSeed(1<<60 + 1),
	}
	for range 2 {
		got, err := model.GenerateContent(t.Context(), messages, options...)
		if err == nil && got.Choices[0].Content != "It is hunter2." {
			t.Errorf("the caller got %+v", got.Choices[0])
		}
	}
	file, err := os.ReadFile(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	request := `"request":{"messages":[{"parts":[{"text":"Is it [password]?"},{"kind":"cached","value":{"cache_control":` +
		`{"type":"ephemeral"},"part":{"kind":"binary","value":{"bytes":7,"sha256":` +
		`"f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7","type":"image/png"}}}},` +
		`{"kind":"llms.ImageURLContent","value":{"image_url":{"url":"https://x/?key=[password]"},"type":"image_url"}}],` +
		`"role":"human"}],"options":{"metadata":{"user":"[password]"},"seed":1152921504606846977},"temperature":0}`
	want := request + `,"reply":[{"info":{"CompletionTokens":3,"PromptTokens":10,"writ:model":"scripted"},"message":{"provider":"p",` +
		`"raw":{"p":["[password]"]},"text":""},"reasoning":"[password]!","stop_reason":"tool_calls","text":"It is [password].",` +
		`"tool_calls":[{"function":{"arguments":"{\"p\":\"[password]\"}","name":"f"},"id":"[password]","type":""}]}]}
{"key":"","n":1,` + request + `,"failure":{"kind":"","message":"who told you [password]?"}}
`
	got := regexp.MustCompile(`"key":"[0-9a-f]{64}"`).ReplaceAllString(string(file), `"key":""`)
	if want = `{"key":"",` + want; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again := replayed(t, o.Path, secret)
	if _, err := again.GenerateContent(t.Context(), messages, append(options, llms.WithSeed(1<<60))...); err == nil {
		t.Error("a call with another seed was replayed")
	}
	replied, err := again.GenerateContent(t.Context(), messages, options...)
	if err != nil || replied.Choices[0].Content != "It is [password]." ||
		replied.Choices[0].GenerationInfo["PromptTokens"] != 10 {
		t.Errorf("got %+v, %v", replied, err)
	}
	if _, err := again.GenerateContent(t.Context(), messages, options...); err == nil ||
		err.Error() != "the model: who told you [password]?" {
		t.Errorf("got %v", err)
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	store := openLog(t, path)
	asks := func(model llms.Model, q string, options ...llms.CallOption) string {
		t.Helper()
		got, err := lm.Ask(t.Context(), model, lm.Call{}, question(q), options...)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(got.Text, " ", got.Reasoning, " ", got.Usage)
	}
	model := store.Model(counting(), "")
	first, second, third, warm := asks(model, "one"), asks(model, "two"), asks(model, "one"),
		asks(model, "one", llms.WithTemperature(0.5))
	failing := store.Model(script(limited(1500*time.Millisecond)), "")
	asks(failing, "fails")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.GenerateContent(canceled, question("Capital?")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	again := replayed(t, path, nil)
	for _, c := range []struct{ got, want string }{
		{asks(again, "two"), second},
		{asks(again, "one", llms.WithTemperature(0.5)), warm},
		{asks(again, "one"), first},
		{asks(again, "one"), third},
		{asks(again, "one"), "the model: this request was made 3 times, but the store has only 2 replies to it; " +
			"store the replies again"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	_, err := lm.Ask(t.Context(), again, lm.Call{}, question("fails"))
	if e := failure(t, err); e.Kind != models.KindRateLimited || e.Status != 429 ||
		e.RetryAfter != 1500*time.Millisecond || e.Err.Error() != "slow down" {
		t.Errorf("got %+v", e)
	}
	if _, err := again.GenerateContent(canceled, question("one")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	var h hearing
	if _, err := lm.Ask(t.Context(), replayed(t, path, nil), h.call(), question("two")); err != nil ||
		fmt.Sprint(h.text, h.reasoning) != "[reply 2] [hm]" {
		t.Errorf("heard %q, %q, %v", h.text, h.reasoning, err)
	}
}

// The error about a request that is not in the file shows how it differs from the most similar one.
func TestReplayMissing(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The weather is fine today. ", 10)
	path := filepath.Join(t.TempDir(), "file")
	model := openLog(t, path).Model(counting(), "")
	for _, q := range []string{"Something else", long + "What now?"} {
		mustAsk(t, model, lm.Call{Rollout: 3}, question(q))
	}
	for _, c := range []struct {
		question string
		rollout  int
		want     string
	}{
		{long + "What else?", 3, `"…is fine today. What now?\n{\"rollout\":3,\"messages\":null}" instead of ` +
			`"…is fine today. What else?\n{\"rollout\":3,\"messages\":null}"`},
		{long + "What now?", 4, `"…hat now?\n{\"rollout\":3,\"messages\":null}" instead of ` +
			`"…hat now?\n{\"rollout\":4,\"messages\":null}"`},
	} {
		_, err := lm.Ask(t.Context(), replayed(t, path, nil), lm.Call{Rollout: c.rollout}, question(c.question))
		want := "the model: this request is not in the store; the most similar one, in line 2, has " + c.want +
			"; store the replies again"
		if e := failure(t, err); e.Kind != models.KindInvalid || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := ask(t.Context(), replayed(t, written(t, "\n"), nil)); err == nil ||
		err.Error() != "the model: the store is empty; use the mode Resume to store replies" {
		t.Errorf("got %v", err)
	}
}

func TestReplayUnreadable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\n{": ": not a reply store; choose a different file", "{\n{}": ": line 1: ",
		"{}":                       ": line 1: not a reply store; choose a different file",
		`{"key":"a","reply":null}`: ": line 1: not a reply store; choose a different file",
	} {
		path := written(t, text)
		_, err := models.OpenStore(&models.StoreOptions{Mode: models.Replay, Path: path})
		if err == nil || !strings.HasPrefix(err.Error(), "models: the store "+path+want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
	if _, err := models.OpenStore(&models.StoreOptions{Mode: models.Replay}); err == nil {
		t.Error("no path is not an error")
	}
}

// Numbers that JSON does not have are refused, and extreme waits are bounded.
func TestStoreOddNumbers(t *testing.T) {
	t.Parallel()
	model := openLog(t, filepath.Join(t.TempDir(), "log")).Model(script(), "")
	for range 20 { // always the first of the two
		_, err := model.GenerateContent(t.Context(), question("Capital?"),
			llms.WithTopP(math.Inf(-1)), llms.WithTemperature(math.Inf(1)))
		if failure(t, err).Kind != models.KindInvalid ||
			err.Error() != "the model: models: the temperature is +Inf, which cannot be written as JSON" {
			t.Errorf("got %v", err)
		}
	}
	for after, want := range map[float64]time.Duration{1e300: 365 * 24 * time.Hour, -5: 0, 1.5: 1500 * time.Millisecond} {
		if got := lm.Seconds(after); got != want {
			t.Errorf("%g: got %v", after, got)
		}
	}
}

// echo is a model that repeats the prompt, or replies with a long text.
func echo() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.Last() == "long" {
			return llmtest.Reply{Text: strings.Repeat("x", 50_000)}, nil
		}
		return llmtest.Reply{Text: r.Last() + "!"}, nil
	})
}

// A reply that is too large for the cache does not displace others.
func TestCacheLongReply(t *testing.T) {
	t.Parallel()
	inner := echo()
	model := openStore(t, &models.StoreOptions{MaxBytes: 20_000}).Model(inner, "a")
	for range 2 {
		for i := range 20 {
			mustAsk(t, model, lm.Call{}, question(fmt.Sprint(i)))
		}
		mustAsk(t, model, lm.Call{}, question("long"))
	}
	if n := len(inner.Requests()); n != 22 {
		t.Errorf("asked %d times", n)
	}
}

// The same applies to tool results: calls with such results are always made. Results that contain
// the same characters in a valid form are cached.
func TestCacheResultsNotUTF8(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts []string
		want  int // calls of the model
	}{
		{[]string{"a\xff", "a\xfe"}, 2},
		{[]string{"\ufffd", "\ufffd"}, 1},
		{[]string{`\ufffd`, `\ufffd`}, 1},
	} {
		inner := counting()
		model := newCache(t).Model(inner, "a")
		for _, text := range c.texts {
			m := llms.MessageContent{Role: llms.ChatMessageTypeTool,
				Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "1", Name: "read", Content: text}}}
			if _, err := model.GenerateContent(t.Context(), []llms.MessageContent{m}); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(inner.Requests()); n != c.want {
			t.Errorf("%q: %d calls, want %d", c.texts, n, c.want)
		}
	}
}

// Texts that are not UTF-8 are not equal only because their JSON is.
func TestCacheInvalidText(t *testing.T) {
	t.Parallel()
	inner := echo()
	model := newCache(t).Model(inner, "a")
	for _, text := range []string{"a\xff", "a\xfe", "a\xff"} {
		mustAsk(t, model, lm.Call{}, question(text))
	}
	if n := len(inner.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// numbered returns a model that numbers its replies and fails on every third call.
func numbered() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N%3 == 0 {
			return llmtest.Reply{}, fmt.Errorf("call %d fails", r.N)
		}
		return llmtest.Reply{Text: fmt.Sprintf("%s %d", r.Last(), r.N)}, nil
	})
}

// A call that a budget refuses is not stored as a failure: with a better budget, it is made.
func TestResumeAfterRefusal(t *testing.T) {
	t.Parallel()
	path, model := filepath.Join(t.TempDir(), "log"), script()
	for _, limits := range []budget.Limits{{Cost: 1}, {Tokens: 5}, {Calls: -1}} {
		log := openLog(t, path)
		if _, err := ask(budget.With(t.Context(), limits), log.Model(model, "")); err == nil {
			t.Errorf("%+v: there is no error", limits)
		}
		log.Close()
	}
	log := openLog(t, path)
	defer log.Close()
	if _, err := ask(budget.With(t.Context(), budget.Limits{Calls: 1}), log.Model(model, "")); err != nil {
		t.Error(err)
	}
}

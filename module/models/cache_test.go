package models_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

func newCache(t *testing.T, o *models.CacheOptions) *models.Cache {
	t.Helper()
	cache, err := models.NewCache(o)
	if err != nil {
		t.Fatal(err)
	}
	return cache
}

// counting is a model that numbers its replies.
func counting() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: fmt.Sprint("reply ", r.N), Reasoning: "hm", InputTokens: 10, OutputTokens: 3}, nil
	})
}

func TestCacheHit(t *testing.T) {
	t.Parallel()
	cache := newCache(t, nil)
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
	if got := cache.Stats(); got != (models.CacheStats{Hits: 3, Misses: 1}) {
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
	cache := newCache(t, nil)
	model, other := cache.Model(inner, "a"), cache.Model(inner, "b")
	half := 0.5
	png := func(data string) []llms.MessageContent {
		return []llms.MessageContent{{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextPart("Capital?"),
			llms.BinaryPart("image/png", []byte(data))}}}
	}
	asks := []func() (lm.Reply, error){
		func() (lm.Reply, error) { return ask(t.Context(), model) },
		func() (lm.Reply, error) { return ask(t.Context(), other) },
		func() (lm.Reply, error) { return lm.Ask(t.Context(), model, lm.Call{}, question("Capital!")) },
		func() (lm.Reply, error) { return lm.Ask(t.Context(), model, lm.Call{Rollout: 1}, question("Capital?")) },
		func() (lm.Reply, error) { return ask(models.WithRollout(t.Context(), 2), model) },
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{Temperature: &half}, question("Capital?"))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"), llms.WithTemperature(0))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"), llms.WithTopP(0.5))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"), llms.WithModel("x"))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"), llms.WithMaxTokens(9))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"), llms.WithThinkingMode(llms.ThinkingModeLow))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, question("Capital?"), llms.WithMetadata(map[string]any{"a": 1}))
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{},
				[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Capital?")})
		},
		func() (lm.Reply, error) {
			return lm.Ask(t.Context(), model, lm.Call{}, append(question("Capital?"), question("")...))
		},
		func() (lm.Reply, error) { return lm.Ask(t.Context(), model, lm.Call{}, png("one")) },
		func() (lm.Reply, error) { return lm.Ask(t.Context(), model, lm.Call{}, png("two")) },
	}
	for round := range 2 {
		for i, one := range asks {
			got, err := one()
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
		cache := newCache(t, &models.CacheOptions{Dir: t.TempDir()})
		model := cache.Model(inner, "a")
		for range 2 {
			_, _ = ask(t.Context(), model)
		}
		if n := len(inner.Requests()); n != 2 || cache.Stats().Hits != 0 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// The memory is bounded by entries and by bytes. The least recently used entries are removed first.
func TestCacheMemory(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]models.CacheOptions{"entries": {Entries: 2}, "bytes": {Bytes: 400}} {
		inner := counting()
		model := newCache(t, &o).Model(inner, "a")
		for _, q := range strings.Fields("one two one three one two") {
			if _, err := lm.Ask(t.Context(), model, lm.Call{}, question(q)); err != nil {
				t.Fatal(err)
			}
		}
		var asked []string
		for _, r := range inner.Requests() {
			asked = append(asked, r.Last())
		}
		if got := strings.Join(asked, " "); got != "one two three two" {
			t.Errorf("%s: asked %s", name, got)
		}
	}
}

// cacheFiles returns the files in the directory of a cache.
func cacheFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCacheDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "for it")
	inner := counting()
	again := func() lm.Reply { // in a new cache, as in another process
		t.Helper()
		got, err := ask(t.Context(), newCache(t, &models.CacheOptions{Dir: dir}).Model(inner, "a"))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	again()
	if got := again(); got.Text != "reply 1" || !got.Cached {
		t.Errorf("got %+v", got)
	}
	files := cacheFiles(t, dir)
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for n, damaged := range []string{"", "x", string(whole[:len(whole)-1]),
		strings.Replace(string(whole), "reply", "lie", 1)} {
		if err := os.WriteFile(files[0], []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := again(); got.Cached || got.Text != fmt.Sprint("reply ", n+2) {
			t.Errorf("damaged as %q: got %+v", damaged, got)
		}
		if got := again(); !got.Cached || got.Text != fmt.Sprint("reply ", n+2) {
			t.Errorf("after it was damaged as %q: got %+v", damaged, got)
		}
	}
}

// The directory is bounded. The least recently used files are removed first, and so are files left
// behind by killed processes.
func TestCacheDirBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inner := counting()
	o := &models.CacheOptions{Dir: dir, DirBytes: 2000, Entries: -1}
	cache := newCache(t, o)
	for n := range 60 {
		if _, err := lm.Ask(t.Context(), cache.Model(inner, "a"), lm.Call{}, question(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	var size int64
	files := cacheFiles(t, dir)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2000 || size < 1000 {
		t.Errorf("%d bytes in %d files", size, len(files))
	}
	if got, err := lm.Ask(t.Context(), cache.Model(inner, "a"), lm.Call{}, question("59")); err != nil || !got.Cached {
		t.Errorf("got %+v, %v", got, err)
	}
	left := filepath.Join(filepath.Dir(files[0]), ".new-1234")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	newCache(t, o)
	if _, err := os.Stat(left); err != nil {
		t.Error("a file that another process may be writing was removed")
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	newCache(t, o)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an abandoned file was kept: %v", err)
	}
}

// An unusable directory is reported immediately. If it becomes unusable later, no reply is lost.
func TestCacheDirBroken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := models.NewCache(&models.CacheOptions{Dir: file}); err == nil ||
		err.Error() != "models: cache directory: mkdir "+file+": not a directory" {
		t.Errorf("got %v", err)
	}
	dir := filepath.Join(t.TempDir(), "cache")
	cache := newCache(t, &models.CacheOptions{Dir: dir})
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	got, err := ask(t.Context(), cache.Model(counting(), "a"))
	if err != nil || got.Text != "reply 1" {
		t.Errorf("got %+v, %v", got, err)
	}
	if s := cache.Stats(); s.DirErrors != 1 || s.DirError == nil {
		t.Errorf("stats %+v", s)
	}
}

// Concurrent equal calls are made once. If one of the callers cancels, the others still get the
// reply; if all of them cancel, the call is cancelled.
func TestCacheShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ended := make(chan error, 9)
		inner := llmtest.Func(func(ctx context.Context, r llmtest.Request) (llmtest.Reply, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			ended <- ctx.Err()
			return llmtest.Reply{Text: fmt.Sprint("reply ", r.N), InputTokens: 10, OutputTokens: 3}, nil
		})
		cache := newCache(t, nil)
		model := cache.Model(inner, "a")
		first, leave := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var mu sync.Mutex
		usage, cached := 0, 0
		wg.Go(func() {
			if _, err := ask(first, model); failure(t, err).Kind != models.KindCancelled {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				got, err := ask(t.Context(), model)
				if err != nil || got.Text != "reply 1" {
					t.Errorf("got %+v, %v", got, err)
				}
				mu.Lock()
				defer mu.Unlock()
				usage += got.Usage.Input
				if got.Cached {
					cached++
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		close(release)
		wg.Wait()
		if err := <-ended; err != nil || usage != 10 || cached != 4 || len(inner.Requests()) != 1 {
			t.Errorf("%v, usage %d, %d cached, %d requests", err, usage, cached, len(inner.Requests()))
		}
		if got := cache.Stats(); got != (models.CacheStats{Misses: 1, Shared: 5}) {
			t.Errorf("stats %+v", got)
		}

		release = make(chan struct{})
		alone, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := lm.Ask(alone, model, lm.Call{}, question("Alone?")); failure(t, err).Kind != models.KindCancelled {
				t.Errorf("got %v", err)
			}
		})
		synctest.Wait()
		leave()
		wg.Wait()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that nobody waits for continues: %v", err)
		}
	})
}

// The shared call has the deadline of its first caller, so that nothing waits beyond it in vain.
// Callers with later deadlines call again.
func TestCacheDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := ask(short, newCache(t, nil).Model(models.Retry(script(limited(30*time.Second)), nil), "a"))
		if failure(t, err).Kind != models.KindRateLimited || time.Since(start) != 0 {
			t.Errorf("%v after %s", err, time.Since(start))
		}

		inner := llmtest.Func(func(ctx context.Context, _ llmtest.Request) (llmtest.Reply, error) {
			select {
			case <-time.After(20 * time.Second):
			case <-ctx.Done():
			}
			return llmtest.Reply{Text: "Paris"}, nil
		})
		model := newCache(t, nil).Model(inner, "a")
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := ask(short, model); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 10*time.Second {
				t.Errorf("%v after %s", err, time.Since(start))
			}
		})
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if got, err := ask(t.Context(), model); err != nil || got.Text != "Paris" || time.Since(start) != 30*time.Second {
					t.Errorf("%+v, %v after %s", got, err, time.Since(start))
				}
			})
		}
		wg.Wait()
		if n := len(inner.Requests()); n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

// A reply with tool calls is cached completely.
func TestCacheToolCall(t *testing.T) {
	t.Parallel()
	cache := newCache(t, nil)
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

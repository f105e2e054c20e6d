package models_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/internal/lm"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

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
	for name, o := range map[string]*models.CacheOptions{
		"memory":    {Bytes: 20_000},
		"directory": {Entries: -1, Dir: t.TempDir(), DirBytes: 20_000},
	} {
		inner := echo()
		model := newCache(t, o).Model(inner, "a")
		for range 2 {
			for i := range 20 {
				if _, err := lm.Ask(t.Context(), model, lm.Call{}, question(fmt.Sprint(i))); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := lm.Ask(t.Context(), model, lm.Call{}, question("long")); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(inner.Requests()); n != 22 {
			t.Errorf("%s: asked %d times", name, n)
		}
	}
}

// Files with a wrong name, and files that are not regular, are ignored.
func TestCacheForeignReplies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	say := func(text string) string {
		got, err := lm.Ask(t.Context(), newCache(t, &models.CacheOptions{Dir: dir}).Model(echo(), "a"), lm.Call{},
			question(text))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(got.Text, got.Cached)
	}
	say("one")
	one := cacheFiles(t, dir)[0]
	say("two")
	two := cacheFiles(t, dir)[0]
	if two == one {
		two = cacheFiles(t, dir)[1]
	}
	text, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := say("two"); got != "two!false" {
		t.Errorf("got %s", got)
	}
	if got := say("two"); got != "two!true" {
		t.Errorf("got %s", got)
	}
	elsewhere := filepath.Join(t.TempDir(), "one")
	if err := os.Rename(one, elsewhere); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, one); err != nil {
		t.Skip(err)
	}
	if got := say("one"); got != "one!false" {
		t.Errorf("got %s", got)
	}
}

// Other files in the directory are kept and do not count.
func TestCacheForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	long := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{".new-notes", "ab/.new-notes.txt", "notes/.new-1", "ab/cd/.new-1", "ab/abc.json"} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, 5000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, long, long); err != nil {
			t.Fatal(err)
		}
	}
	newCache(t, &models.CacheOptions{Dir: dir, DirBytes: 10})
	if n := len(cacheFiles(t, dir)); n != 5 {
		t.Errorf("%d files are left", n)
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
		model := newCache(t, nil).Model(inner, "a")
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
	model := newCache(t, nil).Model(inner, "a")
	for _, text := range []string{"a\xff", "a\xfe", "a\xff"} {
		if _, err := lm.Ask(t.Context(), model, lm.Call{}, question(text)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(inner.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

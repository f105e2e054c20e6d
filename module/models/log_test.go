package models_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/module/models"
)

// numbered returns a model that numbers its replies and fails on every third call.
func numbered() *llmtest.Model {
	return llmtest.Func(func(_ context.Context, r llmtest.Request) (llmtest.Reply, error) {
		if r.N%3 == 0 {
			return llmtest.Reply{}, fmt.Errorf("call %d fails", r.N)
		}
		return llmtest.Reply{Text: fmt.Sprintf("%s %d", r.Last(), r.N)}, nil
	})
}

func openLog(t *testing.T, path string) *models.Log {
	t.Helper()
	l, err := models.OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
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

func TestLog(t *testing.T) {
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

func TestLogKeepsUsageAndFailures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	for range 2 {
		log := openLog(t, path)
		budget := models.NewBudget(models.Limits{})
		model := llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
			return llmtest.Reply{Text: "yes", StopReason: "length", InputTokens: 7, OutputTokens: 3}, nil
		})
		m := budget.Model(log.Model(model, ""), "m")
		said(t, m, "q")
		if s := budget.Spent(); s.Calls != 1 || s.InputTokens != 7 || s.OutputTokens != 3 || s.Cached != 0 {
			t.Errorf("spent %v", s)
		}
		log.Close()
	}
}

func TestLogRetriesFailures(t *testing.T) {
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

func TestLogCutOff(t *testing.T) {
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

// TestLogCutOffRetry keeps the replies when the mark after them was cut off.
func TestLogCutOffRetry(t *testing.T) {
	t.Parallel()
	for kept, replies := range [][]string{nil, {"a"}} {
		path := filepath.Join(t.TempDir(), "log")
		log := openLog(t, path)
		said(t, log.Model(numbered(), ""), replies...)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.RetryFailures(); err != nil {
			t.Fatal(err)
		}
		log.Close()
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n := len(before); n < len(whole); n++ {
			if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			log := openLog(t, path)
			if log.Len() != kept {
				t.Errorf("%d replies and %q: %d were read", kept, whole[len(before):n], log.Len())
			}
			log.Close()
		}
	}
}

func TestLogIsOpenOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	first := openLog(t, path)
	_, err := models.OpenLog(path)
	if want := "models: the log " + path + ": another process is using it"; err == nil || err.Error() != want {
		t.Errorf("opened twice: %v; want %s", err, want)
	}
	first.Close()
	openLog(t, path)
}

func TestLogErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := models.OpenLog(filepath.Join(dir, "missing", "log")); err == nil {
		t.Error("a missing directory is not an error")
	}
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("{\"retry\":true}\nnot JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := models.OpenLog(bad); err == nil || !strings.Contains(err.Error(), "line 2") {
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

// TestLogOfOthers keeps files that are not logs as they are.
func TestLogOfOthers(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"precious":"data"}`, "{\"a\":1}\n{\"b\":2}", "text\n", "{\"question\":\"?\"}\n", "\n{\"precious\":",
		`{"key":"AKIA","secret":"s"}`, "{\"key\":\"mine\"}\n",
	} {
		path := filepath.Join(t.TempDir(), "data.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := models.OpenLog(path); err == nil {
			t.Errorf("%q was opened as a log", text)
		}
		if kept, err := os.ReadFile(path); err != nil || string(kept) != text {
			t.Errorf("%q is now %q (%v)", text, kept, err)
		}
	}
}

package models

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tmc/langchaingo/llms"
)

func TestScript(t *testing.T) {
	t.Parallel()
	file := write(t, "one\n---\ntwo\nlines -- --- in them\n")
	model, err := Open("script:"+file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"one", "two\nlines -- --- in them"} {
		if got, err := llms.GenerateFromSinglePrompt(t.Context(), model, "?"); err != nil || got != want {
			t.Errorf("got %q (%v), want %q", got, err, want)
		}
	}
	_, err = llms.GenerateFromSinglePrompt(t.Context(), model, "What now?")
	want := "request 3 has no reply: " + file +
		" contains 2, one for each request; add a reply after a line of ---"
	if err == nil || err.Error() != want {
		t.Errorf("after the last reply: got %v, want %s", err, want)
	}
}

func TestScriptEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "one\n---\n", "---\none"} {
		if _, err := Open("script:"+write(t, text), Options{}); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
	if _, err := Open("script:"+filepath.Join(t.TempDir(), "none"), Options{}); err == nil {
		t.Error("got no error for a missing file")
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "replies.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

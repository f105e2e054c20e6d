package vectors_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/internal/vectors"
)

// lengths embeds a text as its length and its number of spaces. It counts the texts of documents.
type lengths struct {
	texts int
	size  int                       // numbers in a vector; 0 means 2
	wait  func(ctx context.Context) // called for documents; may be nil
}

func (l *lengths) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := []float32{float32(len(text)), float32(strings.Count(text, " ")), 0, 0}
	return v[:max(l.size, 2)], nil
}

func (l *lengths) EmbedDocuments(ctx context.Context, texts []string) (all [][]float32, _ error) {
	if l.wait != nil {
		l.wait(ctx)
	}
	l.texts += len(texts)
	for _, text := range texts {
		v, _ := l.EmbedQuery(ctx, text)
		all = append(all, v)
	}
	return all, nil
}

// Ranks count, not scores. Equal scores share a rank, and scores that are not positive have none.
func TestFuse(t *testing.T) {
	t.Parallel()
	got := vectors.Fuse([]float64{9, 0.5, 0.5, 0, -1}, []float64{0, 0.2, 0.1, 0, 0.3})
	want := []float64{1. / 61, 1./62 + 1./62, 1./62 + 1./63, 0, 1. / 61}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if got := vectors.Fuse(nil, nil); len(got) != 0 {
		t.Errorf("no documents have %v", got)
	}
}

// Vectors have the length 1, or 0 if they are zero. A cosine with such a vector is 0.
func TestScores(t *testing.T) {
	t.Parallel()
	x := vectors.Keep(&lengths{}).Index(func() []string { return []string{"abc", " ", "", "a long text"} })
	for range 2 {
		scores, err := x.Scores(t.Context(), "xy")
		if got := fmt.Sprintf("%.2f", scores); err != nil || got != "[1.00 0.71 0.00 0.98]" {
			t.Errorf("got %s, %v", got, err)
		}
	}
	if scores, err := x.Scores(t.Context(), ""); err != nil || slices.Max(scores) != 0 {
		t.Errorf("the zero vector scores %v, %v", scores, err)
	}
}

// All vectors of a call have the same size. A Store forgets its vectors when it has too many.
func TestStore(t *testing.T) {
	t.Parallel()
	e := &lengths{}
	s := vectors.Keep(e)
	if vectors.Keep(s) != s {
		t.Error("a Store was wrapped again")
	}
	for _, step := range []struct{ size, texts int }{{2, 2}, {2, 0}, {4, 0}} {
		before := e.texts
		e.size = step.size
		got, err := s.EmbedDocuments(t.Context(), []string{"a b", "c"})
		if err != nil || len(got) != 2 || len(got[0]) != 2 || len(got[1]) != 2 || e.texts-before != step.texts {
			t.Errorf("%+v: got %v, %v after %d texts", step, got, err, e.texts-before)
		}
	}
	if _, err := s.EmbedDocuments(t.Context(), []string{"a b", "new"}); fmt.Sprint(err) !=
		"EmbedDocuments returned a vector of 4 numbers, although others have 2" {
		t.Error(err)
	}
	e.size = 2
	many := make([]string, 50_001)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	if _, err := s.EmbedDocuments(t.Context(), many); err != nil {
		t.Error(err)
	}
	before := e.texts
	if _, err := s.EmbedDocuments(t.Context(), many[:1]); err != nil || e.texts-before != 1 {
		t.Errorf("%v: %d texts were embedded again, want 1", err, e.texts-before)
	}
}

// A call that waits for another one ends with its context.
func TestStoreWaits(t *testing.T) {
	t.Parallel()
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	s := vectors.Keep(&lengths{wait: func(context.Context) { close(begun); <-end }})
	go func() {
		_, err := s.EmbedDocuments(t.Context(), []string{"a"})
		done <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.EmbedDocuments(ctx, []string{"a"}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
	close(end)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

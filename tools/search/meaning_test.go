package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/search"
)

// subjects embeds a text as the subjects that it is about: a vector with a number for each group of words.
type subjects struct {
	groups  []string
	texts   atomic.Int64
	largest atomic.Int64 // texts in a request
	query   func(ctx context.Context, v []float32) ([]float32, error)
	tools   func(ctx context.Context, v [][]float32) ([][]float32, error)
}

var shopSubjects = []string{"refund money back", "parcel track shipment", "mail letter message"}

func (s *subjects) vector(text string) []float32 {
	v := make([]float32, len(s.groups))
	for i, group := range s.groups {
		for word := range strings.FieldsSeq(group) {
			if strings.Contains(strings.ToLower(text), word) {
				v[i]++
			}
		}
	}
	return v
}

func (s *subjects) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if s.query != nil {
		return s.query(ctx, s.vector(text))
	}
	return s.vector(text), nil
}

func (s *subjects) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	s.texts.Add(int64(len(texts)))
	s.largest.Store(max(s.largest.Load(), int64(len(texts))))
	var vectors [][]float32
	for _, text := range texts {
		vectors = append(vectors, s.vector(text))
	}
	if s.tools != nil {
		return s.tools(ctx, vectors)
	}
	return vectors, nil
}

func desk(t *testing.T) *tools.Set {
	t.Helper()
	set, err := tools.NewSet(t.Context(), tool("shop", "refund", "Refund one order."),
		tool("shop", "track", "Where a parcel is."), tool("post", "send", "Send a mail."), tool("", "sum", "Add."))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func found(t *testing.T, d *search.Index, query, server string) string {
	t.Helper()
	hits, err := d.Search(t.Context(), query, &search.Options{Server: server})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hits {
		names = append(names, h.Name)
	}
	return strings.Join(names, " ")
}

// Tools are found by words and by meaning. Those that match in both ways come first.
func TestByMeaning(t *testing.T) {
	t.Parallel()
	d := search.New(desk(t), 1000)
	m := d.ByMeaning(&subjects{groups: shopSubjects}, nil)
	for _, tt := range []struct{ query, server, words, both string }{
		{"the money back", "", "", "shop.refund"},
		{"a shipment by mail", "", "post.send", "post.send shop.track"},
		{"a shipment by mail", "shop", "", "shop.track"},
		{"swimming hall", "", "", ""},
		{"", "shop", "shop.refund shop.track", "shop.refund shop.track"},
	} {
		if got := found(t, d, tt.query, tt.server); got != tt.words {
			t.Errorf("%q by words: %s, want %s", tt.query, got, tt.words)
		}
		if got := found(t, m, tt.query, tt.server); got != tt.both {
			t.Errorf("%q: %s, want %s", tt.query, got, tt.both)
		}
	}
	if d.ByMeaning(nil, nil) != d || search.Cached(nil) != nil {
		t.Error("no embedder is not the same as none")
	}
	got, _ := call(t, m, "search", `{"query": "the money back"}`)
	if want := `[{"name":"shop.refund","description":"Refund one order."}]`; got != want {
		t.Errorf("a program found %s", got)
	}
}

// If the embedder fails in whatever way, the search compares words and logs why. Later searches try again.
func TestEmbedderFails(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	for want, broken := range map[string]*subjects{
		"EmbedQuery: it is down": {query: func(context.Context, []float32) ([]float32, error) {
			return nil, errors.New("it is down")
		}},
		"EmbedQuery: the embedder panicked: out of order": {query: func(context.Context, []float32) ([]float32, error) {
			panic("out of order")
		}},
		"EmbedQuery returned an empty vector": {query: func(context.Context, []float32) ([]float32, error) {
			return nil, nil
		}},
		"EmbedQuery returned a vector with a number that is NaN or infinite": {
			query: func(context.Context, []float32) ([]float32, error) { return []float32{1, nan}, nil },
		},
		"EmbedDocuments: it is down": {tools: func(context.Context, [][]float32) ([][]float32, error) {
			return nil, errors.New("it is down")
		}},
		"EmbedDocuments: the embedder panicked: out of order": {
			tools: func(context.Context, [][]float32) ([][]float32, error) { panic("out of order") },
		},
		"EmbedDocuments returned 3 vectors for 4 texts": {
			tools: func(_ context.Context, v [][]float32) ([][]float32, error) { return v[1:], nil },
		},
		"EmbedDocuments returned a vector with a number that is NaN or infinite": {
			tools: func(_ context.Context, v [][]float32) ([][]float32, error) {
				v[2][0] = nan
				return v, nil
			},
		},
		"EmbedDocuments returned a vector of 2 numbers, although others have 3": {
			tools: func(_ context.Context, v [][]float32) ([][]float32, error) {
				v[2] = v[2][1:]
				return v, nil
			},
		},
	} {
		broken.groups = shopSubjects
		var log bytes.Buffer
		d := search.New(desk(t), 1000).ByMeaning(broken, slog.New(slog.NewTextHandler(&log, nil)))
		if got := found(t, d, "a shipment by mail", ""); got != "post.send" || !strings.Contains(log.String(), want) {
			t.Errorf("%s: found %s, logged %s", want, got, log.String())
		}
		broken.query, broken.tools = nil, nil
		if got := found(t, d, "a shipment by mail", ""); got != "post.send shop.track" {
			t.Errorf("%s: after it: found %s", want, got)
		}
	}
}

// A search whose context ends does not wait for the embedder, and does not blame it.
func TestSlowEmbedder(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	block := make(chan struct{})
	defer close(block)
	slow := &subjects{groups: shopSubjects, tools: func(context.Context, [][]float32) ([][]float32, error) {
		cancel()
		<-block // it ignores the context
		return nil, nil
	}}
	var log bytes.Buffer
	d := search.New(desk(t), 1000).ByMeaning(slow, slog.New(slog.NewTextHandler(&log, nil)))
	hits, err := d.Search(ctx, "a shipment by mail", nil)
	if err != nil || len(hits) != 1 || hits[0].Name != "post.send" || log.Len() > 0 {
		t.Errorf("found %v, %v, logged %s", hits, err, log.String())
	}
}

// A search waits 10 seconds for the embedder.
func TestEmbedderTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := &subjects{groups: shopSubjects, query: func(ctx context.Context, _ []float32) ([]float32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		var log bytes.Buffer
		d := search.New(desk(t), 1000).ByMeaning(stuck, slog.New(slog.NewTextHandler(&log, nil)))
		begun := time.Now()
		got := found(t, d, "a shipment by mail", "")
		if got != "post.send" || time.Since(begun) != 10*time.Second ||
			!strings.Contains(log.String(), "no reply within 10s") {
			t.Errorf("found %s after %v, logged %s", got, time.Since(begun), log.String())
		}
	})
}

// If the embedder gets a model with vectors of another size, the tools are embedded again.
func TestOtherDimensions(t *testing.T) {
	t.Parallel()
	e := &subjects{groups: shopSubjects}
	d := search.New(desk(t), 1000).ByMeaning(e, nil)
	for _, more := range []string{"", "sum", ""} {
		if e.groups = shopSubjects; more != "" {
			e.groups = append(slices.Clone(e.groups), more)
		}
		before := e.texts.Load()
		for range 2 {
			if got := found(t, d, "a shipment by mail", ""); got != "post.send shop.track" {
				t.Errorf("with %d numbers: found %s", len(e.groups), got)
			}
		}
		if n := e.texts.Load() - before; n != 4 {
			t.Errorf("%d texts were embedded, want 4", n)
		}
	}
}

// Each tool is embedded once, whatever set it is in, and in batches. Vectors that have arrived are not lost.
func TestCached(t *testing.T) {
	t.Parallel()
	var list []tools.Source
	for i := range 1050 {
		list = append(list, tool("shop", fmt.Sprint("tool", i), fmt.Sprint("Order number ", i)))
	}
	small, err := tools.NewSet(t.Context(), list[:1000]...)
	if err != nil {
		t.Fatal(err)
	}
	large, err := tools.NewSet(t.Context(), append(list, tool("post", "send", "Send a letter."))...)
	if err != nil {
		t.Fatal(err)
	}
	failAfter := 3
	e := &subjects{groups: shopSubjects}
	e.tools = func(_ context.Context, v [][]float32) ([][]float32, error) {
		if failAfter--; failAfter == -1 {
			return nil, errors.New("it is busy")
		}
		return v, nil
	}
	cached := search.Cached(e)
	d := search.New(small, 1000).ByMeaning(cached, slog.New(slog.DiscardHandler))
	found(t, d, "mail", "")
	if n := e.texts.Load(); n != 400 {
		t.Errorf("%d texts were embedded before the failure, want 400", n)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { found(t, d, "mail", "") })
	}
	group.Wait()
	if n, most := e.texts.Load(), e.largest.Load(); n != 1100 || most != 100 {
		t.Errorf("%d texts were embedded, at most %d at a time; want 1100 and 100", n, most)
	}
	if got := found(t, search.New(large, 1000).ByMeaning(cached, nil), "mail", ""); got != "post.send" {
		t.Errorf("found %s", got)
	}
	if n := e.texts.Load(); n != 1151 {
		t.Errorf("%d texts were embedded, want 1151", n)
	}
}

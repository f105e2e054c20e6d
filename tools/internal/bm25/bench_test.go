package bm25_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/writ-go/writ/tools"
	"github.com/writ-go/writ/tools/internal/bm25"
	"github.com/writ-go/writ/tools/search"
)

// tenThousand returns 10,000 tools made from those of the real servers: each has its own
// name, and a description mixed from those of two tools.
func tenThousand(b *testing.B) []tools.Source {
	b.Helper()
	bindings := realServers(b).Bindings()
	list := make([]tools.Source, 10_000)
	for i := range list {
		t := *bindings[i%len(bindings)].Tool
		other := bindings[(i*7+i/len(bindings))%len(bindings)]
		t.Namespace = fmt.Sprintf("%s%d", t.Namespace, i/len(bindings))
		t.Name = fmt.Sprintf("%s_%s", t.Name, other.Name)
		t.Description = fmt.Sprintf("%s Topic%d. %s", t.Description, i, search.Summary(other.Description))
		t.InputSchema = json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"id%d":{"type":"string",`+
			`"description":"Which %s"},"limit":{"type":"integer"}},"required":["id%d"]}`, i%500, other.Name, i%500))
		t.OutputSchema = nil
		list[i] = &t
	}
	return list
}

// BenchmarkIndex builds the index of 10,000 tools. x-raw is the median of its time divided
// by the time that building the set takes.
func BenchmarkIndex(b *testing.B) {
	list := tenThousand(b)
	var ratio []float64
	for b.Loop() {
		start := time.Now()
		set := newSet(b, list...)
		floor := time.Since(start)
		start = time.Now()
		bm25.New(set.Bindings()).Search("x", "", 10)
		ratio = append(ratio, float64(time.Since(start))/float64(floor))
	}
	b.ReportMetric(median(ratio), "x-raw")
}

// BenchmarkSearch10000 searches 10,000 tools for the needs of testdata/needs.txt.
func BenchmarkSearch10000(b *testing.B) {
	needs := readNeeds(b, "testdata/needs.txt", realServers(b))
	before := heap()
	list := tenThousand(b)
	tools := heap()
	set := newSet(b, list...)
	bound := heap()
	index := bm25.New(set.Bindings())
	index.Search("x", "", 10)
	after := heap()
	var longest time.Duration
	i := 0
	for b.Loop() {
		start := time.Now()
		index.Search(needs[i%len(needs)].text, "", 10)
		longest = max(longest, time.Since(start))
		i++
	}
	b.ReportMetric(float64(longest)/1e6, "ms-longest")
	b.ReportMetric(float64(tools-before)/10_000, "B-raw/tool")
	b.ReportMetric(float64(bound-tools)/10_000, "B-set/tool")
	b.ReportMetric(float64(after-bound)/10_000, "B-index/tool")
	runtime.KeepAlive(list)
	runtime.KeepAlive(index)
}

// hashed is an embedder with vectors of 1,536 numbers that depend on the text's length only.
type hashed struct{}

func (hashed) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v := make([]float32, 1536)
	v[len(text)%len(v)], v[len(text)/2%len(v)] = 1, 0.5
	return v, nil
}

func (h hashed) EmbedDocuments(ctx context.Context, texts []string) (vectors [][]float32, _ error) {
	for _, text := range texts {
		v, _ := h.EmbedQuery(ctx, text)
		vectors = append(vectors, v)
	}
	return vectors, nil
}

// BenchmarkMeaning10000 searches 10,000 tools by words and by vectors of 1,536 numbers, without the time that a real
// embedder takes.
func BenchmarkMeaning10000(b *testing.B) {
	needs := readNeeds(b, "testdata/needs.txt", realServers(b))
	set := newSet(b, tenThousand(b)...)
	words := search.New(set, 1000)
	_, _ = words.Search(b.Context(), "x", nil) // builds the index of words
	before := heap()
	index := words.ByMeaning(hashed{}, nil)
	_, _ = index.Search(b.Context(), "x", nil)
	after := heap()
	i := 0
	for b.Loop() {
		_, _ = index.Search(b.Context(), needs[i%len(needs)].text, nil)
		i++
	}
	b.ReportMetric(float64(after-before)/10_000, "B-vectors/tool")
	runtime.KeepAlive(index)
}

// heap returns the number of bytes in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

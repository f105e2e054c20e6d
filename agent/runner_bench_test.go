package agent_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/tools/journal"
)

// BenchmarkWaiting starts 1,000 runs that wait for approval, with their logs in files. The metrics are what each of
// them costs in this process: bytes on the heap, goroutines, and open files.
func BenchmarkWaiting(b *testing.B) {
	const runs = 1000
	dir, err := journal.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	bureau := newBureau(b, open(b), dir)
	bureau.do(b.Context(), "start warm ann send bob")
	bureau.do(b.Context(), "wait warm")
	bytes, goroutines, files := usage()
	n := 0
	for b.Loop() {
		n++
		for i := range runs {
			bureau.do(b.Context(), fmt.Sprintf("start r-%d-%d ann send bob", n, i))
		}
		for i := range runs {
			if got := bureau.do(b.Context(), fmt.Sprintf("wait r-%d-%d", n, i)); got == "" {
				b.Fatal(got)
			}
		}
	}
	clear(bureau.calls) // which the test keeps
	all := float64(n * runs)
	bytes2, goroutines2, files2 := usage()
	b.ReportMetric(max(0, bytes2-bytes)/all, "heap-B/run")
	b.ReportMetric(max(0, goroutines2-goroutines)/all, "goroutines/run")
	b.ReportMetric(max(0, files2-files)/all, "files/run")
	b.ReportMetric(all/b.Elapsed().Seconds(), "runs/s")
}

// usage returns the bytes on the heap, and the numbers of goroutines and open files.
func usage() (bytes, goroutines, files float64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, _ := os.ReadDir("/proc/self/fd")
	return float64(m.HeapAlloc), float64(runtime.NumGoroutine()), float64(len(open))
}

// BenchmarkRuns runs short runs one after the other, with their logs in files.
func BenchmarkRuns(b *testing.B) {
	dir, err := journal.OpenDir(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	benchmarkRuns(b, dir)
}

// benchmarkRuns runs short runs one after the other. After each of them, it writes and syncs the same records with
// package os alone. The metric x-raw is the median of the ratios of their times.
func benchmarkRuns(b *testing.B, s journal.Store) {
	store := &watched{Store: s}
	bureau := newBureau(b, open(b), store)
	raw, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	var ratios, each []float64
	var syncs int
	for b.Loop() {
		begin := time.Now()
		id := fmt.Sprintf("r-%d", len(each))
		bureau.do(b.Context(), "start "+id+" ann note x")
		if got := bureau.do(b.Context(), "wait "+id); got != id+" ann done, answer x" {
			b.Fatal(got)
		}
		ours := time.Since(begin)
		writes := store.take()
		begin, syncs = time.Now(), 0
		for _, record := range writes {
			if record == nil {
				syncs++
				err = raw.Sync()
			} else {
				_, err = raw.Write(record)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		ratios = append(ratios, float64(ours)/float64(time.Since(begin)))
		each = append(each, ours.Seconds())
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(1/each[len(each)/2], "runs/s")
	b.ReportMetric(float64(syncs), "syncs/run")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}

// watched is a store that keeps what is written: nil stands for a sync.
type watched struct {
	journal.Store
	mu     sync.Mutex
	writes [][]byte
}

func (w *watched) add(record []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes = append(w.writes, record)
}

func (w *watched) take() [][]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.writes = nil }()
	return w.writes
}

// Open implements [journal.Store].
func (w *watched) Open(ctx context.Context, run string) (journal.Log, error) {
	l, err := w.Store.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return &watchedLog{l, w}, nil
}

type watchedLog struct {
	journal.Log
	store *watched
}

// Append implements [journal.Log].
func (l *watchedLog) Append(record []byte) error {
	l.store.add(slices.Clone(record))
	return l.Log.Append(record)
}

// Sync implements [journal.Log].
func (l *watchedLog) Sync() error {
	l.store.add(nil)
	return l.Log.Sync()
}

package sqltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/writ-go/writ/agent"
	"github.com/writ-go/writ/module/llmtest"
	"github.com/writ-go/writ/tools/journal"
	"github.com/writ-go/writ/tools/journal/internal/storetest"
)

// BenchmarkAppendSync appends and syncs a record, and makes the same bytes durable without a log, in turn: by writing
// and syncing a file, or by one INSERT. The metric x-raw is the median of the ratios of their times.
func BenchmarkAppendSync(b *testing.B) {
	record := bytes.Repeat([]byte("x"), 500)
	b.Run("files", func(b *testing.B) {
		dir, err := journal.OpenDir(filepath.Join(b.TempDir(), "runs"))
		if err != nil {
			b.Fatal(err)
		}
		raw, err := os.Create(filepath.Join(b.TempDir(), "raw"))
		if err != nil {
			b.Fatal(err)
		}
		defer raw.Close()
		compare(b, dir, record, func() error {
			_, err := raw.Write(record)
			return errors.Join(err, raw.Sync())
		})
	})
	for name, create := range map[string]func(testing.TB) *database{"SQLite": newSQLite, "PostgreSQL": newPostgres} {
		b.Run(name, func(b *testing.B) {
			d := create(b)
			store, db := d.store(b, 0), d.open(b)
			if _, err := db.Exec("CREATE TABLE raw (data BYTEA NOT NULL)"); err != nil {
				b.Fatal(err)
			}
			compare(b, store, record, func() error {
				_, err := db.Exec("INSERT INTO raw (data) VALUES ($1)", record)
				return err
			})
		})
	}
}

// BenchmarkRuns runs agents with one call of a tool, one after the other, and makes the same records durable without a
// journal, in turn: by writes and syncs of a file, or by transactions that INSERT them.
func BenchmarkRuns(b *testing.B) {
	b.Run("files", func(b *testing.B) {
		dir, err := journal.OpenDir(filepath.Join(b.TempDir(), "runs"))
		if err != nil {
			b.Fatal(err)
		}
		raw, err := os.Create(filepath.Join(b.TempDir(), "raw"))
		if err != nil {
			b.Fatal(err)
		}
		defer raw.Close()
		compareRuns(b, dir, func(records [][]byte) error {
			_, err := raw.Write(bytes.Join(records, nil))
			return errors.Join(err, raw.Sync())
		})
	})
	for name, create := range map[string]func(testing.TB) *database{"SQLite": newSQLite, "PostgreSQL": newPostgres} {
		b.Run(name, func(b *testing.B) {
			d := create(b)
			store, db := d.store(b, 0), d.open(b)
			if _, err := db.Exec("CREATE TABLE raw (data BYTEA NOT NULL)"); err != nil {
				b.Fatal(err)
			}
			compareRuns(b, store, func(records [][]byte) error {
				tx, err := db.Begin()
				for _, r := range records {
					if err == nil {
						_, err = tx.Exec("INSERT INTO raw (data) VALUES ($1)", r)
					}
				}
				if err != nil {
					return err
				}
				return tx.Commit()
			})
		})
	}
}

// compareRuns reports the runs a second, and the median of the ratios of their times to those of raw, which gets the
// records of a run up to each sync.
func compareRuns(b *testing.B, store journal.Store, raw func(records [][]byte) error) {
	kept := &keeping{Store: store}
	bot := (&world{}).answering(b, llmtest.Func(func(context.Context, llmtest.Request) (llmtest.Reply, error) {
		return llmtest.Reply{Text: "```js\nsubmit({answer: await note({what: \"x\"})})\n```"}, nil
	}))
	runner, err := agent.NewRunner(agent.NewRuns(kept), bot, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer runner.Shutdown(context.WithoutCancel(b.Context())) //nolint:errcheck // nothing is in progress
	var ratios, each []float64
	var syncs [][][]byte
	for b.Loop() {
		kept.syncs = [][][]byte{nil}
		start := time.Now()
		info, err := runner.Start(b.Context(), agent.RunRequest{ID: fmt.Sprint("r-", len(each)), Principal: "ann",
			Input: json.RawMessage(`{"task": "Note x."}`)})
		if err == nil {
			info, err = runner.Wait(b.Context(), info.ID)
		}
		if err != nil || info.State != agent.Done {
			b.Fatal(info, err)
		}
		middle := time.Now()
		syncs = kept.syncs[:len(kept.syncs)-1]
		for _, records := range syncs {
			if err := raw(records); err != nil {
				b.Fatal(err)
			}
		}
		ratios = append(ratios, float64(middle.Sub(start))/float64(time.Since(middle)))
		each = append(each, middle.Sub(start).Seconds())
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(1/each[len(each)/2], "runs/s")
	b.ReportMetric(float64(len(syncs)), "syncs/run")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}

// keeping is a store that keeps the records up to each sync.
type keeping struct {
	journal.Store
	mu    sync.Mutex
	syncs [][][]byte
}

func (k *keeping) Open(ctx context.Context, run string) (journal.Log, error) {
	l, err := k.Store.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return &keepingLog{l, k}, nil
}

type keepingLog struct {
	journal.Log
	store *keeping
}

func (l *keepingLog) Append(record []byte) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	last := &l.store.syncs[len(l.store.syncs)-1]
	*last = append(*last, slices.Clone(record))
	return l.Log.Append(record)
}

func (l *keepingLog) Sync() error {
	l.store.mu.Lock()
	l.store.syncs = append(l.store.syncs, nil)
	l.store.mu.Unlock()
	return l.Log.Sync()
}

func compare(b *testing.B, store journal.Store, record []byte, raw func() error) {
	l := storetest.OpenRun(b, store, "run")
	var ratios, each []float64
	for b.Loop() {
		start := time.Now()
		if err := raw(); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if err := errors.Join(l.Append(record), l.Sync()); err != nil {
			b.Fatal(err)
		}
		ours := time.Since(middle)
		ratios = append(ratios, float64(ours)/float64(middle.Sub(start)))
		each = append(each, float64(ours.Microseconds()))
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(each[len(each)/2], "µs-ours")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}

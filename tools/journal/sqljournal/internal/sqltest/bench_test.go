package sqltest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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

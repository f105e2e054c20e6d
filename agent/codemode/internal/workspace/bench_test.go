package workspace_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/agent/codemode/internal/workspace"
	"github.com/writ-go/writ/sandbox"
)

// BenchmarkStorage alternates between the store and the floor in one process. The metric x-raw
// is the median of the store's time divided by the floor's.
//
// For append, the floor is the same bytes written by os alone: a new file, synced,
// renamed and its folder synced. For read, it is os.ReadFile. For session, it is a
// session in memory, which stores nothing. For restore, the store restores a session of 20
// programs that this process does not have in memory, and the floor runs the 21st program of
// a session in memory.
func BenchmarkStorage(b *testing.B) {
	store, dir := openStore(b, workspace.Limits{Bytes: 1 << 30})
	ann := store.Space("ann")
	text := strings.Repeat("x", 10_000)
	raw := b.TempDir()
	file := newFile(b, ann, "read.js", text).Handle
	must(b, os.WriteFile(raw+"/read", []byte(text), 0o600))
	b.Run("append", func(b *testing.B) {
		grown := newFile(b, ann, "a.js", text).Handle
		compare(b, func() (floor, ours func()) {
			return func() { rawReplace(b, raw, text+"line\n") },
				func() { must(b, second(ann.Append(b.Context(), grown, "line\n"))) }
		})
	})
	b.Run("read", func(b *testing.B) {
		compare(b, func() (floor, ours func()) {
			return func() { must(b, second(os.ReadFile(raw+"/read"))) },
				func() { readFile(b, ann, file) }
		})
	})
	box, err := sandbox.New(nil)
	must(b, err)
	b.Cleanup(func() { box.Close() })
	b.Run("session", func(b *testing.B) {
		compare(b, func() (floor, ours func()) { return pair(b, box, ann, ann) })
	})
	cold, err := workspace.Limited(dir, workspace.Limits{Bytes: 1 << 30})
	must(b, err)
	b.Cleanup(func() { cold.Close() })
	b.Run("restore", func(b *testing.B) {
		compare(b, func() (floor, ours func()) { return pair(b, box, ann, cold.Space("ann")) })
	})
}

// pair creates a session in memory and a stored one, both of 20 programs. It returns
// functions that run the next program of each, the stored one in space.
func pair(b *testing.B, box *sandbox.Sandbox, first, space *workspace.Space) (floor, ours func()) {
	list, err := first.Sessions(b.Context())
	must(b, err)
	for _, old := range list {
		must(b, first.RemoveSession(b.Context(), old.Handle))
	}
	memory, handle := box.NewSession(nil), newSession(b, first)
	step := func(i int) sandbox.Program { return program(fmt.Sprintf("const x%d = %d; x%d", i, i, i)) }
	for i := range 20 {
		must(b, second(memory.Run(b.Context(), step(i))))
		must(b, second(first.RunSession(b.Context(), handle, box, step(i))))
	}
	return func() { must(b, second(memory.Run(b.Context(), step(20)))) },
		func() { must(b, second(space.RunSession(b.Context(), handle, box, step(20)))) }
}

func rawReplace(b *testing.B, dir, text string) {
	b.Helper()
	f, err := os.Create(dir + "/temp")
	must(b, err)
	_, err = f.WriteString(text)
	must(b, err)
	must(b, f.Sync())
	must(b, f.Close())
	must(b, os.Rename(dir+"/temp", dir+"/file"))
	d, err := os.Open(dir)
	must(b, err)
	must(b, d.Sync())
	must(b, d.Close())
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// compare alternates between floor and ours, which it prepares for each sample, and reports
// their times.
func compare(b *testing.B, prepare func() (floor, ours func())) {
	var ratios, each []float64
	for b.Loop() {
		floor, ours := prepare()
		start := time.Now()
		floor()
		between := time.Now()
		ours()
		end := time.Now()
		ratios = append(ratios, float64(end.Sub(between))/float64(between.Sub(start)))
		each = append(each, float64(end.Sub(between))/1000)
	}
	slices.Sort(ratios)
	slices.Sort(each)
	b.ReportMetric(ratios[len(ratios)/2], "x-raw")
	b.ReportMetric(each[len(each)/2], "µs-ours")
	b.ReportMetric(0, "ns/op") // it would be the sum of both
}

package sandbox_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/writ-go/writ/internal/leaktest"
	"github.com/writ-go/writ/sandbox"
)

// BenchmarkStart opens a sandbox with one worker and runs its first program, which includes the worker's start and its
// test of the isolation. The floor is a process that ends at once. MiB-rss and MiB-pss are
// the memory of the worker afterward; PSS divides the pages that processes share.
func BenchmarkStart(b *testing.B) {
	set := fiveTools(b)
	var rss, pss []float64
	compareBy(b, func() (floor, ours time.Duration) {
		floor = clock(func() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		})
		var box *sandbox.Sandbox
		ours = clock(func() {
			var err error
			if box, err = sandbox.New(&sandbox.Options{Workers: 1}); err != nil {
				b.Fatal(err)
			}
			run(b, box, set, "1+1")
		})
		for _, child := range leaktest.Children() {
			rss, pss = append(rss, mebibytes(b, child, "Rss:")), append(pss, mebibytes(b, child, "Pss:"))
		}
		if err := box.Close(); err != nil {
			b.Error(err)
		}
		return floor, ours
	})
	if len(rss) == 0 {
		b.Fatal("the worker's process was not found")
	}
	b.ReportMetric(median(rss), "MiB-rss")
	b.ReportMetric(median(pss), "MiB-pss")
}

// mebibytes returns a value of a process's memory map.
func mebibytes(b *testing.B, process, field string) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/smaps_rollup", process))
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb / 1024
		}
	}
	b.Fatalf("smaps_rollup has no %s", field)
	return 0
}

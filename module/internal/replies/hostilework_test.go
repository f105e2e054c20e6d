package replies_test

import (
	"strings"
	"testing"
	"time"

	"github.com/writ-go/writ/module"
)

// BenchmarkGrowth is how much longer a reply takes that is four times as long, at
// most: four is linear, the square would be sixteen.
func BenchmarkGrowth(b *testing.B) {
	const size = 40_000
	for name, text := range hostile {
		b.Run(name, func(b *testing.B) {
			small, large := long(text, size), long(text, 4*size)
			worst := 0.0
			for b.Loop() {
				for i := range small {
					worst = max(worst, float64(took(large[i]))/float64(max(took(small[i]), time.Microsecond)))
				}
			}
			b.ReportMetric(worst, "x-for-4x")
		})
	}
}

func took(reply string) time.Duration {
	best := time.Hour
	for range 2 {
		start := time.Now()
		for _, kind := range []string{"two", "list", "structs", "bool"} {
			_, _ = module.Markers().Read(kinds[kind], strings.ReplaceAll(reply, "answer", kinds[kind].Outputs()[0].Name), false)
		}
		best = min(best, time.Since(start))
	}
	return best
}

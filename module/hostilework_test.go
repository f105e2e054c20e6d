package module

import (
	"strings"
	"testing"
	"time"
)

// TestHostileWork holds that the time grows with the reply, and not with its
// square, also where nothing is allocated. It compares the times of one reply and of
// one that is four times as long, of which the square would be sixteen: more than ten,
// at best of four tries, is no accident.
func TestHostileWork(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads long replies")
	}
	const size = 4_000
	for name, text := range hostile {
		small, large := long(text, size), long(text, 4*size)
		for i := range small {
			if ratio := growth(small[i], large[i]); ratio > 10 {
				t.Errorf("%s, %d: a reply that is four times as long takes %.1f times as long", name, i, ratio)
			}
		}
	}
}

// growth is how much longer the larger reply takes, at best.
func growth(small, large string) float64 {
	ratio := 100.0
	for range 4 {
		once, fourfold := took(small), took(large)
		if fourfold < 3*time.Millisecond {
			return 0 // nobody waits for that
		}
		if ratio = min(ratio, float64(fourfold)/float64(max(once, time.Microsecond))); ratio <= 8 {
			break
		}
	}
	return ratio
}

func took(reply string) time.Duration {
	best := time.Hour
	for range 2 {
		start := time.Now()
		for _, kind := range []string{"two", "list", "structs", "bool"} {
			_, _ = Markers().Read(kinds[kind], strings.ReplaceAll(reply, "answer", kinds[kind].Outputs()[0].Name), false)
		}
		best = min(best, time.Since(start))
	}
	return best
}

package replies_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/writ-go/writ/module/internal/replies"
)

// FuzzLasting holds that a time which Go writes is read as it, or not at all, and that no
// text is read that Go reads as another.
func FuzzLasting(f *testing.F) {
	for _, text := range []string{"1h30m", "1.5h", "-30s", "90 min", "PT1H30M", "1 hour and 30 minutes", "half an hour", "1.234s", "1h-30m", "2540400h10m10s", "1m1m", "P1DT1S", "-PT5S", "1 h, 5 s", "00s", "1_0s"} {
		f.Add(text, int64(len(text))*1_500_000_001)
	}
	f.Fuzz(func(t *testing.T, text string, n int64) {
		if read := replies.Lasting(time.Duration(n).String()); read != "" && read != strconv.FormatInt(n, 10) {
			t.Errorf("%v was read as %s", time.Duration(n), read)
		}
		read := replies.Lasting(text)
		if own, err := time.ParseDuration(text); err == nil && read != "" && read != strconv.FormatInt(int64(own), 10) {
			t.Errorf("%q was read as %s, which is %d", text, read, own)
		}
		if _, err := strconv.ParseInt(read, 10, 64); read != "" && err != nil {
			t.Errorf("%q was read as %s", text, read)
		}
	})
}

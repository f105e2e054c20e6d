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

// TestUnitsOfOthers has units that are said of another number than the one whose name says
// its own, or of what it was before.
func TestUnitsOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fields, reply, want string }{
		{"distance_km: int, height_m: int", "{\"distance_km\":42,\"height_m\":1200}\n\nNote: the height is in meters.", "42"},
		{"distance_km: int, height: int", "{\"distance_km\":42,\"height\":1200}\n\nNote: the distance is in meters.", ""},
		{"weight_kg: float", "The original weight is in grams.\nConverted to kilograms:\n\n{\"weight_kg\":2.5}", "2.5"},
		{"weight_kg: float", "The weight is in grams.\nIt was not converted.\n\n{\"weight_kg\":2.5}", ""},
		{"weight_kg: float", "[[ ## weight_kg ## ]]\n68 (converted from lbs)\n\n[[ ## completed ## ]]", "68"},
		{"weight_kg: float", "[[ ## weight_kg ## ]]\n68 (lbs)\n\n[[ ## completed ## ]]", ""},
		{"price_cents: int", "The weight is in kg.\n\n{\"price_cents\":1299}", "1299"},
		{"price_cents: int", "The price is in dollars.\n\n{\"price_cents\":1299}", ""},
	} {
		reads(t, c.fields, c.reply, c.want)
	}
}

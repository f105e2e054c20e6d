package sandbox

import (
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A worker is not trusted: call sites of a forged report are bounded.
func TestSitesOfAForgedReport(t *testing.T) {
	t.Parallel()
	forged := strings.Repeat("x", 1<<20)
	sites := bounded([]engine.Site{{Holder: forged}, {Holder: "page"}})
	if len(sites) != 2 || sites[0].Holder != "" || sites[1].Holder != "page" {
		t.Errorf("got the holders %.20q and %q", sites[0].Holder, sites[1].Holder)
	}
	h := &host{}
	if got := h.unawaited(make([]int, 1<<20)); got != "" {
		t.Errorf("calls that were not made: %.100q", got)
	}
}

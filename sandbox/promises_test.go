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
	uses := []engine.Use{{How: engine.Read, Property: forged}, {How: engine.Read, Property: "total"}}
	for range 1000 {
		uses = append(uses, engine.Use{How: engine.Read, Property: "more"})
	}
	sites := bounded([]engine.Site{{Holder: forged, Uses: uses}, {Holder: "page"}})
	if len(sites) != 2 || sites[0].Holder != "" || sites[1].Holder != "page" {
		t.Errorf("got the holders %.20q and %q", sites[0].Holder, sites[1].Holder)
	}
	if got := sites[0].Uses; len(got) != maxFindings-1 || got[0].Property != "total" {
		t.Errorf("got %d uses, the first of %.20q", len(got), got[0].Property)
	}
	h := &host{}
	if got := h.unawaited(make([]int, 1<<20)); got != "" {
		t.Errorf("calls that were not made: %.100q", got)
	}
}

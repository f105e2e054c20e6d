package sandbox

import (
	"slices"
	"strings"
	"testing"

	"github.com/writ-go/writ/sandbox/internal/engine"
)

// A worker is not trusted: the misses of a forged result are checked against the results.
func TestMissesOfAForgedResult(t *testing.T) {
	t.Parallel()
	h := &host{program: &Program{Source: "erp.list()"}}
	calls := []Call{{Tool: "erp.list", Result: []byte(`{"rows":[{"id":1},{"name":"Ann"}]}`)}}
	list := slices.Repeat([]engine.Miss{{Tool: "erp.list", Path: ".rows[]", Member: "id"}}, 10_000)
	for _, m := range []engine.Miss{
		{Tool: "erp.list", Path: ".rows[]", Member: "ignore all of this"}, {Tool: "erp.list", Path: ".rows", Member: "x"},
		{Tool: "erp.list", Path: ".other[]", Member: "x"}, {Tool: "erp.none", Member: "x"}, {Tool: "erp.list", Path: "[", Member: "x"},
		{Member: "x", Text: true}, {Tool: "erp.list", Member: "x", Text: true}, {Path: strings.Repeat("[]", 1<<20), Member: "x"},
	} {
		if got := h.misses(&engine.Result{Misses: []engine.Miss{m}}, calls); got != nil {
			t.Errorf("%+.100v: %+v", m, got)
		}
	}
	if got := h.misses(&engine.Result{Misses: list}, calls); got != nil {
		t.Errorf("got %d clues", len(got))
	}
	right := engine.Miss{Tool: "erp.list", Path: ".rows[]", Member: "total"}
	if got := h.misses(&engine.Result{Misses: []engine.Miss{right, right}}, calls); len(got) != 1 || got[0].Kind != kindWrongType {
		t.Errorf("got %+v", got)
	}
}
